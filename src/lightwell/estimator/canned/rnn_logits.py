"""The logits of a recurrent model: sequence columns, context at each step, recurrent layers, a last layer.

Owns `RNNLogits`, which builds them. Its layers have the paths `layers/sequence_features`, `layers/rnn_model/rnn` and
`layers/rnn_model/logits`; variables are named after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from lightwell.errors import WrongType
from lightwell.estimator.canned.columns import check_features
from lightwell.estimator.canned.rnn_cells import Recurrence
from lightwell.model.feature_columns.dense_features import DenseFeatures
from lightwell.model.feature_columns.sequence_features import SequenceFeatures

_v1 = tf.compat.v1
SCOPE = "rnn_model"
_LENGTHS = f"{SCOPE}/sequence_input_layer/sequence_length"


@dataclass(frozen=True)
class RNNLogits:
    """How the logits of a recurrent model come about.

    Attributes:
        where: the model, for errors.
        sequence_columns: columns of sequences.
        context_columns: dense columns, whose values each step of a sequence gets.
        recurrence: makes the recurrent layer.
        return_sequences: whether there are logits for each step.
    """

    where: str
    sequence_columns: tuple[Any, ...]
    context_columns: tuple[Any, ...]
    recurrence: Recurrence
    return_sequences: bool

    def __call__(self, features: Any, units: int) -> tuple[Any, Any]:
        """The logits, `[batch, units]` or `[batch, steps, units]`, and the mask of the steps that are no padding."""
        check_features(features, (*self.sequence_columns, *self.context_columns), self.where)
        features = self._sparse(features)
        inputs, lengths = SequenceFeatures(self.sequence_columns, name="sequence_features")(features)
        with _v1.name_scope(None):
            _v1.summary.histogram(_LENGTHS, lengths)
        if self.context_columns:
            context = DenseFeatures(self.context_columns, name="dense_features")(features)
            inputs = tf.concat([inputs, _at_each_step(context, tf.shape(inputs)[1])], axis=-1)
        mask = tf.sequence_mask(lengths, tf.shape(inputs)[1])
        with tf.name_scope(SCOPE):
            net = self.recurrence(self.return_sequences)(inputs, mask=mask)
            return keras.layers.Dense(units, name="logits")(net), mask

    def _sparse(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """The features, with ragged sequences as sparse ones: TensorFlow's columns read no others.

        Raises:
            WrongType: a sequence of numbers is dense, so that nothing tells how long it is.
        """
        converted = dict(features)
        for column in self.sequence_columns:
            for key in column.parse_example_spec:
                if isinstance(converted[key], tf.RaggedTensor):
                    converted[key] = converted[key].to_sparse()
                if hasattr(column, "normalizer_fn") and not isinstance(converted[key], tf.SparseTensor):
                    raise WrongType(
                        f"{self.where}: Input must be a SparseTensor: the feature {key!r} is dense, and the column "
                        f"{column.name!r} could not tell steps from padding. In input_fn, pass a ragged tensor, or "
                        "tf.sparse.from_dense(x), which leaves zeros out."
                    )
        return converted


def _at_each_step(context: Any, steps: Any) -> Any:
    return tf.tile(tf.expand_dims(context, 1), [1, steps, 1])
