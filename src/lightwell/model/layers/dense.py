"""`dense`: each output a weighted sum of the last axis of the input."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.layers import identifiers
from lightwell.model.layers.base import Layer
from lightwell.model.layers.functional import functional
from lightwell.model.layers.identifiers import ZEROS
from lightwell.model.layers.input_spec import InputSpec
from lightwell.model.layers.settings import whole_number


class Dense(Layer):
    """`activation(inputs @ kernel + bias)` over the last axis; leading axes are kept.

    Args:
        units: the size of the output's last axis.
        activation: a function or its name; `None` for none.
        use_bias: whether to add a bias.
        kernel_initializer: `None` for the variable scope's initializer, which is Glorot uniform unless set.
        bias_initializer: zeros unless set.
        kernel_regularizer, bias_regularizer: functions from a variable to a loss.
        activity_regularizer: a function from the output to a loss, divided by the batch size.
        kernel_constraint, bias_constraint: functions that optimizers apply to a variable after updating it.
        trainable: whether the variables are trained.
        name: the variable scope.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = whole_number(units, "units", type(self).__name__, smallest=0)
        self.activation = identifiers.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = identifiers.regularizer(kernel_regularizer)
        self.bias_regularizer = identifiers.regularizer(bias_regularizer)
        self.kernel_constraint = identifiers.constraint(kernel_constraint)
        self.bias_constraint = identifiers.constraint(bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        if not tf.as_dtype(self.dtype or tf.float32).is_floating:
            raise WrongType(
                f"Dense layer '{self.name}': expected inputs of a floating-point dtype, got {self.dtype}. "
                "Convert them first: tf.cast(inputs, tf.float32)."
            )
        last = self._last_dimension(tf.TensorShape(input_shape))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            [last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if inputs.dtype.base_dtype != self.dtype:
            inputs = tf.cast(inputs, self.dtype)
        outputs = self._weigh(inputs)
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = tf.TensorShape(input_shape).with_rank_at_least(2)
        self._last_dimension(shape)
        return shape[:-1].concatenate(self.units)

    def _weigh(self, inputs: Any) -> Any:
        if isinstance(inputs, tf.SparseTensor):
            return tf.sparse.sparse_dense_matmul(inputs, tf.convert_to_tensor(self.kernel))
        rank = inputs.shape.rank
        if rank is None or rank == 2:
            return tf.matmul(inputs, self.kernel)
        outputs = tf.tensordot(inputs, self.kernel, [[rank - 1], [0]])
        outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        return outputs

    def _last_dimension(self, shape: Any) -> int:
        last = None if shape.rank is None else shape.as_list()[-1]
        if last is None:
            raise UsageError(
                f"Dense layer '{self.name}': the last dimension of its inputs must be known, as the "
                f"kernel depends on it; got shape {shape}. Set it: inputs = tf.ensure_shape(inputs, [None, size])."
            )
        return int(last)


dense = functional(Dense, "dense")
