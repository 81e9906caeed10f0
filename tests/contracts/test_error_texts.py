"""Errors are read by people. Each mistake here is made on purpose, and its text has to say four things:

where it happened, what was expected, what came instead, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.parity.run_configs import environment

import lightwell as lw
from lightwell.errors import LightwellError

v1 = tf.compat.v1


@dataclass(frozen=True)
class Mistake:
    """Something that goes wrong, and fragments (regular expressions) that its text must hold."""

    make: Callable[[Path], Any]
    where: str
    expected: str
    got: str
    do: str


def changed(**fields: Any) -> Callable[..., Any]:
    """The tiny model with fields of its spec replaced, where a value may be a function of the spec."""

    def my_model(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(**{name: value(spec) if callable(value) else value for name, value in fields.items()})

    return my_model


def returning(value: Any) -> Callable[..., Any]:
    def my_model(features: Any, labels: Any, mode: str) -> Any:
        return value

    return my_model


def train(directory: Path, model_fn: Any = tiny.linear, input_fn: Any = tiny.data, **arguments: Any) -> Any:
    return tiny.estimator(directory, model_fn).train(input_fn, **{"steps": 1, **arguments})


def my_input(value: Any) -> Callable[[], Any]:
    def my_input_fn() -> Any:
        return value() if callable(value) else value

    return my_input_fn


def other_model(features: Any, labels: Any, mode: str) -> Any:
    v1.get_variable("brand_new", [3])
    return tiny.linear(features, labels, mode, {})


def of_another_model(directory: Path) -> None:
    tiny.trained(directory)
    tiny.estimator(directory, other_model).evaluate(tiny.once)


def corrupt(directory: Path) -> None:
    tiny.trained(directory, steps=1)
    for file in directory.glob("*.data-*"):
        file.write_bytes(file.read_bytes()[:3])
    tiny.estimator(directory).evaluate(tiny.once)


def unwritable(directory: Path) -> None:
    directory.mkdir()
    (directory / "taken").write_text("a file")
    train(directory / "taken")


def full_disk(directory: Path) -> None:
    class FullSaver(v1.train.Saver):
        def save(self, *args: Any, **kwargs: Any) -> str:
            if kwargs.get("global_step"):
                raise tf.errors.ResourceExhaustedError(None, None, "model.ckpt-1.data; No space left on device")
            return str(super().save(*args, **kwargs))

    train(directory, changed(scaffold=lambda spec: v1.train.Scaffold(saver=FullSaver())))


def overriding(directory: Path) -> None:
    class MyEstimator(lw.Estimator):
        def _call_model_fn(self, *args: Any) -> Any: ...


def as_task(kind: str, directory: Path) -> None:
    cluster = {"chief": ["h0:1"], "ps": ["h1:1"]}
    with environment({"cluster": cluster, "task": {"type": kind, "index": 0}}):
        train(directory)


def three_tuple() -> Any:
    return tf.data.Dataset.from_tensor_slices((tiny.X, tiny.Y, tiny.Y)).batch(4)


def features_only() -> Any:
    return tf.data.Dataset.from_tensor_slices({"x": tiny.X}).batch(4)


MISTAKES: dict[str, Mistake] = {
    "no loss in TRAIN": Mistake(
        lambda d: train(d, changed(loss=None)),
        where=r"EstimatorSpec\(mode='train'\): Missing loss",
        expected="a tensor with one element",
        got="got None",
        do=r"Pass loss=\.\.\. to EstimatorSpec",
    ),
    "no train_op": Mistake(
        lambda d: train(d, changed(train_op=None)),
        where=r"EstimatorSpec\(mode='train'\): Missing train_op",
        expected="the op that makes a step",
        got="got None",
        do=r"train_op=optimizer\.minimize\(loss, global_step=",
    ),
    "predictions missing": Mistake(
        lambda d: next(tiny.estimator(d, changed(predictions=None)).predict(tiny.once)),
        where=r"EstimatorSpec\(mode='infer'\): Missing predictions",
        expected="a tensor or a dict of tensors",
        got="got None",
        do=r"Pass predictions=\.\.\.",
    ),
    "model_fn returns None": Mistake(
        lambda d: train(d, returning(None)),
        where="model_fn '.*my_model' .*in mode 'train'",
        expected="should return an EstimatorSpec",
        got="got NoneType",
        do="Is a `return` missing",
    ),
    "model_fn returns a tuple": Mistake(
        lambda d: tiny.estimator(d, returning((1, 2))).evaluate(tiny.once),
        where="model_fn '.*my_model' .*in mode 'eval'",
        expected="should return an EstimatorSpec",
        got=r"got tuple \(1, 2\)",
        do=r"return .*EstimatorSpec\(mode",
    ),
    "input_fn returns nothing": Mistake(
        lambda d: train(d, input_fn=my_input(None)),
        where=r"input_fn '.*my_input_fn' \(mode 'train'\)",
        expected=r"expected a tf\.data\.Dataset, features, or a \(features, labels\) pair",
        got="returned nothing",
        do="Is a `return` missing",
    ),
    "input_fn returns a wrong structure": Mistake(
        lambda d: train(d, input_fn=three_tuple),
        where=r"input_fn 'three_tuple' \(mode 'train'\)",
        expected=r"expected features or \(features, labels\)",
        got="tuples of 3",
        do="Map it to pairs",
    ),
    "input_fn returns a generator": Mistake(
        lambda d: train(d, input_fn=my_input(lambda: {"x": (row for row in tiny.X)})),
        where=r"input_fn '.*my_input_fn' \(mode 'train'\): features",
        expected="must hold tensors",
        got="got generator",
        do=r"from_generator\(\.\.\.\)",
    ),
    "arrays of two lengths": Mistake(
        lambda d: train(d, input_fn=lambda: tf.data.Dataset.from_tensor_slices(({"x": tiny.X}, tiny.Y[1:])).batch(4)),
        where="input_fn: Dataset.from_tensor_slices",
        expected="must be of one length",
        got=r"Dimensions 8 and 7 are not compatible: the lengths are {'0/x': 8, '1': 7}",
        do="Cut the arrays to one length",
    ),
    "a dataset from outside input_fn": Mistake(
        lambda d: train(d, input_fn=my_input(tiny.data())),
        where=r"input_fn '.*my_input_fn' \(mode 'train'\)",
        expected="Make the dataset, with all that it is made from, inside input_fn",
        got="a dataset that was made outside input_fn",
        do="inside input_fn",
    ),
    "labels missing in TRAIN": Mistake(
        lambda d: train(d, input_fn=features_only),
        where="input_fn 'features_only' gave no labels in mode 'train'",
        expected=r"a \(features, labels\) pair",
        got="model_fn 'linear' failed: ValueError: .*None values not supported",
        do=r"Return a \(features, labels\) pair from input_fn",
    ),
    "params for a model_fn without params": Mistake(
        lambda d: lw.Estimator(lambda features, labels, mode: None, str(d), params={"rate": 1}),
        where="model_fn '<lambda>'",
        expected="does not include params argument",
        got=r"params \({'rate': 1}\) is passed",
        do="Add an argument `params`, or leave params out",
    ),
    "steps and max_steps": Mistake(
        lambda d: train(d, steps=1, max_steps=2),
        where="train:",
        expected="Can not provide both",
        got="got steps=1 and max_steps=2",
        do="Leave one out",
    ),
    "unwritable model_dir": Mistake(
        unwritable,
        where="model_dir '.*/taken'",
        expected="cannot be written",
        got="(?i)not a directory|already exists",
        do="Choose another model_dir, or mend its rights or space",
    ),
    "a metric named loss": Mistake(
        lambda d: tiny.estimator(d, changed(eval_metric_ops=lambda spec: {"loss": v1.metrics.mean(1.0)})).evaluate(
            tiny.once
        ),
        where="model_fn",
        expected="Estimator already defines a default metric with the same name",
        got='Metric with name "loss" is not allowed',
        do="Give it another name in eval_metric_ops",
    ),
    "corrupt checkpoints": Mistake(
        corrupt,
        where=r"None of the 2 checkpoint\(s\) in .*/model can be read",
        expected="its index promises at least 1[0-9]",
        got="its data files hold 3 bytes",
        do="Restore them from a backup, or move the directory away",
    ),
    "checkpoint of another model": Mistake(
        of_another_model,
        where=r"Checkpoint .*model\.ckpt-2 does not fit this model: 1 of 4 variables differ",
        expected=r"brand_new +\[3\]",
        got=r"brand_new +\[3\] +-",
        do="Use the model_fn and params it was trained with, .*start a new model_dir with warm_start_from",
    ),
    "a subclass overrides _call_model_fn": Mistake(
        overriding,
        where="MyEstimator",
        expected="Subclasses of Estimator cannot override members",
        got=r"does override \['_call_model_fn'\]",
        do="declare it in `predictions`, or read it by its path: .*wrap model_fn",
    ),
    "unknown variable name": Mistake(
        lambda d: tiny.trained(d).get_variable_value("ww"),
        where=r"not found in checkpoint: .*/model\.ckpt-2",
        expected=r"The nearest names are \['w'\]",
        got="no variable 'ww'",
        do="nearest names",
    ),
    "full disk": Mistake(
        full_disk,
        where="The checkpoint of step 1 could not be written to .*/model",
        expected="The last complete one is of step 0",
        got="No space left on device",
        do="Free space or mend the rights, then start the same training again: it resumes from there",
    ),
    "checkpoint_path that does not exist": Mistake(
        lambda d: tiny.trained(d).evaluate(tiny.once, checkpoint_path=d / "model.ckpt-7"),
        where="checkpoint_path '.*/model.ckpt-7'",
        expected=r"Expected the start of a checkpoint's file names, such as '…/model\.ckpt-100'",
        got="does not exist",
        do=r"has model\.ckpt-2, model\.ckpt-0",
    ),
    "input_fn with unknown arguments": Mistake(
        lambda d: train(d, input_fn=lambda path: None),
        where="input_fn '<lambda>'",
        expected=r"it can be given \['mode', 'params', 'config'\] only",
        got=r"needs the arguments \['path'\]",
        do="Bind the others: lambda: ",
    ),
    "a spec of another mode, without what this one needs": Mistake(
        lambda d: train(d, lambda features, labels, mode: tiny.linear(features, labels, "infer", {})),
        where=r"EstimatorSpec\(mode='train'\): Missing loss",
        expected="a tensor with one element",
        got="got None",
        do=r"Pass loss=\.\.\. to EstimatorSpec",
    ),
    "train as a parameter server": Mistake(
        lambda d: as_task("ps", d),
        where="train: Train has been called wrong configuration",
        expected="only a chief or a worker trains",
        got="TF_CONFIG makes this process a 'ps'",
        do=r"Please use tf\.estimator\.train_and_evaluate, .*or call evaluate here, and train on the chief",
    ),
    "assigning a setting": Mistake(
        lambda d: setattr(lw.RunConfig(), "model_dir", "x"),
        where="property 'model_dir' of 'RunConfig' object",
        expected="a RunConfig is a value",
        got="has no setter",
        do=r"make another with config\.replace\(model_dir=\.\.\.\)",
    ),
    "exporting": Mistake(
        lambda d: tiny.trained(d).export_saved_model(d / "exports", lambda: None),
        where=r"export_saved_model: the receiver function '.*lambda.*' \(mode 'infer'\)",
        expected="must return a ServingInputReceiver",
        got="got NoneType",
        do=r"Is a `return` missing\?",
    ),
    "a hook that is a class": Mistake(
        lambda d: train(d, hooks=[v1.train.SessionRunHook]),
        where="train: hooks",
        expected=r"Derive it from tf\.compat\.v1\.train\.SessionRunHook",
        got="it is a class",
        do="make an instance of it",
    ),
    "a variable that nobody initialises": Mistake(
        lambda d: train(d, changed(scaffold=lambda spec: v1.train.Scaffold(init_op=tf.no_op()))),
        where="model_fn: Init operations did not make model ready for local_init",
        expected="it must cover them",
        got="Variables not initialized: global_step, w, b",
        do="If the Scaffold has an init_op or a saver of its own, it must cover them",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_text_says_where_what_was_expected_what_came_and_what_to_do(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    with pytest.raises(LightwellError) as caught:
        mistake.make(tmp_path / "model")
    text = str(caught.value)
    for part in ("where", "expected", "got", "do"):
        assert re.search(getattr(mistake, part), text, re.DOTALL), f"{part} is not told in: {text}"
    assert "Graph execution error" not in text
    assert tf.executing_eagerly(), "a mistake leaves nothing entered"
