"""`InMemoryEvaluatorHook`: evaluates while a model is trained, with the weights that it has at that moment.

Owns the hook and the evaluation that it holds: built once, its session used again where that can be, the weights copied
from the training's. No checkpoint is written or read for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.checkpoints.live import LiveWeights
from lightwell.engine.build import build
from lightwell.engine.evaluate import evaluate, evaluation_hooks, read_metrics
from lightwell.engine.runner import Runner
from lightwell.engine.sessions import Opened, Prepared, Sessions
from lightwell.engine.task import task_of_evaluation
from lightwell.errors import UsageError, WrongType
from lightwell.estimator.arguments import check_place, check_steps
from lightwell.estimator.core import Estimator
from lightwell.hooks.base import ScheduledHook
from lightwell.hooks.read_metrics import ReadMetrics
from lightwell.inputs.call import check_input_fn
from lightwell.keys import ModeKeys
from lightwell.sight.finding import with_sight
from lightwell.spec import checked_hooks

if TYPE_CHECKING:
    from lightwell.estimator.verbs import Model

_NAME = "InMemoryEvaluatorHook"


class InMemoryEvaluatorHook(ScheduledHook):
    """Evaluates before the first step of a training, every so many steps, and after the last.

    The numbers are those that `estimator.evaluate` would give of a checkpoint written at that step. `input_fn` and
    `model_fn` are called once for each training. Events go to `estimator.eval_dir(name)`.

    Args:
        estimator: the Estimator that is trained with it.
        input_fn: gives the evaluation data.
        steps: how many batches to look at; None for all.
        hooks: `SessionRunHook`s around each batch of the evaluation.
        name: keeps several evaluations apart: their events go to `eval_<name>/`.
        every_n_iter: how many steps of training lie between two evaluations.

    Attributes:
        metrics: what the newest evaluation gave; empty before the first.

    Raises:
        WrongType: an argument is of the wrong type.
        UsageError: a number is not positive.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise WrongType(
                f"{_NAME}: `estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}. Hand it the "
                "Estimator that you train with this hook."
            )
        if every_n_iter is None or every_n_iter <= 0:
            raise UsageError(
                f"{_NAME}: invalid every_n_iter={every_n_iter}. Expected the number of training steps between two "
                "evaluations, at least 1."
            )
        check_steps("steps", steps)
        check_input_fn(input_fn)
        self._estimator = estimator
        self._input_fn = input_fn
        self._steps = steps
        self._given = checked_hooks(hooks, f"{_NAME}: hooks")
        self._name = name
        self._every = math.ceil(every_n_iter)
        self._left = 0  # steps of this run until the next evaluation
        self._evaluation: _HeldEvaluation | None = None
        self._weights: LiveWeights | None = None
        self.metrics: dict[str, Any] = {}

    def begin(self) -> None:
        """Builds the model for evaluation, in a graph of its own."""
        check_place("evaluate", self._estimator.config.eval_distribute, self._estimator.config)
        self._evaluation = _HeldEvaluation(
            self._estimator._model(), self._input_fn, self._steps, self._given, self._estimator.eval_dir(self._name)
        )

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluates the weights that the training starts from."""
        self._weights = LiveWeights(session)
        self._evaluate()

    def next_look(self, count: int) -> int:
        """The step of the next evaluation."""
        return count + max(self._left, 1) * max(self.stride, 1)

    def passed(self, steps: int) -> None:
        """Steps without an evaluation."""
        self._left -= steps

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluates, if it is time."""
        self._left -= 1
        if self._left <= 0:
            self._evaluate()

    def end(self, session: Any) -> None:
        """Evaluates the weights that the training ends with."""
        self._evaluate()

    def close(self) -> None:
        """Frees the evaluation, also after an error."""
        if self._evaluation is not None:
            self._evaluation.close()
        self._evaluation = self._weights = None

    def _evaluate(self) -> None:
        if self._evaluation is not None and self._weights is not None:
            self.metrics = self._evaluation.run(self._weights)
        self._left = self._every


class _HeldEvaluation:
    """The evaluation of one model over given data, to be run again and again."""

    def __init__(self, model: Model, input_fn: Any, steps: int | None, hooks: Sequence[Any], events_dir: str) -> None:
        program = build(model.recipe(ModeKeys.EVAL, input_fn, untrained=False))
        self._program = with_sight(program, [*hooks, *program.spec.evaluation_hooks], events_dir)
        self._model, self._steps, self._given, self._events_dir = model, steps, hooks, events_dir
        self._waiting = _Waiting()

    def run(self, weights: LiveWeights) -> dict[str, Any]:
        """Evaluates weights; metric name to value."""
        program, config = self._program, self._model.config
        final = ReadMetrics(lambda: read_metrics(run, program))
        run = Runner(
            program,
            task_of_evaluation(program),
            evaluation_hooks(program, self._given, self._steps, final),
            self._model.plan(lambda: weights, config.evaluation_master),
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
