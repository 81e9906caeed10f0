"""What the verbs give back and log, down to Python types: results of `evaluate` and `predict`, log lines, warm starts.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values; the same code for both.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.hook_scenes import SPEC_HOOKS, batches, linear
from tests.parity.mistakes.verbs import model
from tests.parity.spies import known_name

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}


def described(value: Any) -> Any:
    """A result as JSON can hold it, with the Python type of every leaf."""
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, list):
        return [described(item) for item in value]
    if isinstance(value, np.ndarray):
        return [f"ndarray {value.dtype} {list(value.shape)}", described(value.tolist())]
    if isinstance(value, np.generic):
        return [f"scalar {value.dtype}", described(value.item())]
    if isinstance(value, float):
        return float(f"{value:.4g}")  # the last bits are TensorFlow's, build by build
    return value.decode() if isinstance(value, bytes) else value


def _in_order(result: dict[str, Any]) -> list[list[Any]]:
    return [[key, described(value)] for key, value in result.items()]


def _evaluates(name: str, input_fn: Any = None, steps: int | None = 2, **fields: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        est = lib.Estimator(model(lib, **fields), str(model_dir))
        return _in_order(est.evaluate(input_fn or batches(), steps=steps))

    SCENES[f"evaluate: {name}"] = run


def _metric(*values: Any) -> Callable[[Any], Any]:
    return lambda usual: {constant.dtype.name: (constant, tf.no_op()) for constant in map(tf.constant, values)}


def _uneven() -> Any:
    labels = np.array([[1], [1], [1], [5]], np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": np.zeros([4, 2], np.float32)}, labels)).batch(3)


_evaluates("metrics of many types", eval_metric_ops=_metric(1.5, True, "text", np.float64(2), np.int64(3)))
_evaluates("metrics sorted around the loss", eval_metric_ops=lambda u: {k: v1.metrics.mean(u["loss"]) for k in "zam"})
_evaluates("the loss is a mean over batches, not rows", _uneven, steps=None)
_evaluates("no data at all", batches(0), steps=None, eval_metric_ops=lambda u: {"mean": v1.metrics.mean(u["loss"])})
_evaluates("fewer batches than steps", batches(1), steps=5)
_evaluates("predictions are a single tensor", predictions=lambda usual: usual["predictions"]["output"])
_evaluates("a metric that is an array", eval_metric_ops=lambda u: {"a": (tf.constant([1.0, 2.0]), tf.no_op())})


def _predicts(name: str, predictions: Callable[[Any], Any], **arguments: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        made = model(lib, predictions=lambda usual: predictions(usual["predictions"]["output"]))
        rows = list(lib.Estimator(made, str(model_dir)).predict(batches(2), **arguments))
        return [described(row) for row in rows]

    SCENES[f"predict: {name}"] = run


_predicts("a dict keeps its order", lambda out: {"z": out, "a": out + 1})
_predicts("a single tensor", lambda out: out)
_predicts("a single vector", lambda out: out[:, 0])
_predicts(
    "rows of many types",
    lambda out: {
        "float": out[:, 0],
        "int": tf.cast(out[:, 0], tf.int64),
        "bool": out[:, 0] > 0,
        "text": tf.as_string(out[:, 0]),
        "texts": tf.as_string(out),
    },
)
_predicts("whole batches", lambda out: {"a": out, "sum": tf.reduce_sum(out)}, yield_single_examples=False)
_predicts("whole batches of a single tensor", lambda out: out, yield_single_examples=False)
_predicts("one key by name", lambda out: {"a": out, "b": out}, predict_keys="b")
_predicts("keys in a list, one of them unknown", lambda out: {"a": out, "b": out}, predict_keys=["b", "other"])
_predicts("an empty list of keys", lambda out: {"a": out, "b": out}, predict_keys=[])


class _Lines(logging.Handler):
    """Keeps the log lines of TensorFlow's logger, clocks and folders taken out."""

    def __init__(self, model_dir: Path) -> None:
        super().__init__()
        self.folder, self.seen = str(model_dir), list[str]()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "is deprecated" in text:  # TensorFlow 2.15 about its own names
            return
        text = re.sub(r" at \d{4}-\d\d-\d\d.*", " at <time>", text.replace(self.folder, "<model_dir>"))
        text = re.sub(r"(Inference Time : |global_step/sec: )[\d.]+", r"\1<number>", text)
        text = re.sub(r"\([\d.]+ sec\)", "(<number> sec)", text)
        text = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.4g}", text)
        self.seen.append(f"{record.levelname} {text}")


