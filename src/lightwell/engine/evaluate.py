"""Evaluation: batches through the metrics, once over the data or for so many steps; then the metrics' values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell import events
from lightwell.engine.program import Program
from lightwell.engine.runner import Runner
from lightwell.errors import ModelDirError
from lightwell.failures.step import explained_end_of_data
from lightwell.hooks.base import NEVER, ScheduledHook
from lightwell.keys import GLOBAL_STEP
from lightwell.log import logger


def evaluation_hooks(
    program: Program, given: Sequence[Any], steps: int | None, read: Callable[[Any], Any]
) -> tuple[list[Any], ReadMetrics]:
    """All hooks of an evaluation, in the order in which `tf.estimator` calls them, and the one that has the result."""
    counter = [StopAfter(int(steps))] if steps is not None else []
    values = {} if program.evaluation is None else program.evaluation.values
    final = ReadMetrics(program, lambda: read(values))
    return [*given, *counter, *program.spec.evaluation_hooks, final], final


def evaluate(run: Runner, program: Program, final: ReadMetrics, events_dir: str) -> dict[str, Any]:
    """Runs an evaluation, writes its result for TensorBoard, and returns metric name to value, `global_step` last."""
    logger.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    started = time.time()
    try:
        run.start()
        checkpoint = run.restored
        can_write = not run.is_new or _for_tensorboard(program, lambda: events.write_graph(events_dir, program.graph))
        run.run_to_end()
    except BaseException as error:
        run.finish(error)
        raise
    run.finish()
    logger.info("Inference Time : %0.5fs", time.time() - started)
    logger.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    _report(program, final.result, events_dir if can_write else None, checkpoint)
    return final.result


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


class StopAfter(ScheduledHook):
    """Stops after so many batches, and logs how far it is."""

    keeps_to_context = True

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._log_every = 1 if steps <= 10 else steps // 10

    def next_look(self, count: int) -> int:
        """The next line to log, or the last batch."""
        return max(count + 1, min((count // self._log_every + 1) * self._log_every, self._steps))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs, and stops at the last."""
        if run_context.count % self._log_every == 0 or run_context.count == self._steps:
            logger.info("Evaluation [%d/%d]", run_context.count, self._steps)
        if run_context.count >= self._steps:
            run_context.request_stop()


class ReadMetrics(ScheduledHook):
    """Reads the metrics once all batches are in; the last hook, so that others' `end` comes first."""

    keeps_to_context = True

    def __init__(self, program: Program, read: Callable[[], dict[str, Any]]) -> None:
        self._program = program
        self._read = read
        self.result: dict[str, Any] = {}

    def next_look(self, count: int) -> int:
        """No batch."""
        return NEVER

    def end(self, session: Any) -> None:
        """Reads: metrics sorted by name, the step last."""
        try:
            found = self._read()
        except tf.errors.OutOfRangeError as error:
            raise explained_end_of_data(error, self._program) from None
        step = found.pop(GLOBAL_STEP)
        self.result = {**{name: found[name] for name in sorted(found)}, GLOBAL_STEP: step}
