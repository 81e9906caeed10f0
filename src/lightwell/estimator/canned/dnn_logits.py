"""The logits of a deep model: columns side by side, hidden layers, and a last layer without activation.

Owns `DNNLogits`, which builds them, below the scope `dnn` of its caller's making. Each layer has a path:
`layers/dnn/hiddenlayer_0`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.base.public_names import Face
from lightwell.errors import WrongKind
from lightwell.estimator.canned.columns import check_features
from lightwell.estimator.canned.dense_columns import dense_columns
from lightwell.estimator.canned.summaries import show_layer, shown_scope
from lightwell.model import layers

_v1 = tf.compat.v1
SCOPE = "dnn"
_MOMENTUM = 0.999


@dataclass(frozen=True)
class DNNLogits:
    """How the logits of a deep model come about.

    Attributes:
        where: the model, for errors.
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        activation_fn: what comes after each hidden layer.
        dropout: the share of values that is dropped while training.
        batch_norm: whether to normalise after each hidden layer.
        input_layer_partitioner: splits the weights of the columns.
        face: whose summaries are written.
    """

    where: str
    hidden_units: tuple[int, ...]
    feature_columns: tuple[Any, ...]
    activation_fn: Callable[..., Any] | None
    dropout: float | None
    batch_norm: bool
    input_layer_partitioner: Any = None
    face: Face = "v2"

    def __call__(self, features: Any, mode: str, units: int) -> Any:
        """The logits, `[batch, units]`."""
        check_features(features, self.feature_columns, self.where)
        training, scope = mode == ModeKeys.TRAIN, shown_scope(self.face)
        with _v1.variable_scope("input_from_feature_columns", partitioner=self.input_layer_partitioner):
            net = dense_columns(features, self.feature_columns, self.face, self.where)
        for number, size in enumerate(self.hidden_units):
            name = f"hiddenlayer_{number}"
            net = layers.Dense(size, self.activation_fn, kernel_initializer=_glorot(), name=name)(net)
            with _inside(name):
                if self.dropout is not None and training:
                    net = layers.Dropout(rate=self.dropout, name="dropout")(net, training=True)
                if self.batch_norm:
                    normalize = layers.BatchNormalization(momentum=_MOMENTUM, name=f"batchnorm_{number}")
                    net = normalize(net, training=training)
            show_layer(f"{scope}{name}", net)
        logits = layers.Dense(units, None, kernel_initializer=_glorot(), name="logits")(net)
        show_layer(f"{scope}logits", logits)
        return logits


def checked_units(hidden_units: Any, where: str, argument: str = "hidden_units") -> tuple[int, ...]:
    """The sizes of the hidden layers; an empty list for a model whose logits come from the columns at once.

    Raises:
        UsageError: they are no list, or one is no positive number.
    """
    if not isinstance(hidden_units, Iterable) or isinstance(hidden_units, str | Mapping):
        raise WrongKind(
            f"{where}: {argument} must be given: a list with the number of units of each hidden layer, such as "
            f"[64, 32]; got {hidden_units!r}. For a model without hidden layers, pass []."
        )
    sizes = list(hidden_units)
    for units in sizes:
        if isinstance(units, bool) or not hasattr(units, "__index__") or int(units) < 1:
            swapped = " Columns go to feature_columns." if hasattr(units, "name") else ""
            raise WrongKind(
                f"{where}: {argument} must hold positive whole numbers, the number of units of each hidden layer, such "
                f"as [64, 32]; got {units!r} ({type(units).__name__}) in {sizes!r}.{swapped}"
            )
    return tuple(int(units) for units in sizes)


def _glorot() -> Any:
    return _v1.glorot_uniform_initializer()


@contextlib.contextmanager
def _inside(name: str) -> Any:
    """The variable scope of an existing layer."""
    with _v1.variable_scope(name, auxiliary_name_scope=False) as scope, tf.name_scope(scope.original_name_scope):
        yield
