"""A repeated run: a program that is built once, and run repeatedly with other weights or other edits.

Takes a definition, an `input_fn` and hooks; returns, for each set of weights, the metrics of an evaluation, or nothing
in prediction, where the hooks read the values. `input_fn` and `model_fn` are called once, the session is reused where
that is possible, and the input starts from its beginning each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.base.keys import ModeKeys
from lightwell.estimator.input_warnings import warn_of_missing_batches
from lightwell.inside.edits.changes import Changes
from lightwell.inside.watches.hook_paths import with_paths
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.restore import Source
from lightwell.run.engine.build import build
from lightwell.run.engine.evaluate import evaluate, read_metrics, task_of_evaluation
from lightwell.run.engine.program import Program
from lightwell.run.engine.runner import Runner
from lightwell.run.engine.session_source import PinnedSource
from lightwell.run.hooks.base import ScheduledHook
from lightwell.run.hooks.defaults import evaluation_hooks
from lightwell.run.hooks.read_metrics import ReadMetrics
from lightwell.run.hooks.stop_after import StopAfter
from lightwell.run.loops.task import Task

if TYPE_CHECKING:
    from lightwell.estimator.verbs import ModelDefinition


class RepeatedRun:
    """A program and its pinned session.

    Args:
        model: the model.
        mode: evaluation, or prediction.
        input_fn: gives the data.
        steps: how many batches to run; None for all.
        hooks: the hooks.
        events_dir: where the events of an evaluation go; None for nowhere.
        changes: edits of the model.
        verb: the verb that runs it, for the log.
    """

    def __init__(
        self,
        model: ModelDefinition,
        mode: str,
        input_fn: Callable[..., Any],
        steps: int | None,
        hooks: Sequence[Any],
        events_dir: str | None,
        changes: Changes | None = None,
        verb: str = "evaluate",
    ) -> None:
        recipe = model.recipe(mode, input_fn, False, () if changes is None else changes.gate)
        program = build(model.on_all_devices(recipe))
        program = program if changes is None else changes.finished(program)
        spec = program.spec
        self._spec_hooks = [*(spec.evaluation_hooks if mode == ModeKeys.EVAL else spec.prediction_hooks)]
        self._program: Program = with_paths(program, [*hooks, *self._spec_hooks], events_dir or model.model_dir)
        self._model, self._steps, self._hooks, self._events_dir = model, steps, hooks, events_dir
        self._source = PinnedSource()
        self._verb, self._has_warned = verb, False

    @property
    def spec(self) -> EstimatorSpec:
        """What `model_fn` returned."""
        return self._program.spec

    def run(self, weights: Source | None, exact: bool = False) -> dict[str, Any]:
        """Runs over the data with weights of a checkpoint or of a session; gives metric name to value.

        Args:
            weights: the weights.
            exact: whether it must be that checkpoint; else, if it is damaged, an older one will do.
        """
        program = self._program
        if program.mode != ModeKeys.EVAL:
            counter = [] if self._steps is None else [StopAfter(self._steps)]
            run = self._runner(Task((), {}), [*self._hooks, *counter, *self._spec_hooks], weights, exact)
            self._run_all(run)
            self._warn_once(run)
            return {}
        final = ReadMetrics(lambda: read_metrics(run, program))
        hooks = evaluation_hooks(program.spec, self._hooks, self._steps, final)
        run = self._runner(task_of_evaluation(program), hooks, weights, exact)
        metrics = evaluate(run, program, final, self._events_dir)
        self._warn_once(run)
        return metrics

    def close(self) -> None:
        """Closes its session and hooks for good."""
        self._source.close()
        for hook in (*self._hooks, *self._spec_hooks):
            if isinstance(hook, ScheduledHook):
                hook.close()
        self._program.inputs.close()

    def _runner(self, task: Task, hooks: Sequence[Any], weights: Source | None, exact: bool) -> Runner:
        config = self._model.config
        return Runner(
            self._program,
            task,
            hooks,
            self._model.plan(lambda: weights, config.evaluation_master, exact),
            config.fuse_steps,
            jit_compile=config.jit_compile,
            source=self._source,
        )

    def _warn_once(self, run: Runner) -> None:
        """Warns once where the input had fewer batches than requested."""
        if not self._has_warned:
            self._has_warned = True
            warn_of_missing_batches(self._verb, run.count, self._steps)

    def _run_all(self, run: Runner) -> None:
        try:
            run.start()
            run.run_to_end()
        except BaseException as error:
            run.finish(error)
            raise
        run.finish()
