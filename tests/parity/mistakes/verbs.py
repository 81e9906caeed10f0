"""Wrong uses of an Estimator's constructor and verbs, and of what `model_fn` and `input_fn` return."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.hook_scenes import batches
from tests.parity.mistakes.base import Mistake, alien
from tests.parity.run_configs import environment
from tests.parity.spies import SpyHook, SpyListener

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}


def model(lib: Any, **fields: Any) -> Callable[..., Any]:
    """A correct `model_fn` with some fields of its spec replaced; a callable field is called with the usual ones."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.constant_initializer(2.0))
        output = tf.matmul(features["x"], weight)
        loss = None if labels is None else tf.reduce_mean(tf.square(output - labels))
        usual = {"predictions": {"output": output}, "loss": loss}
        usual["train_op"] = v1.assign_add(v1.train.get_global_step(), 1)
        changed = {key: value(usual) if callable(value) else value for key, value in fields.items()}
        return lib.EstimatorSpec(mode, **{**usual, **changed})

    return model_fn


def _mean(usual: dict[str, Any]) -> Any:
    return v1.metrics.mean(usual["predictions"]["output"])


def _output(usual: dict[str, Any]) -> Any:
    return usual["predictions"]["output"]


def train(lib: Any, model_dir: Path, model_fn: Any, input_fn: Any = None, **arguments: Any) -> None:
    arguments = {"steps": 1, **arguments}
    lib.Estimator(model_fn, str(model_dir)).train(input_fn or batches(), **arguments)


def evaluate(lib: Any, model_dir: Path, model_fn: Any, input_fn: Any = None, **arguments: Any) -> None:
    arguments = {"steps": 1, **arguments}
    lib.Estimator(model_fn, str(model_dir)).evaluate(input_fn or batches(), **arguments)


def predict(lib: Any, model_dir: Path, model_fn: Any, input_fn: Any = None, **arguments: Any) -> None:
    list(lib.Estimator(model_fn, str(model_dir)).predict(input_fn or batches(1), **arguments))


VERBS = {"train": train, "evaluate": evaluate, "predict": predict}


def _spec(verb: str, **fields: Any) -> Mistake:
    return lambda lib, model_dir: VERBS[verb](lib, model_dir, model(lib, **fields))


def _returns(verb: str, value: Any) -> Mistake:
    return lambda lib, model_dir: VERBS[verb](lib, model_dir, lambda features, labels, mode: value)


def _call(verb: str, **arguments: Any) -> Mistake:
    return lambda lib, model_dir: VERBS[verb](lib, model_dir, model(lib), **arguments)


def _input(verb: str, input_fn: Any) -> Mistake:
    return lambda lib, model_dir: VERBS[verb](lib, model_dir, model(lib), input_fn)


def _construct(model_fn: Any = None, **arguments: Any) -> Mistake:
    return lambda lib, model_dir: lib.Estimator(model_fn or model(lib), **{"model_dir": str(model_dir), **arguments})


def _on_spec(change: Callable[[Any, Any], Any]) -> Mistake:
    """`change(lib, spec)` of a finished spec, in its graph."""

    def run(lib: Any, model_dir: Path) -> None:
        with tf.Graph().as_default():
            change(lib, lib.EstimatorSpec(lib.ModeKeys.PREDICT, predictions={"a": tf.zeros([2])}))

    return run


for _verb in VERBS:
    MISTAKES[f"{_verb}: model_fn returns None"] = _returns(_verb, None)
    MISTAKES[f"{_verb}: model_fn returns a tuple"] = _returns(_verb, (1, 2))
    MISTAKES[f"{_verb}: hooks are not hooks"] = _call(_verb, hooks=[1])
    MISTAKES[f"{_verb}: input_fn gives a 3-tuple"] = _input(_verb, lambda: (tf.zeros([2, 2]), 1, 2))
    MISTAKES[f"{_verb}: input_fn gives a Dataset of 3-tuples"] = _input(
        _verb, lambda: tf.data.Dataset.from_tensors((np.zeros([2, 2]), 1, 2))
    )
    MISTAKES[f"{_verb}: input_fn gives a list of one"] = _input(_verb, lambda: [{"x": tf.zeros([2, 2])}])

