"""Trainings with the early stopping hooks and with evaluations in between. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives what can be told of the run: the step at
which it stopped, how often it looked, what it logged, or the exception that it raised.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.spies import Calls, SpyHook

v1 = tf.compat.v1
Scene = Callable[[Any, Path], dict[str, Any]]
SCENES: dict[str, Scene] = {}
NAN = math.nan
STEPS = 12
STOPPED = "signal_early_stopping/STOP"


def batches(repeat: int | None = None) -> Any:
    x = np.arange(1.0, 9.0, dtype=np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).repeat(repeat).batch(4)


def once() -> Any:
    return batches(repeat=1)


def linear(lib: Any, calls: Calls | None = None) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        if calls is not None:
            calls.append(f"model_fn {mode}")
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
        train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, global_step=v1.train.get_global_step())
        metrics = {"mae": v1.metrics.mean_absolute_error(labels, w * features["x"])}
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


def made(lib: Any, model_dir: Path, calls: Calls | None = None) -> Any:
    return lib.Estimator(linear(lib, calls), str(model_dir), lib.RunConfig(save_checkpoints_steps=1000))


def write(directory: str, values: Sequence[tuple[int, Mapping[str, float]]]) -> None:
    """Writes an event file as evaluations do."""
    with tf.Graph().as_default():
        # Two files of one second have the same name, unless they end differently.
        count = len(tf.io.gfile.listdir(directory)) if tf.io.gfile.exists(directory) else 0
        writer = v1.summary.FileWriter(directory, filename_suffix=f".{count}")
        for step, numbers in values:
            writer.add_summary(
                v1.Summary(value=[v1.Summary.Value(tag=tag, simple_value=value) for tag, value in numbers.items()]),
                step,
            )
        writer.close()


@contextmanager
def logged(result: dict[str, Any]) -> Iterator[None]:
    """What is said about stopping goes into `result["log"]`."""
    lines: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if "early stopping" in text:
                lines.append(text)

    logger, handler = tf.get_logger(), Handler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        result["log"] = lines


def told(est: Any) -> dict[str, Any]:
    """What a training left."""
    return {
        "step": int(est.get_variable_value("global_step")),
        "variables": est.get_variable_names(),
        "stopped": bool(est.get_variable_value(STOPPED)),
    }


def _metric_scene(
    name: str,
    hook: str,
    limit: float,
    values: Sequence[tuple[int, Mapping[str, float]]] | None,
    metric: str = "m",
    **settings: Any,
) -> None:
    """Training for `STEPS` steps, with the numbers of evaluations written before; the hook looks each 4 steps."""

    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        est = made(lib, model_dir)
        if values is not None:
            write(est.eval_dir(), values)
        result: dict[str, Any] = {}
        with logged(result):
            made_hook = getattr(lib.experimental, hook)(
                est, metric, limit, run_every_secs=None, run_every_steps=4, **settings
            )
            try:
                est.train(batches, hooks=[made_hook], steps=STEPS)
            except KeyError as error:
                return {**result, "raised": "KeyError", "key": error.args[0]}
        return {**result, **told(est)}

    SCENES[f"{hook}: {name}"] = run


def _by_ten(*values: float) -> list[tuple[int, dict[str, float]]]:
    return [(10 * (place + 1), {"m": value, "loss": 1.0}) for place, value in enumerate(values)]


_RISING, _FALLING = _by_ten(0.1, 0.5, 0.9), _by_ten(0.9, 0.5, 0.1)
for _hook in ("stop_if_higher_hook", "stop_if_lower_hook"):
    _metric_scene("a threshold that is passed", _hook, 0.5, _RISING)
    _metric_scene("a threshold that is just met", _hook, 1.0, _by_ten(1.0, 1.0))
    _metric_scene("only early values are beyond", _hook, 0.4, _FALLING, min_steps=20)
    _metric_scene("the last value counts", _hook, 0.4, _RISING, min_steps=30)
    _metric_scene("no value counts yet", _hook, 0.4, _RISING, min_steps=31)
    _metric_scene("NaN", _hook, 0.5, _by_ten(NAN, NAN))
    _metric_scene("no directory", _hook, 0.5, None)
    _metric_scene("a file without numbers", _hook, 0.5, [])
    _metric_scene("no such metric", _hook, 0.5, _RISING, metric="n")
_SEQUENCES = {
    "rising": (0.1, 0.5, 0.9),
    "falling": (0.9, 0.5, 0.1),
    "flat": (0.5, 0.5, 0.5),
    "up and down": (0.1, 0.9, 0.5, 0.4),
    "down and up": (0.9, 0.5, 0.4, 0.95),
    "NaN first": (NAN, 0.1, 0.2),
    "NaN later": (0.1, NAN, NAN),
    "one value": (0.5,),
}
for _hook in ("stop_if_no_increase_hook", "stop_if_no_decrease_hook"):
    for _name, _values in _SEQUENCES.items():
        for _limit in (0, 10, 20, 30):
            _metric_scene(f"{_name}, {_limit} steps", _hook, _limit, _by_ten(*_values))
    _metric_scene("too few values count", _hook, 10, _by_ten(0.5, 0.5, 0.5), min_steps=30)
    _metric_scene("enough values count", _hook, 10, _by_ten(0.5, 0.5, 0.5), min_steps=20)
    _metric_scene("no such metric", _hook, 10, _RISING, metric="n")
    _metric_scene("no directory", _hook, 10, None)


def _looking_scene(name: str, stop_at_look: int, trainings: Sequence[int], **cadence: Any) -> None:
    """Trainings with one hook that counts its looks, and stops at one of them."""

    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        looks: list[int] = []

        def should_stop() -> bool:
            looks.append(len(looks) + 1)
            return looks[-1] == stop_at_look

        est, result, told_each = made(lib, model_dir), {}, []
        with logged(result):
            hook = lib.experimental.make_early_stopping_hook(est, should_stop, **cadence)
            for steps in trainings:
                est.train(batches, hooks=[hook], steps=steps)
                told_each.append({**told(est), "looks": len(looks)})
        return {**result, "after each": told_each}

    SCENES[f"make_early_stopping_hook: {name}"] = run


for _every in (1, 3, 5):
    for _look in (
        (1, 2, 3) if _every == 1 else (1, 2, 3, 99)
    ):  # the original reads the counter beside the step, and misses some
        _cadence = {"run_every_secs": None, "run_every_steps": _every}
        _looking_scene(f"every {_every} steps, stops at look {_look}", _look, [STEPS], **_cadence)
_looking_scene("the same hook in two trainings", 99, [10, 6], run_every_secs=None, run_every_steps=4)
_looking_scene("stopped, and trained again", 2, [10, 6], run_every_secs=None, run_every_steps=4)
_looking_scene("every 0 steps", 3, [STEPS], run_every_secs=None, run_every_steps=0)
_looking_scene("every 0 seconds", 3, [STEPS], run_every_secs=0)
_looking_scene("every 60 seconds", 2, [STEPS])


def _checkpoint_step_scene(name: str, last_step: int, trainings: Sequence[int]) -> None:
    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        est, steps_after = made(lib, model_dir), []
        for steps in trainings:
            hook = lib.experimental.make_stop_at_checkpoint_step_hook(est, last_step)
            est.train(batches, hooks=[hook], steps=steps)
            steps_after.append(int(est.get_variable_value("global_step")))
        return {"steps": steps_after, "is a StopAtStepHook": isinstance(hook, v1.train.StopAtStepHook)}

    SCENES[f"make_stop_at_checkpoint_step_hook: {name}"] = run


_checkpoint_step_scene("before the end", 4, [10])
_checkpoint_step_scene("after the end", 20, [10])
_checkpoint_step_scene("long ago", 4, [10, 10])


def _mistake(name: str, call: Callable[[Any, Any], Any]) -> None:
    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        try:
            call(lib.experimental, made(lib, model_dir))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            return {"raised": kind.__name__, "text": str(error).partition(" Got: ")[0]}
        return {"raised": None}

    SCENES[f"mistake: {name}"] = run


_mistake("no Estimator", lambda lib, est: lib.make_early_stopping_hook(3, lambda: False))
_mistake("no function", lambda lib, est: lib.make_early_stopping_hook(est, 3))
_mistake("two cadences", lambda lib, est: lib.make_early_stopping_hook(est, bool, 60, 10))
_mistake("no cadence", lambda lib, est: lib.make_early_stopping_hook(est, bool, None, None))
_mistake("two cadences for a metric", lambda lib, est: lib.stop_if_higher_hook(est, "m", 1, run_every_steps=10))
_mistake("evaluated never", lambda lib, est: lib.InMemoryEvaluatorHook(est, once, every_n_iter=0))
_mistake("evaluated every None", lambda lib, est: lib.InMemoryEvaluatorHook(est, once, every_n_iter=None))
_mistake(
    "no steps of evaluation",
    lambda lib, est: est.train(batches, [lib.InMemoryEvaluatorHook(est, once, steps=0)], steps=1),
)
_mistake(
    "no hook of an evaluation",
    lambda lib, est: est.train(batches, [lib.InMemoryEvaluatorHook(est, once, hooks=[3])], steps=1),
)


def _in_memory_scene(name: str, trainings: Sequence[int], eval_name: str | None = None, **settings: Any) -> None:
    """Trainings with an evaluation inside: who is called when, and what stands in the event files."""

    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        calls: Calls = []
        est = made(lib, model_dir, calls)

        def counted() -> Any:
            calls.append("input_fn of the evaluation")
            return once()

        class Steps(v1.train.SessionRunHook):
            def after_run(self, run_context: Any, run_values: Any) -> None:
                calls.append("step")

        hook = lib.experimental.InMemoryEvaluatorHook(
            est, counted, name=eval_name, hooks=[SpyHook("spy", calls)], **settings
        )
        for steps in trainings:
            est.train(batches, hooks=[Steps(), hook], steps=steps)
        return {"calls": [_shown(call) for call in calls], "events": _events(est.eval_dir(eval_name))}

    SCENES[f"InMemoryEvaluatorHook: {name}"] = run


def _shown(call: Any) -> str:
    return call if isinstance(call, str) else " ".join(map(str, call[:2]))


def _events(directory: str) -> list[Any]:
    """What stands in the event files: the kind of each event, or step and numbers."""
    found: list[Any] = []
    for file in sorted(Path(directory).glob("events.*")):
        for event in v1.train.summary_iterator(str(file)):
            kind = event.WhichOneof("what")
            numbers = {value.tag: value.simple_value for value in event.summary.value}
            found.append([event.step, numbers] if kind == "summary" else kind)
    return found


_in_memory_scene("every 4 of 10 steps", [10], every_n_iter=4)
_in_memory_scene("the last step is one of its own", [6], every_n_iter=3)
_in_memory_scene("never but at both ends", [3])
_in_memory_scene("one batch, by name", [4], "held_out", steps=1, every_n_iter=2)
_in_memory_scene("the same hook in two trainings", [5, 3], every_n_iter=2)
