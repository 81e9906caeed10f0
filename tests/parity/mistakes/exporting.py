"""Receivers, export outputs, the functions that make receivers, and the export of an Estimator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.hook_scenes import batches
from tests.parity.mistakes.base import Mistake, in_graph, of
from tests.parity.mistakes.verbs import model

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}
TENSORS: dict[str, Any] = {
    "None": None,
    "a number": 1,
    "text": "a",
    "an array": np.zeros(2),
    "a list": lambda: [tf.zeros([2])],
    "an empty dict": {},
    "a dict with None": {"a": None},
    "a dict with a number": {"a": 1},
    "a dict with an array": {"a": np.zeros(2)},
    "a dict with a list": lambda: {"a": [tf.zeros([2])]},
    "a dict under a number": lambda: {1: tf.zeros([2])},
    "a dict in a dict": lambda: {"a": {"b": tf.zeros([2])}},
    "a tensor": lambda: tf.zeros([2]),
    "an op": lambda: tf.no_op(),
}
ALTERNATIVES: dict[str, Any] = {
    "a number": 1,
    "a list": lambda: [tf.zeros([2])],
    "a tensor": lambda: tf.zeros([2]),
    "an empty dict": {},
    "a dict with None": {"a": None},
    "a dict with a number": {"a": 1},
    "a dict with a tensor": lambda: {"a": tf.zeros([2])},
    "a dict with a dict of a number": {"a": {"b": 1}},
    "a dict with a dict under a number": lambda: {"a": {1: tf.zeros([2])}},
}


def _receiver(kind: str, argument: str, value: Any) -> Mistake:
    def make(lib: Any) -> None:
        plain = tf.zeros([2])
        usual: dict[str, Any] = {"features": plain if kind.startswith("Tensor") else {"a": plain}}
        usual["receiver_tensors"] = {"b": plain}
        getattr(lib.export, kind)(**{**usual, argument: of(value)})

    return in_graph(make)


for _kind in ("ServingInputReceiver", "TensorServingInputReceiver"):
    for _argument in ("features", "receiver_tensors"):
        for _what, _value in TENSORS.items():
            MISTAKES[f"{_kind}: {_argument} is {_what}"] = _receiver(_kind, _argument, _value)
    for _what, _value in ALTERNATIVES.items():
        MISTAKES[f"{_kind}: receiver_tensors_alternatives is {_what}"] = _receiver(
            _kind, "receiver_tensors_alternatives", _value
        )

OUTPUTS: dict[str, dict[str, Callable[[], dict[str, Any]]]] = {
    "ClassificationOutput": {
        "without anything": dict,
        "with numbers as scores": lambda: {"scores": [1.0]},
        "with scores of text": lambda: {"scores": tf.constant(["a"])},
        "with scores of whole numbers": lambda: {"scores": tf.constant([1])},
        "with an array as scores": lambda: {"scores": np.zeros([2])},
        "with classes of numbers": lambda: {"classes": tf.constant([1.0])},
        "with classes of whole numbers": lambda: {"classes": tf.constant([1])},
        "with a list as classes": lambda: {"classes": ["a"]},
        "with a dict as scores": lambda: {"scores": {"a": tf.constant([1.0])}},
        "with good scores, bad classes": lambda: {"scores": tf.constant([1.0]), "classes": 1},
    },
    "RegressionOutput": {
        "without anything": dict,
        "of None": lambda: {"value": None},
        "of a number": lambda: {"value": 1.0},
        "of text": lambda: {"value": tf.constant(["a"])},
        "of whole numbers": lambda: {"value": tf.constant([1])},
        "of a dict": lambda: {"value": {"a": tf.constant([1.0])}},
        "of a list": lambda: {"value": [tf.constant([1.0])]},
    },
    "PredictOutput": {
        "without anything": dict,
        "of None": lambda: {"outputs": None},
        "of a number": lambda: {"outputs": 1},
        "of a tensor": lambda: {"outputs": tf.constant([1.0])},
        "of a list": lambda: {"outputs": [tf.constant([1.0])]},
        "of an empty dict": lambda: {"outputs": {}},
        "of a dict with a number": lambda: {"outputs": {"a": 1}},
        "of a dict with None": lambda: {"outputs": {"a": None}},
        "of a dict under a number": lambda: {"outputs": {1: tf.constant([1.0])}},
        "of a dict under a tuple": lambda: {"outputs": {("a", "b"): tf.constant([1.0])}},
    },
    "EvalOutput": {
        "without anything": dict,
        "of a number": lambda: {"loss": 1},
        "of metrics that are a list": lambda: {"loss": tf.constant(1.0), "metrics": [1]},
        "of a metric that is a number": lambda: {"loss": tf.constant(1.0), "metrics": {"a": 1}},
        "of a metric that is a tensor": lambda: {"loss": tf.constant(1.0), "metrics": {"a": tf.constant(1.0)}},
        "of predictions that are a number": lambda: {"loss": tf.constant(1.0), "predictions": 1},
        "of a prediction that is a number": lambda: {"loss": tf.constant(1.0), "predictions": {"a": 1}},
    },
    "ExportOutput": {"itself": dict},
}


def _output(kind: str, arguments: Callable[[], dict[str, Any]]) -> Mistake:
    return in_graph(lambda lib: getattr(lib.export, kind)(**arguments()))


MISTAKES |= {
    f"{kind} {what}": _output(kind, arguments) for kind, cases in OUTPUTS.items() for what, arguments in cases.items()
}

_X = {"x": tf.io.FixedLenFeature([2], tf.float32)}
PARSING: dict[str, tuple[Any, ...]] = {
    "None": (None,),
    "a list": ([1],),
    "empty": ({},),
    "a dict with a number": ({"a": 1},),
    "a dict with a type": ({"a": tf.float32},),
    "a text as the batch": (_X, "a"),
    "a batch of -1": (_X, -1),
    "a batch of 0": (_X, 0),
}
RAW: dict[str, tuple[Any, ...]] = {
    "None": (None,),
    "a number": (1,),
    "a list": ([1],),
    "empty": ({},),
    "a dict with a number": ({"a": 1},),
    "a dict with None": ({"a": None},),
    "a dict under a number": ({1: np.zeros([2, 2])},),
    "a text as the batch": ({"a": np.zeros([2, 2])}, "a"),
    "a batch of -1": ({"a": np.zeros([2, 2])}, -1),
}


def _called(make: str, arguments: tuple[Any, ...]) -> Mistake:
    """The function is made, and the function that it gives is called."""

    def run(lib: Any) -> None:
        maker = getattr(lib.export, make, None) or getattr(lib.experimental, make)
        maker(*arguments)()

    return in_graph(run)


def _eager(lib: Any, model_dir: Path) -> None:
    receiver_fn = lib.export.build_raw_serving_input_receiver_fn({"a": tf.zeros([2, 2])})
    with tf.Graph().as_default():
        receiver_fn()


MISTAKES |= {
    f"parsing receivers of {what}": _called("build_parsing_serving_input_receiver_fn", a) for what, a in PARSING.items()
}
MISTAKES |= {f"raw receivers of {what}": _called("build_raw_serving_input_receiver_fn", a) for what, a in RAW.items()}
MISTAKES["raw receivers of eager tensors"] = _eager
MISTAKES |= {
    f"raw supervised receivers of {what}": _called("build_raw_supervised_input_receiver_fn", arguments)
    for what, arguments in {
        "no labels": ({"a": np.zeros([2, 2])}, None),
        "no features": (None, np.zeros([2])),
        "labels and features of one name": ({"a": np.zeros([2, 2])}, {"a": np.zeros([2])}),
        "a number": (1, 1),
        "empty dicts": ({}, {}),
    }.items()
}


def _serving() -> Any:
    x = v1.placeholder(tf.float32, [None, 2])
    return {"x": x}


def _export(
    receiver_fn: Callable[[Any], Any] | None, trained: bool = True, fields: Any = None, **arguments: Any
) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        estimator = lib.Estimator(model(lib, **(fields or {})), str(model_dir / "model"))
        if trained:
            estimator.train(batches(), steps=1)
        given = receiver_fn if receiver_fn is None or not callable(receiver_fn) else lambda: receiver_fn(lib)
        where = {"export_dir_base": str(model_dir / "exports")}
        estimator.export_saved_model(serving_input_receiver_fn=given, **{**where, **arguments})

    return run


def _good(lib: Any) -> Any:
    features = _serving()
    return lib.export.ServingInputReceiver(features, features)


def _export_output(make: Callable[[Any, Any], Any]) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        fields = {"export_outputs": lambda usual: make(lib, usual)}
        _export(_good, fields=fields)(lib, model_dir)

    return run


MISTAKES |= {
    "export: the receiver_fn is None": _export(None),
    "export: the receiver_fn is a number": _export(1),  # type: ignore[arg-type]
    "export: the receiver_fn gives None": _export(lambda lib: None),
    "export: the receiver_fn gives features": _export(lambda lib: _serving()),
    "export: the receiver_fn gives a pair": _export(lambda lib: (_serving(), _serving())),
    "export: nothing was trained": _export(_good, trained=False),
    "export: a checkpoint_path that is not there": _export(_good, checkpoint_path="nowhere/model.ckpt-1"),
    "export: an unknown mode": _export(_good, experimental_mode="other"),
    "export: the folder is None": _export(_good, export_dir_base=None),
    "export: assets_extra is a list": _export(_good, assets_extra=["a"]),
    "export: assets_extra is not there": _export(_good, assets_extra={"a": "nowhere/a"}),
    "export: no export_outputs": _export_output(lambda lib, usual: None),
    "export: empty export_outputs": _export_output(lambda lib, usual: {}),
    "export: export_outputs under a name of its own": _export_output(
        lambda lib, usual: {"a": lib.export.PredictOutput(usual["predictions"])}
    ),
    "export: the mode is EVAL, with a serving receiver": _export(_good, experimental_mode="eval"),
    "export: the mode is TRAIN, with a serving receiver": _export(_good, experimental_mode="train"),
}


def _export_all(receivers: Callable[[Any], Any], trained: bool = True) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        estimator = lib.Estimator(model(lib), str(model_dir / "model"))
        if trained:
            estimator.train(batches(), steps=1)
        estimator.experimental_export_all_saved_models(str(model_dir / "exports"), receivers(lib))

    return run


MISTAKES |= {
    "export all: no receivers": _export_all(lambda lib: {}),
    "export all: None": _export_all(lambda lib: None),
    "export all: a function": _export_all(lambda lib: lambda: None),
    "export all: an unknown mode": _export_all(lambda lib: {"other": lambda: None}),
    "export all: a receiver that is None": _export_all(lambda lib: {"infer": None}),
    "export all: a receiver that gives None": _export_all(lambda lib: {"infer": lambda: None}),
    "export all: a serving receiver for TRAIN": _export_all(lambda lib: {"train": lambda: _good(lib)}),
    "export all: nothing was trained": _export_all(lambda lib: {"infer": lambda: _good(lib)}, trained=False),
}
