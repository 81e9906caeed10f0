"""A run that is held: built once, run again and again with other weights or other edits.

Takes a `Model`, an `input_fn` and observers; gives, for each set of weights, the metrics of an evaluation, or nothing
where the mode is prediction: what was seen is the observers' affair. `input_fn` and `model_fn` are called once, the
session is used again where that can be, and the input starts from its beginning each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.checkpoints.restore import Source
from lightwell.edits.changes import Changes
from lightwell.engine.build import build
from lightwell.engine.evaluate import evaluate, read_metrics, task_of_evaluation
from lightwell.engine.program import Program
from lightwell.engine.runner import Runner
from lightwell.engine.sessions import Opened, Prepared, Sessions
from lightwell.estimator.endings import tell_of_batches
from lightwell.hooks.base import ScheduledHook
from lightwell.hooks.defaults import evaluation_hooks
from lightwell.hooks.read_metrics import ReadMetrics
from lightwell.hooks.stop_after import StopAfter
from lightwell.keys import ModeKeys
from lightwell.loops.task import Task
from lightwell.sight.finding import with_sight
from lightwell.spec import EstimatorSpec

if TYPE_CHECKING:
    from lightwell.estimator.verbs import Model


class HeldRun:
    """A program, and its session between two runs.

    Args:
        model: the model.
        mode: evaluation, or prediction.
        input_fn: gives the data.
        steps: how many batches to look at; None for all.
        hooks: who looks on.
        events_dir: where the events of an evaluation go; None for nowhere.
        changes: edits of the model.
        verb: who asked for it, as the log calls them.
    """

    def __init__(
        self,
        model: Model,
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
        self._own = [*(spec.evaluation_hooks if mode == ModeKeys.EVAL else spec.prediction_hooks)]
        self._program: Program = with_sight(program, [*hooks, *self._own], events_dir or model.model_dir)
        self._model, self._steps, self._given, self._events_dir = model, steps, hooks, events_dir
        self._waiting = _Waiting()
        self._verb, self._told = verb, False

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
            run = self._runner(Task((), {}), [*self._given, *counter, *self._own], weights, exact)
            self._look(run)
            self._tell(run)
            return {}
        final = ReadMetrics(lambda: read_metrics(run, program))
        hooks = evaluation_hooks(program.spec, self._given, self._steps, final)
        run = self._runner(task_of_evaluation(program), hooks, weights, exact)
        metrics = evaluate(run, program, final, self._events_dir)
        self._tell(run)
        return metrics

    def close(self) -> None:
        """Closes its session and hooks for good."""
        self._waiting.close()
        for hook in (*self._given, *self._own):
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
            sessions=self._waiting,
            prepared=Prepared(self._program, opened=self._waiting.opened, key=self._waiting.key, is_held=True),
        )

    def _tell(self, run: Runner) -> None:
        """Says once where there were no data, or less than asked for."""
        if not self._told:
            self._told = True
            tell_of_batches(self._verb, run.count, self._steps)

    def _look(self, run: Runner) -> None:
        try:
            run.start()
            run.run_to_end()
        except BaseException as error:
            run.finish(error)
            raise
        run.finish()


class _Waiting(Sessions):
    """Where the session of one program waits. If only a new one is fresh, it is closed, and opened anew for the next
    run: the graph with its loop stays, and so do the arrays of its input.

    Attributes:
        opened: the session, once there was one.
        key: set while it may be used as it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.opened: Opened | None = None
        self.key: Hashable = None

    def take(self, key: Hashable) -> Opened | None:
        """None: the runner is handed it."""
        return None

    def keep(self, key: Hashable, opened: Opened, generation: int) -> None:
        """Keeps it open."""
        self.key, self.opened = key, opened

    def let_go(self, opened: Opened) -> None:
        """Keeps it, closed as it is."""
        self.key, self.opened = None, opened

    def close(self) -> None:
        """Frees it."""
        if self.opened is not None:
            self.opened.free()
        self.key = self.opened = None
