"""`_Head`, the base of heads in TensorFlow 1, for packages that write heads of their own.

It computes nothing: a head of TensorFlow 1 brings its loss, metrics and spec along. Also `LossSpec` and `summary_key`,
which such heads import beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn


class LossSpec(NamedTuple):
    """What `create_loss` of a head returns."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class Head:
    """Base of heads: derive from it and write all four members."""

    @property
    def name(self) -> str:
        """The head's name, for the names of its metrics."""
        return _missing(self, "name")

    @property
    def logits_dimension(self) -> int:
        """How many logits the head needs per example."""
        return _missing(self, "logits_dimension")

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """The loss of a batch."""
        return _missing(self, "create_loss")

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The `EstimatorSpec` of a model with this head."""
        return _missing(self, "create_estimator_spec")


def _missing(head: Head, member: str) -> NoReturn:
    raise NotImplementedError(
        f"{type(head).__name__} is a head without `{member}`: its base class leaves that to it. Write it in "
        f"{type(head).__name__}."
    )


def summary_key(head_name: str | None, key: str) -> str:
    """The name of a head's metric: `loss/my_head`."""
    return f"{key}/{head_name}" if head_name else key
