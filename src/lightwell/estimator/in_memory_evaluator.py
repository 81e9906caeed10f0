"""`InMemoryEvaluatorHook`: evaluates a model during its training.

The weights are copied from the session of the training into a `RepeatedRun`; no checkpoint is written or read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, UsageError, WrongKind
from lightwell.estimator.arguments import check_place, checked_steps
from lightwell.estimator.core import Estimator
from lightwell.estimator.repeated_run import RepeatedRun
from lightwell.model.spec import HOOKS_OF_VERBS, checked_hooks
from lightwell.run.checkpoints.live import LiveWeights
from lightwell.run.hooks.base import ScheduledHook
from lightwell.run.inputs.call import check_input_fn

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
        UsageError: a number is not positive, or the Estimator trains in a cluster.
    """

    judges_each_step = True

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
            raise WrongKind(
                f"{_NAME}: `estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}. Hand it the "
                "Estimator that you train with this hook."
            )
        if every_n_iter is None or every_n_iter <= 0:
            raise UsageError(
                f"{_NAME}: invalid every_n_iter={every_n_iter}. Expected the number of training steps between two "
                "evaluations, at least 1."
            )
        check_input_fn(input_fn)
        config = estimator.config
        if config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
            raise UsageError(
                f"{_NAME}: InMemoryEvaluator supports only single machine (aka Local) setting, got "
                f"{config.num_worker_replicas} workers and {config.num_ps_replicas} parameter servers. Evaluate "
                "checkpoints instead, with train_and_evaluate."
            )
        self._estimator = estimator
        self._input_fn = input_fn
        self._steps = checked_steps(_NAME, steps)
        self._eval_hooks = checked_hooks(hooks, f"{_NAME}: hooks", HOOKS_OF_VERBS)
        self._name = name
        self._every = math.ceil(every_n_iter)
        self._left = 0  # steps of this run until the next evaluation
        self._evaluation: RepeatedRun | None = None
        self._weights: LiveWeights | None = None
        self.metrics: dict[str, Any] = {}

    def begin(self) -> None:
        """Builds the model for evaluation, in a graph of its own."""
        check_place("evaluate", self._estimator.config.eval_distribute, self._estimator.config)
        self._evaluation = RepeatedRun(
            self._estimator._lightwell_model(),
            ModeKeys.EVAL,
            self._input_fn,
            self._steps,
            self._eval_hooks,
            self._estimator.eval_dir(self._name),
            verb=_NAME,
        )
        if self._evaluation.spec.scaffold.init_fn is not None:
            self.close()
            raise ModelFnError(
                f"{_NAME}: InMemoryEvaluator does not support custom init_fn, and the scaffold of the evaluation has "
                "one. The weights are those of the training: leave init_fn out where mode is ModeKeys.EVAL."
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
        """Evaluates the last weights, and closes the evaluation: not every session calls `close`."""
        self._evaluate()
        self.close()

    def close(self) -> None:
        """Frees the evaluation, also after an error."""
        if self._evaluation is not None:
            self._evaluation.close()
        self._evaluation = self._weights = None

    def _evaluate(self) -> None:
        weights = self._weights
        if self._evaluation is not None and weights is not None:
            self.metrics = self._evaluation.run(weights)
        self._left = self._every