MISTAKES |= {
    "spec: TRAIN without loss": _spec("train", loss=None),
    "spec: TRAIN without train_op": _spec("train", train_op=None),
    "spec: EVAL without loss": _spec("evaluate", loss=None),
    "spec: EVAL without predictions": _spec("evaluate", predictions=None),
    "spec: PREDICT without predictions": _spec("predict", predictions=None),
    "spec: PREDICT without loss and train_op": _spec("predict", loss=None, train_op=None),
    "spec: eval_metric_ops is a list": _spec("evaluate", eval_metric_ops=[1]),
    "spec: a metric is a number": _spec("evaluate", eval_metric_ops={"a": 1}),
    "spec: a metric is a tensor": _spec("evaluate", eval_metric_ops=lambda usual: {"a": usual["loss"]}),
    "spec: a metric is a 3-tuple": _spec("evaluate", eval_metric_ops=lambda usual: {"a": (usual["loss"],) * 3}),
    "spec: a metric is named loss": _spec("evaluate", eval_metric_ops=lambda usual: {"loss": _mean(usual)}),
    "spec: a metric is named global_step": _spec(
        "evaluate", eval_metric_ops=lambda usual: {"global_step": _mean(usual)}
    ),
    "spec: bad metrics in TRAIN": _spec("train", eval_metric_ops={"a": 1}),
    "spec: loss of two elements": _spec("train", loss=lambda usual: tf.stack([usual["loss"]] * 2)),
    "spec: loss of shape [1]": _spec("train", loss=lambda usual: tf.reshape(usual["loss"], [1])),
    "spec: loss of shape [1, 1]": _spec("train", loss=lambda usual: tf.reshape(usual["loss"], [1, 1])),
    "spec: loss of unknown shape": _spec("train", loss=lambda usual: v1.placeholder_with_default(usual["loss"], None)),
    "spec: loss is a Python number": _spec("train", loss=1.0),
    "spec: train_op is a number": _spec("train", train_op=1),
    "spec: train_op is a list": _spec("train", train_op=lambda usual: [usual["train_op"]]),
    "spec: train_op is a name": _spec("train", train_op="step"),
    "spec: train_op is a group": _spec("train", train_op=lambda usual: tf.group(usual["train_op"])),
    "spec: predictions are a list": _spec("predict", predictions=lambda usual: [_output(usual)]),
    "spec: a prediction is an array": _spec("predict", predictions={"a": np.zeros(2)}),
    "spec: a prediction is a number, in TRAIN": _spec("train", predictions={"a": 1.0}),
    "spec: predictions are nested": _spec("predict", predictions=lambda usual: {"a": {"b": _output(usual)}}),
    "spec: a prediction is sparse": _spec(
        "predict", predictions=lambda usual: {"a": tf.sparse.from_dense(_output(usual))}
    ),
    "spec: training_hooks are not hooks": _spec("train", training_hooks=[1]),
    "spec: training_hooks is one hook": _spec("train", training_hooks=SpyHook("A", [])),
    "spec: training_hooks is a tuple": _spec("train", training_hooks=(SpyHook("A", []),)),
    "spec: training_chief_hooks are not hooks": _spec("train", training_chief_hooks=["a"]),
    "spec: evaluation_hooks are not hooks": _spec("evaluate", evaluation_hooks=["a"]),
    "spec: prediction_hooks are not hooks": _spec("predict", prediction_hooks=["a"]),
    "spec: scaffold is not a Scaffold": _spec("train", scaffold="a"),
    "spec: the mode is unknown": lambda lib, model_dir: lib.EstimatorSpec("other"),
    "spec: _replace changes the mode": _on_spec(lambda lib, spec: spec._replace(mode=lib.ModeKeys.EVAL)),
    "spec: _replace by a bad value": _on_spec(lambda lib, spec: spec._replace(predictions={"a": 1})),
    "spec: _replace by a good value": _on_spec(lambda lib, spec: spec._replace(prediction_hooks=[])),
    "spec: setting a field": _on_spec(lambda lib, spec: setattr(spec, "loss", None)),
    "spec: train_op is a variable": lambda lib, model_dir: train(
        lib, model_dir, model(lib, train_op=lambda usual: v1.train.get_global_step()), batches(1), steps=None
    ),
    "spec: the loss is of another graph": _spec("train", loss=lambda usual: alien()),
    "spec: a prediction is of another graph": _spec("predict", predictions=lambda usual: {"a": alien()}),
    "spec: export_outputs is a list": _spec("predict", export_outputs=[1]),
    "spec: an export output is a number": _spec("predict", export_outputs={"a": 1}),
    "train: steps and max_steps": _call("train", steps=1, max_steps=1),
    "train: steps=0": _call("train", steps=0),
    "train: steps=-1": _call("train", steps=-1),
    "train: max_steps=0": _call("train", steps=None, max_steps=0),
    "train: max_steps=-1": _call("train", steps=None, max_steps=-1),
    "train: steps is text": _call("train", steps="a"),
    "train: hooks is one hook": _call("train", hooks=SpyHook("A", [])),
    "train: hooks is a tuple": _call("train", hooks=(SpyHook("A", []),)),
    "train: saving_listeners are not listeners": _call("train", saving_listeners=[1]),
    "train: saving_listeners is one listener": _call("train", saving_listeners=SpyListener("L", [])),
    "train: input_fn is a dict": _input("train", {"x": 1}),
    "train: input_fn gives None": _input("train", lambda: None),
    "train: input_fn gives features alone, model_fn needs labels": _input("train", lambda: {"x": tf.zeros([2, 2])}),
    "train: input_fn gives arrays": _input("train", lambda: ({"x": np.zeros([2, 2], "f4")}, np.zeros([2, 1], "f4"))),
    "train: input_fn gives tensors": _input("train", lambda: ({"x": tf.zeros([2, 2])}, tf.zeros([2, 1]))),
    "evaluate: steps=0": _call("evaluate", steps=0),
    "evaluate: steps=-1": _call("evaluate", steps=-1),
    "evaluate: no checkpoint": _call("evaluate"),
    "evaluate: a checkpoint_path without files": _call("evaluate", checkpoint_path="nowhere/model.ckpt-7"),
    "predict: no checkpoint": _call("predict"),
    "predict: a checkpoint_path without files": _call("predict", checkpoint_path="nowhere/model.ckpt-7"),
    "predict: unknown predict_keys": _call("predict", predict_keys="other"),
    "predict: one of two predict_keys unknown": _call("predict", predict_keys=["output", "other"]),
    "predict: predict_keys of a single tensor": lambda lib, model_dir: predict(
        lib, model_dir, model(lib, predictions=_output), predict_keys=["a"]
    ),
    "predict: rows of different number": _spec(
        "predict", predictions=lambda usual: {"a": _output(usual), "b": _output(usual)[:1]}
    ),
    "predict: a scalar per batch": _spec("predict", predictions=lambda usual: {"a": tf.reduce_sum(_output(usual))}),
    "predict: a scalar per batch, whole batches": lambda lib, model_dir: predict(
        lib,
        model_dir,
        model(lib, predictions=lambda usual: {"a": tf.reduce_sum(_output(usual))}),
        yield_single_examples=False,
    ),
    "construct: model_fn is None": lambda lib, model_dir: lib.Estimator(None, str(model_dir)),
    "construct: model_fn is text": _construct("x"),
    "construct: model_fn without features": _construct(lambda labels, mode: None),
    "construct: model_fn with an unknown argument": _construct(lambda features, labels, mode, other: None),
    "construct: model_fn with an unknown default": _construct(lambda features, labels, mode, other=1: None),
    "construct: params, but model_fn takes none": _construct(params={"a": 1}),
    "construct: empty params, but model_fn takes none": _construct(params={}),
    "construct: params is a list": _construct(lambda features, labels, mode, params: None, params=[1]),
    "construct: config is a dict": _construct(config={}),
    "construct: two different model_dirs": lambda lib, model_dir: lib.Estimator(
        model(lib), str(model_dir), lib.RunConfig(model_dir=f"{model_dir}_other")
    ),
    "construct: the same model_dir twice": lambda lib, model_dir: lib.Estimator(
        model(lib), str(model_dir), lib.RunConfig(model_dir=str(model_dir))
    ),
    "construct: warm_start_from is a number": _construct(warm_start_from=1),
    "model_fn does not take the labels that come": lambda lib, model_dir: train(
        lib, model_dir, lambda features, mode: model(lib)(features, None, mode)
    ),
    "get_variable_value: no checkpoint": lambda lib, model_dir: lib.Estimator(
        model(lib), str(model_dir)
    ).get_variable_value("weight"),
    "get_variable_names: no checkpoint": lambda lib, model_dir: lib.Estimator(
        model(lib), str(model_dir)
    ).get_variable_names(),
    "setting params": lambda lib, model_dir: setattr(lib.Estimator(model(lib), str(model_dir)), "params", {}),
    "setting model_dir": lambda lib, model_dir: setattr(lib.Estimator(model(lib), str(model_dir)), "model_dir", "a"),
}