def log_lines(model_dir: Path, run: Callable[[], Any]) -> list[str]:
    """What `run` logs at INFO and above."""
    logger, handler = logging.getLogger("tensorflow"), _Lines(model_dir)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        run()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return handler.seen


def _logs(name: str, run: Callable[[Any, Any], Any], trained: bool = True) -> None:
    def whole(lib: Any, model_dir: Path) -> list[str]:
        config = lib.RunConfig(save_checkpoints_steps=2, log_step_count_steps=2)
        est = lib.Estimator(linear(lib, [], with_hooks=False), str(model_dir), config)
        if trained:
            est.train(batches(), steps=3)
        return log_lines(model_dir, lambda: run(lib, est))

    SCENES[f"log: {name}"] = whole


_logs("train", lambda lib, est: est.train(batches(), steps=5), trained=False)
_logs("train on", lambda lib, est: est.train(batches(), steps=2))
_logs("train without data", lambda lib, est: est.train(batches(0)))
_logs("train with nothing to do", lambda lib, est: est.train(batches(), max_steps=3))
_logs("evaluate", lambda lib, est: est.evaluate(batches(), steps=2))
_logs("evaluate many steps", lambda lib, est: est.evaluate(batches(), steps=25))
_logs("evaluate all data", lambda lib, est: est.evaluate(batches(3)))
_logs("evaluate without a checkpoint", lambda lib, est: est.evaluate(batches(), steps=1), trained=False)
_logs("predict", lambda lib, est: list(est.predict(batches(1))))
_logs("predict without a checkpoint", lambda lib, est: list(est.predict(batches(1))), trained=False)
_logs("predict from tensors", lambda lib, est: next(est.predict(lambda: {"x": tf.zeros([2, 2])})))


