"""`batch_normalization`: each channel brought to mean `beta` and deviation `gamma`.

Owns `BatchNormalization`: its settings, its variables, and the choice between TensorFlow's fused operation (images and
volumes) and the one written out (`batch_statistics.py`). The moving averages are updated by operations in
`GraphKeys.UPDATE_OPS`, which the training step must run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.layers import identifiers, settings
from lightwell.model.layers.base import Layer
from lightwell.model.layers.batch_statistics import WrittenOut
from lightwell.model.layers.identifiers import ONES, ZEROS
from lightwell.model.layers.input_spec import InputSpec
from lightwell.model.layers.moving_average import move_towards


class BatchNormalization(Layer):
    """Normalises over the batch while training, and with moving averages otherwise.

    Args:
        axis: the axis of the channels, or several; all others are averaged over.
        momentum: how much of the moving averages stays at each step.
        epsilon: added to the variance.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: as named.
        beta_regularizer, gamma_regularizer: functions from a variable to a loss.
        beta_constraint, gamma_constraint: functions that optimizers apply to a variable after updating it.
        renorm: whether to use batch renormalization (https://arxiv.org/abs/1702.03275).
        renorm_clipping: limits for it: any of `rmax`, `rmin`, `dmax`, numbers or scalar tensors.
        renorm_momentum: the momentum of its own averages.
        fused: `False` to write the computation out; otherwise the fused operation is used where it exists.
        trainable: whether the variables are trained and the moving averages updated.
        virtual_batch_size: normalise groups of this many examples instead of the whole batch; when `training` is a
            tensor that a run decides, the whole batch is one group.
        adjustment: a function from the shape of the input to a scale and a shift, applied while training.
        name: the variable scope.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = ZEROS,
        gamma_initializer: Any = ONES,
        moving_mean_initializer: Any = ZEROS,
        moving_variance_initializer: Any = ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis: list[int] = _axes(axis)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer = identifiers.initializer(beta_initializer)
        self.gamma_initializer = identifiers.initializer(gamma_initializer)
        self.moving_mean_initializer = identifiers.initializer(moving_mean_initializer)
        self.moving_variance_initializer = identifiers.initializer(moving_variance_initializer)
        self.beta_regularizer = identifiers.regularizer(beta_regularizer)
        self.gamma_regularizer = identifiers.regularizer(gamma_regularizer)
        self.beta_constraint = identifiers.constraint(beta_constraint)
        self.gamma_constraint = identifiers.constraint(gamma_constraint)
        self.renorm, self.renorm_momentum, self.fused = renorm, renorm_momentum, fused
        self.renorm_clipping = _clipping(renorm_clipping)
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self._check_groups()

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape)
        sizes = self._channel_sizes(shape)
        self.input_spec = InputSpec(ndim=shape.rank, axes=sizes)
        self.fused = self._can_fuse(shape.rank)
        weight_shape = self._weight_shape(sizes, shape.rank)
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self._add_trained("gamma", weight_shape)
        if self.center:
            self.beta = self._add_trained("beta", weight_shape)
        self.moving_mean = self._add_average("moving_mean", weight_shape, self.moving_mean_initializer)
        self.moving_variance = self._add_average("moving_variance", weight_shape, self.moving_variance_initializer)
        if self.renorm:
            self._add_renorm_averages(weight_shape)
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        truth = settings.static_truth(training, "training", self.name)
        decided = tf.cast(training, tf.bool) if truth is None else truth
        if self.fused:
            return self._call_fused(inputs, decided)
        if self.virtual_batch_size is not None:
            return self._call_in_groups(inputs, decided, self.virtual_batch_size)
        return WrittenOut(self, inputs, decided).outputs()

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _call_fused(self, inputs: Any, training: Any) -> Any:
        if isinstance(training, bool):
            outputs, mean, variance = self._fused(inputs, training)
        else:
            outputs, mean, variance = tf.cond(
                training, lambda: self._fused(inputs, True), lambda: self._fused(inputs, False)
            )
        if training is False or not self.trainable:
            return outputs
        if training is True:
            momentum = tf.convert_to_tensor(self.momentum)
        else:
            momentum = tf.cond(training, lambda: tf.constant(self.momentum), lambda: tf.constant(1.0))
        self.add_update(move_towards(self.moving_mean, mean, momentum))
        self.add_update(move_towards(self.moving_variance, variance, momentum))
        return outputs

    def _fused(self, inputs: Any, training: bool) -> tuple[Any, Any, Any]:
        channels = inputs.shape[self.axis[0]]
        dtype = self._statistics_dtype()
        beta = tf.constant(0.0, dtype, [channels]) if self.beta is None else tf.convert_to_tensor(self.beta)
        gamma = tf.constant(1.0, dtype, [channels]) if self.gamma is None else tf.convert_to_tensor(self.gamma)
        is_last = self.axis == [inputs.shape.rank - 1]
        outputs: tuple[Any, Any, Any] = tf.compat.v1.nn.fused_batch_norm(
            inputs,
            gamma,
            beta,
            mean=self.moving_mean,
            variance=self.moving_variance,
            epsilon=self.epsilon,
            is_training=training,
            data_format=settings.tensorflow_layout(
                "channels_last" if is_last else "channels_first", inputs.shape.rank - 2
            ),
        )
        return outputs

    def _call_in_groups(self, inputs: Any, training: Any, group: int) -> Any:
        # TensorFlow 1 forms groups only when it knows while building that it trains; numbers must stay the same.
        split = [group, -1] if training is True else [-1, 1]
        sizes = tf.shape(inputs)
        grouped = tf.reshape(inputs, tf.concat([split, sizes[1:]], axis=0))
        grouped.set_shape([None if size < 0 else size for size in split] + inputs.shape.as_list()[1:])
        outputs = tf.reshape(WrittenOut(self, grouped, training).outputs(), sizes)
        outputs.set_shape(inputs.shape)
        return outputs

    def _channel_sizes(self, shape: Any) -> dict[int, int]:
        if shape.rank is None:
            raise UsageError(
                f"BatchNormalization layer '{self.name}': the rank of its inputs must be known, got shape {shape}. "
                "Set it with tf.ensure_shape before the layer."
            )
        axes = [axis + shape.rank if axis < 0 else axis for axis in self.axis]
        if any(not 0 <= axis < shape.rank for axis in axes) or len(set(axes)) != len(axes):
            raise UsageError(
                f"BatchNormalization layer '{self.name}': axis must name different axes of an input of {shape.rank} "
                f"dimensions, got {self.axis}. Pass axis=-1 for channels last, axis=1 for channels first."
            )
        self.axis = axes
        sizes = {axis: shape.as_list()[axis] for axis in axes}
        if None in sizes.values():
            raise UsageError(
                f"BatchNormalization layer '{self.name}': the size of axis {axes} of its inputs must be known, as "
                f"gamma and beta depend on it; got shape {shape}. Set it with tf.ensure_shape before the layer."
            )
        return sizes

    def _check_groups(self) -> None:
        if self.virtual_batch_size is not None and self.adjustment is not None:
            raise UsageError(
                "BatchNormalization: virtual_batch_size and adjustment cannot be used together. Pass one of them."
            )

    def _can_fuse(self, rank: int) -> bool:
        plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        return self.fused is not False and plain and rank in (4, 5) and self.axis in ([1], [rank - 1])

    def _weight_shape(self, sizes: dict[int, int], rank: int) -> tuple[int, ...]:
        """A vector for one axis; else the input's shape with 1 wherever it is averaged, and a place for the groups."""
        if len(sizes) == 1 and self.virtual_batch_size is None:
            return tuple(sizes.values())
        shape = [sizes.get(axis, 1) for axis in range(rank)]
        return tuple(shape) if self.virtual_batch_size is None else (shape[0], 1, *shape[1:])

    def _statistics_dtype(self) -> Any:
        dtype = tf.as_dtype(self.dtype or tf.float32)
        return tf.float32 if dtype in (tf.float16, tf.bfloat16) else dtype

    def _add_trained(self, name: str, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            name,
            shape,
            dtype=self._statistics_dtype(),
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
        )

    def _add_average(self, name: str, shape: tuple[int, ...], initializer: Any) -> Any:
        """Adds an average of statistics: in one piece, and one per replica, joined when read."""
        return self.add_weight(
            name,
            shape,
            dtype=self._statistics_dtype(),
            initializer=initializer,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.compat.v1.VariableAggregation.MEAN,
            in_one_piece=True,
        )

    def _add_renorm_averages(self, shape: tuple[int, ...]) -> None:
        def deviation(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.sqrt(self.moving_variance_initializer(shape, dtype=dtype))

        self.moving_stddev = self._add_average("moving_stddev", shape, deviation)
        self.renorm_mean = self._add_average("renorm_mean", shape, ZEROS)
        self.renorm_stddev = self._add_average("renorm_stddev", shape, deviation)


def _axes(axis: Any) -> list[int]:
    many = list(axis) if isinstance(axis, list | tuple) else [axis]
    if not many or not all(isinstance(one, int) for one in many):
        raise WrongType(
            f"BatchNormalization: axis must be a whole number or a list of them, got {axis!r}. Pass axis=-1 or axis=1."
        )
    return many


def _clipping(clipping: Mapping[str, Any] | None) -> dict[str, Any]:
    unknown = sorted(set(clipping or ()) - {"rmax", "rmin", "dmax"})
    if unknown:
        raise UsageError(
            f"BatchNormalization: renorm_clipping takes rmax, rmin and dmax; got {', '.join(unknown)}. Rename the key."
        )
    return dict(clipping or {})


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = ZEROS,
    gamma_initializer: Any = ONES,
    moving_mean_initializer: Any = ZEROS,
    moving_variance_initializer: Any = ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Any:
    """Calls a new `BatchNormalization` on `inputs`; see there for the other arguments.

    Args:
        training: whether to use and learn the batch's statistics; a bool, or a scalar tensor that a run decides. The
            training step must run `tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)`.
        reuse: `True` or `tf.compat.v1.AUTO_REUSE` to share the variables of the layer called `name`.

    Returns:
        A tensor like `inputs`. It knows its layer: `.layer`, `.gamma`, `.beta`, `.moving_mean`, `.moving_variance`.
    """
    options = dict(locals())
    for handled in ("inputs", "training", "reuse"):
        options.pop(handled)
    return BatchNormalization(**options, _reuse=reuse, _scope=name)(inputs, training=training)