def _of_mode(verb: str, mode: Any, **fields: Any) -> Mistake:
    """A spec that was made for `mode`, whatever the verb."""

    def run(lib: Any, model_dir: Path) -> None:
        made = model(lib, **fields)
        VERBS[verb](lib, model_dir, lambda features, labels: made(features, labels, mode))

    return run


def _as_task(verb: str, task: str) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]}
        with environment({"cluster": cluster, "task": {"type": task, "index": 0}}):
            VERBS[verb](lib, model_dir, model(lib))

    return run


def _trained(lib: Any, model_dir: Path) -> Any:
    return lib.Estimator(model(lib), str(model_dir)).train(batches(), steps=1)


def _subclass(**members: Any) -> Mistake:
    return lambda lib, model_dir: type("Own", (lib.Estimator,), members)(model(lib), str(model_dir))


MISTAKES |= {
    f"subclass overrides {member}": _subclass(**{member: lambda self: None})
    for member in ("train", "evaluate", "predict", "export_saved_model", "_call_model_fn")
}
MISTAKES |= {
    f"{verb}: a spec for {'no mode' if mode is None else mode}": _of_mode(verb, mode)
    for verb in VERBS
    for mode in (None, "train", "eval", "infer", "other")
}
MISTAKES |= {
    "train: a spec for no mode, without train_op": _of_mode("train", None, train_op=None),
    "train: a spec for no mode, without loss": _of_mode("train", None, loss=None),
    "evaluate: a spec for no mode, without loss": _of_mode("evaluate", None, loss=None),
    "predict: a spec for no mode, without predictions": _of_mode("predict", None, predictions=None),
    "train as a parameter server": _as_task("train", "ps"),
    "train as an evaluator": _as_task("train", "evaluator"),
    "evaluate as an evaluator": _as_task("evaluate", "evaluator"),
    "predict as an evaluator": _as_task("predict", "evaluator"),
    "get_variable_value: unknown": lambda lib, model_dir: _trained(lib, model_dir).get_variable_value("other"),
    "get_variable_value: a tensor's name": lambda lib, model_dir: _trained(lib, model_dir).get_variable_value(
        "weight:0"
    ),
    "get_variable_value: a second output": lambda lib, model_dir: _trained(lib, model_dir).get_variable_value(
        "weight:1"
    ),
}
MISTAKES["subclass adds a method"] = _subclass(describe_me=lambda self: None)


