"""`input_fn` is called with what it asks for."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.errors import InputFnError, WrongType

_seen: list[Any] = []


def batch(*seen: Any) -> Any:
    """A batch, and a note of what the function that gives it was given."""
    _seen.append(seen)
    return {"x": tf.constant([1.0])}, tf.constant([2.0])


class Pipeline:
    def __call__(self, params: Any) -> Any:
        return batch(params)

    def method(self, mode: str, *, config: Any) -> Any:
        return batch(mode, type(config))


CONFIG = lw.RunConfig


@pytest.mark.parametrize(
    ("input_fn", "given"),
    [
        (lambda: batch("nothing"), ("nothing",)),
        (lambda mode: batch(mode), ("train",)),
        (lambda params, config: batch(params, type(config)), ({"a": 1}, CONFIG)),
        (lambda mode, params, config: batch(mode, params, type(config)), ("train", {"a": 1}, CONFIG)),
        (lambda size=3: batch(size), (3,)),
        (lambda **kwargs: batch(kwargs), ({},)),
        (Pipeline(), ({"a": 1},)),
        (Pipeline().method, ("train", CONFIG)),
        (functools.partial(lambda path, mode: batch(path, mode), "file"), ("file", "train")),
        (functools.partial(lambda path, params: batch(path, params), path="file", params="mine"), ("file", "mine")),
    ],
)
def test_it_gets_what_it_asks_for(input_fn: Any, given: Any, tmp_path: Path) -> None:
    _seen.clear()
    tiny.estimator(tmp_path, params={"a": 1}).describe(input_fn)
    assert _seen == [given]


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict", "describe"])
def test_what_nobody_gives_it_is_named(verb: str, tmp_path: Path) -> None:
    def reader(path: str, batch_size: int, mode: str) -> None:
        pass

    text = (
        r"reader' needs the arguments \['batch_size', 'path'\]; .*\['mode', 'params', 'config'\] only\. Bind the others"
    )
    with pytest.raises(InputFnError, match=text):
        getattr(tiny.estimator(tmp_path / "new"), verb)(reader)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("given", [None, 3, [1, 2]])
def test_what_is_no_function_is_refused(given: Any, tmp_path: Path) -> None:
    text = f"input_fn must be a function that returns the input, got {type(given).__name__}.*lambda: "
    with pytest.raises(WrongType, match=text):
        tiny.estimator(tmp_path).train(given)
