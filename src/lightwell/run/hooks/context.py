"""`RunContext`: the argument of hooks around each step: TensorFlow's context with a view of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys


@dataclass(frozen=True, eq=False)
class ModelView:
    """The tensors of a built model that hooks may read, as `input_fn` and `model_fn` returned them."""

    mode: str
    features: Any
    labels: Any
    spec: Any
    layers: Any = None


class RunContext(tf.compat.v1.train.SessionRunContext):
    """The context of one step.

    Beside TensorFlow's `original_args`, `session`, `request_stop()` and `stop_requested`, it shows the model's tensors:
    `features`, `labels`, `layers`, `predictions`, `loss`, `spec`. They are symbolic; fetch them with `SessionRunArgs`.

    Attributes:
        count: how far the run is: the global step in training, else the batches; in `after_run`, this step included.
        count_before: the same before this step.
        batch: which step of this run it is, from 1.
        loss_value: in training, in `after_run`, the loss of the step that just ran.
        nan_is_expected: in training, set in `after_run` by a hook that stops the run because of a NaN it saw, which is
            then no error.
        is_at_goal: set in `after_run` by the hook that knows how far to train, once that is reached.
    """

    def __init__(
        self,
        original_args: Any,
        session: Any,
        model: ModelView,
        count: int,
        batch: int,
        fetch: Callable[[Any], Any],
    ) -> None:
        super().__init__(original_args=original_args, session=session)
        self._model = model
        self._fetch = fetch
        self.count = self.count_before = count
        self.batch = batch
        self.loss_value: Any = None
        self.nan_is_expected = self.is_at_goal = False
        self._is_withdrawn = False

    @property
    def stop_requested(self) -> bool:
        """Whether a hook requested a stop after this step."""
        return bool(super().stop_requested) and not self._is_withdrawn

    def withdraw_stop(self) -> None:
        """Cancels the requests to stop so far."""
        self._is_withdrawn = True

    def fetch(self, fetches: Any) -> Any:
        """Reads a structure of tensors in a call of its own; they must not depend on a step."""
        return self._fetch(fetches)

    @property
    def global_step(self) -> int | None:
        """In training, the step counter; in `after_run` it counts the step that just ran."""
        return self.count if self._model.mode == ModeKeys.TRAIN else None

    @property
    def mode(self) -> str:
        """The mode that is running, a `ModeKeys` value."""
        return self._model.mode

    @property
    def features(self) -> Any:
        """The features that `input_fn` returned."""
        return self._model.features

    @property
    def labels(self) -> Any:
        """The labels that `input_fn` returned."""
        return self._model.labels

    @property
    def spec(self) -> Any:
        """The `EstimatorSpec` that `model_fn` returned."""
        return self._model.spec

    @property
    def layers(self) -> Any:
        """The outputs of the layers that `model_fn` called, by name."""
        return self._model.layers

    @property
    def predictions(self) -> Any:
        """The predictions that `model_fn` declared."""
        return self._model.spec.predictions

    @property
    def loss(self) -> Any:
        """The loss that `model_fn` declared."""
        return self._model.spec.loss