def _named(lib: Any, more: bool = False, rows: int = 3, table: str = "table") -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        ones = v1.ones_initializer()
        kernel, other, late = (v1.get_variable(name, [2, 1], initializer=ones) for name in NAMES)
        weights = v1.get_variable(table, [rows, 2], initializer=ones)
        if more:
            v1.get_variable("another", [1], initializer=ones)
        output = tf.matmul(features["x"], kernel + other + late) + tf.reduce_sum(weights)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.MomentumOptimizer(0.001, 0.9).minimize(loss, global_step=v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


NAMES = ("dense/kernel", "my/dense/kernel", "dense/kernel_2")


class _Started(v1.train.SessionRunHook):  # type: ignore[misc]
    """Which variables do not start with their initial value."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        fresh = {"global_step": 0, "Momentum": 0}
        self.warm = [
            variable.op.name
            for variable in v1.global_variables()
            if (session.run(variable) != fresh.get(variable.op.name.split("/")[-1], 1)).any()
        ]


def _warm_start(name: str, settings: Callable[[Any, str], Any], **model_options: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        source = str(model_dir / "source")
        lib.Estimator(_named(lib), source).train(batches(), steps=2)
        started = _Started()
        est = lib.Estimator(_named(lib, **model_options), str(model_dir / "new"), warm_start_from=settings(lib, source))
        try:
            est.train(batches(), steps=1, hooks=[started])
        except Exception as error:
            return known_name(error)
        return started.warm

    SCENES[f"warm start: {name}"] = run


def _vocabulary(lib: Any, source: str) -> Any:
    Path(source, "old.txt").write_text("a\nb\nc\n")
    Path(source, "new.txt").write_text("c\nd\na\nb\n")
    info = lib.VocabInfo(f"{source}/new.txt", 4, 0, f"{source}/old.txt")
    return lib.WarmStartSettings(source, var_name_to_vocab_info={"table": info})


for _pattern in ("dense/kernel", "kernel", ".*kernel", "dense", ["dense/kernel"], ["my/dense/kernel"], None, "zzz"):
    _warm_start(
        f"variables {_pattern!r}", lambda lib, source, p=_pattern: lib.WarmStartSettings(source, vars_to_warm_start=p)
    )
_warm_start("a folder", lambda lib, source: source)
_warm_start("a checkpoint", lambda lib, source: f"{source}/model.ckpt-2")
_warm_start("nothing there", lambda lib, source: f"{source}/nowhere")
_warm_start("a variable that the checkpoint lacks", lambda lib, source: source, more=True)
_warm_start("another shape", lambda lib, source: source, rows=4)
_warm_start("another vocabulary", _vocabulary, rows=4)
_warm_start(
    "a name that is not used",
    lambda lib, source: lib.WarmStartSettings(source, var_name_to_prev_var_name={"nope": "table"}),
)
_warm_start(
    "another name",
    lambda lib, source: lib.WarmStartSettings(source, var_name_to_prev_var_name={"renamed": "table"}),
    table="renamed",
)
_warm_start(
    "no variables but a vocabulary",
    lambda lib, source: _vocabulary(lib, source)._replace(vars_to_warm_start=None),
    rows=4,
)


def _spec_scene(name: str, make: Callable[[Any], Any]) -> None:
    """`make` gives a spec; what became of the fields it was given, by kind."""

    def run(lib: Any, model_dir: Path) -> Any:
        with tf.Graph().as_default():
            spec = make(lib)
        exports = spec.export_outputs
        return {
            "export_outputs": exports and {key: [type(out).__name__, *out.outputs] for key, out in exports.items()},
            "predictions": list(spec.predictions) if isinstance(spec.predictions, dict) else "a tensor",
            "loss": None if spec.loss is None else str(spec.loss.shape),
            "hooks": [len(getattr(spec, field)) for field in SPEC_HOOKS],
            "metrics": spec.eval_metric_ops,
            "scaffold": type(spec.scaffold).__name__,
            "fields": list(spec._asdict()),
        }

    SCENES[f"spec: {name}"] = run


def _predict_spec(name: str, predictions: Callable[[], Any], **exports: str) -> None:
    def make(lib: Any) -> Any:
        export = getattr(lib, "estimator", lib).export  # tf.estimator.export, lightwell.estimator.export
        outputs = {key: export.PredictOutput({label: tf.zeros([2])}) for key, label in exports.items()}
        return lib.EstimatorSpec(lib.ModeKeys.PREDICT, predictions(), export_outputs=outputs or None)

    _spec_scene(name, make)


_predict_spec("no export_outputs, a dict", lambda: {"b": tf.zeros([2]), "a": tf.zeros([2])})
_predict_spec("no export_outputs, a tensor", lambda: tf.zeros([2]))
_predict_spec("one export output", lambda: {"a": tf.zeros([2])}, mine="x")
_predict_spec("two export outputs, one of them served", lambda: {"a": tf.zeros([2])}, mine="x", serving_default="y")
_spec_scene("EVAL with a loss of one element", lambda lib: lib.EstimatorSpec(lib.ModeKeys.EVAL, loss=tf.zeros([1, 1])))
_spec_scene(
    "TRAIN with hooks",
    lambda lib: lib.EstimatorSpec(
        lib.ModeKeys.TRAIN, loss=tf.zeros([]), train_op=tf.no_op(), training_hooks=[v1.train.StepCounterHook()]
    ),
)
