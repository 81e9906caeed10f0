"""Mistakes in old hooks are told by the hook's name, the name it asked for, and the nearest that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def _collecting(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
    v1.add_to_collection("my_features", features["x"])
    tf.identity(features["x"], name="named_tensor")
    return tiny.linear(features, labels, mode, params)


def _run(hook: Any, directory: Path, verb: str = "train") -> None:
    made = tiny.estimator(directory, _collecting, params={})
    if verb == "train":
        made.train(tiny.data, steps=2, hooks=[hook])
    elif verb == "evaluate":
        made.evaluate(tiny.once, hooks=[hook])
    else:
        list(made.predict(tiny.once, hooks=[hook]))


class FromEmpty(v1.train.SessionRunHook):
    """Takes a tensor from a collection that is not there."""

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(v1.get_collection("my_feature")[0])


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
def test_an_empty_collection(verb: str, tmp_path: Path) -> None:
    with pytest.raises(IndexError) as caught:
        _run(FromEmpty(), tmp_path, verb)
    assert isinstance(caught.value, lw.errors.EmptyCollection)
    assert isinstance(caught.value, lw.errors.HookError)
    text = str(caught.value)
    assert text.startswith("FromEmpty.before_run: the graph collection 'my_feature' is empty. The nearest is ")
    assert "The nearest is 'my_features'" in text
    assert "tf.compat.v1.add_to_collection('my_feature', tensor)" in text
    assert str(caught.value.__cause__) == "list index out of range"


class ByName(v1.train.SessionRunHook):
    """Asks for tensors by name."""

    def __init__(self, name: str, how: str) -> None:
        self.name, self.how = name, how

    def before_run(self, run_context: Any) -> Any:
        if self.how == "fetch":
            return v1.train.SessionRunArgs({"a": [self.name]})
        if self.how == "session":
            return run_context.session.run(self.name)
        return v1.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name(self.name))


@pytest.mark.parametrize(
    ("how", "name", "nearest"),
    [
        ("fetch", "named_tenso:0", "tensors/named_tensor:0"),
        ("fetch", "features/y", "features/x"),
        ("graph", "named_tenso:0", "tensors/named_tensor:0"),
        ("session", "named_tenso", "tensors/named_tensor:0"),
    ],
)
def test_a_name_that_does_not_exist(how: str, name: str, nearest: str, tmp_path: Path) -> None:
    with pytest.raises((KeyError, ValueError)) as caught:
        _run(ByName(name, how), tmp_path)
    text = str(caught.value)
    assert text.startswith(f"ByName.before_run: {name!r} names nothing in this model. Did you mean '{nearest}'")
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, ValueError)


def test_a_path_given_to_tensorflow_as_a_name_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(lw.errors.UnknownName, match=r"'features/x:0' names nothing.*Did you mean 'features/x'"):
        _run(ByName("features/x:0", "graph"), tmp_path / "a")
    with pytest.raises(
        lw.errors.UnknownName, match=r"'features/x' is a path, not the name of a tensor.*RunArgs\('feat"
    ):
        _run(ByName("features/x", "session"), tmp_path / "b")


@pytest.mark.parametrize("kind", [v1.train.LoggingTensorHook, v1.train.FinalOpsHook])
def test_a_wrong_name_in_a_hook_of_tensorflow(kind: Any, tmp_path: Path) -> None:
    hook = kind(["named_tenso:0"], every_n_iter=1) if kind is v1.train.LoggingTensorHook else kind("named_tenso:0")
    with pytest.raises(
        (KeyError, ValueError), match=rf"{kind.__name__}.\w+: 'named_tenso:0' names nothing.*named_tensor"
    ):
        _run(hook, tmp_path)


class AddsTooLate(v1.train.SessionRunHook):
    """Makes a tensor when the graph is final."""

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(tf.constant(1.0))


def test_a_graph_that_is_final(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        _run(AddsTooLate(), tmp_path)
    assert isinstance(caught.value, lw.errors.HookError)
    text = str(caught.value)
    assert text.startswith("AddsTooLate.before_run adds to the graph (test_explain.py, line ")
    assert "Graph is finalized and cannot be modified once the session is open" in text
    assert "tf.constant(1.0)" in text
    assert "in begin()" in text


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("begin", IndexError("mine")),
        ("after_create_session", KeyError("mine")),
        ("before_run", ValueError("mine")),
        ("after_run", RuntimeError("mine")),
        ("end", IndexError("mine")),
    ],
    ids=str,
)
def test_what_else_a_hook_raises_goes_through(method: str, error: Exception, tmp_path: Path) -> None:
    class Own(v1.train.SessionRunHook):
        pass

    def fail(self: Any, *given: Any) -> None:
        raise error

    setattr(Own, method, fail)
    with pytest.raises(type(error)) as caught:
        _run(Own(), tmp_path)
    assert caught.value is error


def test_a_subclass_of_a_builtin_exception_is_not_touched(tmp_path: Path) -> None:
    class Mine(KeyError):
        """Carries more than a text."""

    class Fails(v1.train.SessionRunHook):
        def begin(self) -> None:
            raise Mine("The name 'x' refers to a Tensor which does not exist.")

    with pytest.raises(Mine):
        _run(Fails(), tmp_path)
