"""An evaluation that is built once and run again and again: with the weights of the moment, with other edits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.checkpoints.restore import Source
from lightwell.edits.changes import Changes
from lightwell.engine.build import build
from lightwell.engine.evaluate import evaluate, evaluation_hooks, read_metrics
from lightwell.engine.runner import Runner
from lightwell.engine.sessions import Opened, Prepared, Sessions
from lightwell.engine.task import task_of_evaluation
from lightwell.hooks.base import ScheduledHook
from lightwell.hooks.read_metrics import ReadMetrics
from lightwell.keys import ModeKeys
from lightwell.sight.finding import with_sight

if TYPE_CHECKING:
    from lightwell.estimator.verbs import Model


class HeldEvaluation:
    """The evaluation of one model over given data.

    Args:
        model: the model.
        input_fn: gives the data; it is called once.
        steps: how many batches to look at; None for all.
        hooks: `SessionRunHook`s around each batch.
        events_dir: where events go; None for nowhere, without a word in the log.
        changes: edits of the model.
    """

    def __init__(
        self,
        model: Model,
        input_fn: Any,
        steps: int | None,
        hooks: Sequence[Any],
        events_dir: str | None,
        changes: Changes | None = None,
    ) -> None:
        program = build(model.recipe(ModeKeys.EVAL, input_fn, False, () if changes is None else changes.gate))
        program = program if changes is None else changes.finished(program)
        self._program = with_sight(program, [*hooks, *program.spec.evaluation_hooks], events_dir or "")
        self._model, self._steps, self._given, self._events_dir = model, steps, hooks, events_dir
        self._waiting = _Waiting()

    def run(self, find_weights: Callable[[], Source | None], exact: bool = False) -> dict[str, Any]:
        """Evaluates weights; metric name to value."""
        program, config = self._program, self._model.config
        final = ReadMetrics(lambda: read_metrics(run, program))
        run = Runner(
            program,
            task_of_evaluation(program),
            evaluation_hooks(program, self._given, self._steps, final),
            self._model.plan(find_weights, config.evaluation_master, exact),
            config.fuse_steps,
            sessions=self._waiting,
            prepared=Prepared(program, opened=self._waiting.opened, key=self._waiting.key, is_held=True),
        )
        return evaluate(run, program, final, self._events_dir)

    def close(self) -> None:
        """Closes its session and hooks for good."""
        self._waiting.close()
        for hook in (*self._given, *self._program.spec.evaluation_hooks):
            if isinstance(hook, ScheduledHook):
                hook.close()
        self._program.inputs.close()


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