def _on_checkpoint(verb: str, change: Callable[[Any], Any]) -> Mistake:
    """A checkpoint of the usual model, used with the one that `change(lib)` gives."""

    def run(lib: Any, model_dir: Path) -> None:
        train(lib, model_dir, model(lib))
        VERBS[verb](lib, model_dir, change(lib))

    return run


def _with_another(lib: Any) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        v1.get_variable("another", [1])
        return model(lib)(features, labels, mode)

    return model_fn


def _with_weight_of(shape: list[int], dtype: Any = tf.float32) -> Callable[[Any], Any]:
    def change(lib: Any) -> Callable[..., Any]:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            weight = v1.get_variable("weight", shape, dtype, initializer=v1.zeros_initializer())
            output = tf.reduce_sum(features["x"]) * tf.cast(weight, tf.float32)
            step = v1.assign_add(v1.train.get_global_step(), 1)
            return lib.EstimatorSpec(mode, {"output": output}, tf.reduce_sum(output), step)

        return model_fn

    return change


def _saver_of_the_step(usual: dict[str, Any]) -> Any:
    return v1.train.Scaffold(saver=v1.train.Saver([v1.train.get_global_step()]))


for _verb in VERBS:
    MISTAKES[f"{_verb}: the checkpoint lacks a variable"] = _on_checkpoint(_verb, _with_another)
    MISTAKES[f"{_verb}: a variable of another shape"] = _on_checkpoint(_verb, _with_weight_of([3, 1]))
    MISTAKES[f"{_verb}: a variable of another type"] = _on_checkpoint(_verb, _with_weight_of([2, 1], tf.float64))
    MISTAKES[f"{_verb}: a saver that leaves variables out"] = _on_checkpoint(
        _verb, lambda lib: model(lib, scaffold=_saver_of_the_step)
    )
_BAD_METRICS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list of two": lambda usual: [usual["loss"], usual["loss"]],
    "an empty tuple": lambda usual: (),
    "a function": lambda usual: lambda: 1,
    "a Keras class": lambda usual: tf.keras.metrics.Mean,
    "a Keras metric never updated": lambda usual: tf.keras.metrics.Mean(),
    "of another graph": lambda usual: (alien(), alien()),
}
MISTAKES |= {
    f"spec: a metric is {what}, in {verb}": _spec(verb, eval_metric_ops=lambda usual, make=make: {"a": make(usual)})
    for what, make in _BAD_METRICS.items()
    for verb in VERBS
}
