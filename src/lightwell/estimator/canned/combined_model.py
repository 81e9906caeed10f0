"""The `model_fn` of a wide and deep model: two parts, added up, each with an optimizer of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.estimator.canned.dnn_logits import SCOPE as DNN_SCOPE
from lightwell.estimator.canned.dnn_logits import DNNLogits
from lightwell.estimator.canned.linear import linear_rate
from lightwell.estimator.canned.linear_logits import SCOPE as LINEAR_SCOPE
from lightwell.estimator.canned.linear_logits import LinearLogits, linear_part
from lightwell.estimator.canned.optimizers.base import Rule
from lightwell.estimator.canned.optimizers.choose import optimizer_for, step_by
from lightwell.estimator.canned.spec import spec_of
from lightwell.estimator.canned.summaries import show_layer, shown_scope
from lightwell.foreign.private_tf import compute_as_written
from lightwell.model.spec import EstimatorSpec

_v1 = tf.compat.v1
_HIGHEST_LINEAR_RATE = 0.005
_DNN_RATE = 0.001  # whichever optimizer is named; in a model of layers alone, SGD by name has another


@dataclass(frozen=True)
class CombinedModel:
    """The `model_fn`.

    Attributes:
        face: whose names and optimizers count.
        where: the model, for errors.
        head: the head.
        linear: the linear part; None if there is none.
        linear_optimizer: what a user gave to train it.
        dnn: the deep part; None if there is none.
        dnn_optimizer: what a user gave to train that.
        partitioner: splits the weights of the columns.
    """

    face: Face
    where: str
    head: Any
    linear: LinearLogits | None
    linear_optimizer: Any
    dnn: DNNLogits | None
    dnn_optimizer: Any
    partitioner: Any

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        units, logits = self.head.logits_dimension, []
        if self.dnn is not None:
            with _v1.variable_scope(DNN_SCOPE):
                logits.append(self.dnn(features, mode, units))
        if self.linear is not None:
            with _v1.variable_scope(LINEAR_SCOPE, partitioner=self.partitioner):
                logits.append(linear_part(self.linear, features, units)[0])
                show_layer(shown_scope(self.face).rstrip("/"), logits[-1])
        return spec_of(
            self.head,
            features=features,
            mode=mode,
            labels=labels,
            logits=logits[0] if len(logits) == 1 else _added(*logits),
            train_op_fn=self._train_op,
        )

    def _train_op(self, loss: Any) -> Any:
        """Both parts take a step; the first one is counted."""
        trainable, ops, counter = _v1.trainable_variables(), [], None
        of_linear = [one for one in trainable if one.op.name.startswith(f"{LINEAR_SCOPE}/")]
        if self.dnn is not None:
            optimizer = optimizer_for(
                self.face, self.dnn_optimizer, self.where, rate=_DNN_RATE, argument="dnn_optimizer"
            )
            known = {id(one) for one in of_linear}
            ops.append(step_by(optimizer, loss, [one for one in trainable if id(one) not in known]))
        if self.linear is not None:
            rate = linear_rate(len(self.linear.feature_columns), _HIGHEST_LINEAR_RATE)
            optimizer = optimizer_for(
                self.face, self.linear_optimizer, self.where, rate=rate, argument="linear_optimizer"
            )
            if ops:  # the step is counted already
                counter = optimizer.own_counter() if isinstance(optimizer, Rule) else False
            ops.append(step_by(optimizer, loss, of_linear, counter))
        return tf.group(*ops)


def _added(deep: Any, wide: Any) -> Any:
    """Both parts together, the same to the last bit whether a tap reads the parts or not."""
    for part in (deep, wide):
        compute_as_written(part.op)
    return tf.add(deep, wide, name="logits")
