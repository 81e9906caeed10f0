"""Evaluation: batches through the metrics, once over the data or for so many steps; then the metrics' values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP
from lightwell.base.log import logger
from lightwell.errors import ModelDirError
from lightwell.run import events
from lightwell.run.engine.program import Program
from lightwell.run.engine.runner import Runner
from lightwell.run.failures.step import explained_end_of_data
from lightwell.run.hooks.read_metrics import ReadMetrics
from lightwell.run.loops.task import Task


def task_of_evaluation(program: Program) -> Task:
    """Batches that go into the metrics."""
    update = None if program.evaluation is None else program.evaluation.update
    return Task((update,), [update])


def read_metrics(run: Runner, program: Program) -> dict[str, Any]:
    """The values of the metrics, and the global step.

    Raises:
        OutOfRangeError: a value needs another batch.
    """
    try:
        return run.fetch({} if program.evaluation is None else program.evaluation.values)
    except tf.errors.OutOfRangeError as error:
        raise explained_end_of_data(error, program) from None


def evaluate(run: Runner, program: Program, final: ReadMetrics, events_dir: str | None) -> dict[str, Any]:
    """Runs an evaluation, writes its result for TensorBoard, and returns metric name to value, `global_step` last.

    Without a directory for events nothing is written, and nothing said: it is one of many.
    """
    tell = logger.debug if events_dir is None else logger.info
    tell("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    started = time.time()
    try:
        run.start()
        checkpoint = run.restored
        can_write = events_dir is not None and (not run.is_new or _write_graph(program, events_dir))
        run.run_to_end()
    except BaseException as error:
        run.finish(error)
        raise
    run.finish()
    tell("Inference Time : %0.5fs", time.time() - started)
    tell("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    if events_dir is not None:
        _report(program, final.result, events_dir if can_write else None, checkpoint)
    return final.result


def _write_graph(program: Program, events_dir: str) -> bool:
    return _for_tensorboard(program, lambda: events.write_graph(events_dir, program.graph))


def _for_tensorboard(program: Program, write: Callable[[], None]) -> bool:
    """Writes events, or says that it cannot be done: what an evaluation is for is its result."""
    try:
        with program.graph.as_default():  # TensorFlow makes event writers only where eager execution is off
            write()
    except ModelDirError as error:
        logger.warning("evaluate: %s The metrics are returned all the same.", error.strerror)
        return False
    return True


def _report(program: Program, result: dict[str, Any], events_dir: str | None, checkpoint: str | None) -> None:
    step = int(result[GLOBAL_STEP])
    shown = ", ".join(f"{name} = {value!s}" for name, value in sorted(result.items()))
    logger.info("Saving dict for global step %d: %s", step, shown)
    if events_dir is not None:
        _for_tensorboard(program, lambda: events.write_metrics(events_dir, result, step, checkpoint))
    if checkpoint:
        logger.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint)
