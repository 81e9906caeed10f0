"""Evaluation: batches through the metrics, once over the data or for so many steps; then the metrics' values."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell import events
from lightwell.engine.hooked_session import END_OF_INPUT, HookedSession
from lightwell.engine.pool import WarmRun
from lightwell.engine.program import EvalOps, Program
from lightwell.engine.session import SessionPlan
from lightwell.engine.step_errors import explained_end_of_data
from lightwell.errors import ModelDirError
from lightwell.hooks.base import SessionRunHook
from lightwell.keys import GLOBAL_STEP
from lightwell.log import logger


def evaluate(
    program: Program,
    *,
    steps: int | None,
    hooks: Sequence[Any],
    events_dir: str,
    plan: SessionPlan,
) -> dict[str, Any]:
    """Runs an evaluation, writes its result for TensorBoard, and returns metric name to value, `global_step` last."""
    ops = _ops_of(program)
    can_write = _write_graph(program, events_dir)
    counter = [_CountEvaluations(int(steps))] if steps is not None else []
    final = _ReadMetrics(program, ops.values)
    run = HookedSession(program, [*hooks, *counter, *program.spec.evaluation_hooks, final], plan)

    def batches() -> None:
        with contextlib.suppress(*END_OF_INPUT):
            while not run.should_stop:
                run.step([ops.update])

    _run_through(run, batches)
    _report(program, final.result, events_dir if can_write else None, run.restored)
    return final.result


def evaluate_warm(run: WarmRun, *, steps: int | None, events_dir: str) -> dict[str, Any]:
    """The same on a warm program, where nobody looks on."""
    program = run.warm.program
    ops = _ops_of(program)
    can_write = not run.warm.is_new or _write_graph(program, events_dir)
    result: dict[str, Any] = {}

    def batches() -> None:
        with contextlib.suppress(*END_OF_INPUT):
            _update(run, ops, steps)
        try:
            result.update(_in_order(run.step(ops.values)))
        except tf.errors.OutOfRangeError as error:
            raise explained_end_of_data(error, program) from None

    _run_through(run, batches)
    _report(program, result, events_dir if can_write else None, run.restored)
    return result


def _run_through(run: HookedSession | WarmRun, batches: Callable[[], None]) -> None:
    """Starts a run, lets it go to the end of its batches, and finishes it."""
    logger.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    started = time.time()
    try:
        run.start()
        batches()
    except BaseException as error:
        run.finish(error)
        raise
    run.finish()
    logger.info("Inference Time : %0.5fs", time.time() - started)
    logger.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))


def _ops_of(program: Program) -> EvalOps:
    if program.evaluation is None:
        raise RuntimeError("A program of another mode was given to an evaluation.")
    return program.evaluation


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


def _update(run: WarmRun, ops: EvalOps, steps: int | None) -> None:
    done, last = 0, math.inf if steps is None else int(steps)
    log_every = None if steps is None else _log_cadence(int(steps))
    while done < last:
        until_log = last - done if log_every is None else min(log_every - done % log_every, last - done)
        done += run.update(ops.update, until_log)
        if log_every and (done % log_every == 0 or done == last):
            logger.info("Evaluation [%d/%d]", done, last)


def _log_cadence(steps: int) -> int:
    return 1 if steps <= 10 else steps // 10


def _in_order(read: dict[str, Any]) -> dict[str, Any]:
    """Metrics sorted by name, the step last."""
    return {**{name: read[name] for name in sorted(read) if name != GLOBAL_STEP}, GLOBAL_STEP: read[GLOBAL_STEP]}


def _report(program: Program, result: dict[str, Any], events_dir: str | None, checkpoint: str | None) -> None:
    step = int(result[GLOBAL_STEP])
    shown = ", ".join(f"{name} = {value!s}" for name, value in sorted(result.items()))
    logger.info("Saving dict for global step %d: %s", step, shown)
    if events_dir is not None:
        _for_tensorboard(program, lambda: events.write_metrics(events_dir, result, step, checkpoint))
    if checkpoint:
        logger.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint)


class _CountEvaluations(SessionRunHook):
    """Stops after `steps` batches, and logs how far it is."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._log_every = _log_cadence(steps)
        self._done = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._done = 0  # metrics start over in a new session, and so must the count

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._done += 1
        if self._done % self._log_every == 0 or self._done == self._steps:
            logger.info("Evaluation [%d/%d]", self._done, self._steps)
        if self._done >= self._steps:
            run_context.request_stop()


class _ReadMetrics(SessionRunHook):
    """Reads the metrics once all batches are in; the last hook, so that others' `end` comes first."""

    def __init__(self, program: Program, values: dict[str, Any]) -> None:
        self._program = program
        self._values = values
        self.result: dict[str, Any] = {}

    def end(self, session: Any) -> None:
        try:
            self.result = _in_order(session.run(self._values))
        except tf.errors.OutOfRangeError as error:
            raise explained_end_of_data(error, self._program) from None
