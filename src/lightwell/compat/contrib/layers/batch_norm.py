"""`tf.contrib.layers.batch_norm`: channels normalised over the batch while training, by moving averages otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers.batch_norm_by_hand import ByHand
from lightwell.compat.contrib.layers.making import Making, making
from lightwell.errors import UsageError
from lightwell.model.layers.normalization import BatchNormalization
from lightwell.model.layers.record import inside_loop

_KEYS = tf.compat.v1.GraphKeys
_AVERAGES = ("moving_mean", "moving_variance", "moving_stddev", "renorm_mean", "renorm_stddev")


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Any = _KEYS.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Any:
    """Normalises each channel.

    The operations that move the averages stand in `GraphKeys.UPDATE_OPS`: the training step must run them, as
    `optimize_loss` does; or give `updates_collections=None`, and they run whenever the result is computed.

    Args:
        inputs: a tensor whose number of channels is known.
        decay: how much of the moving averages stays at each step.
        center: whether to add the variable `beta`.
        scale: whether to multiply by the variable `gamma`.
        epsilon: added to the variance.
        activation_fn: applied to the result.
        param_initializers: for `beta`, `gamma`, `moving_mean` and `moving_variance`, by name.
        param_regularizers: functions from a variable to a loss, for `beta` and `gamma`, by name.
        updates_collections: a collection for the updates; None to run them in place.
        is_training: whether to normalise by the batch: a bool, or a scalar tensor.
        reuse: whether to reuse the scope's variables.
        variables_collections: collections for the variables: a list, or a dict by variable.
        outputs_collections: collections for the result.
        trainable: whether `beta` and `gamma` are trained.
        batch_weights: how much each example counts.
        fused: False for the computation written out; otherwise TensorFlow's fused operation, where it fits.
        data_format: `NHWC` (channels last, for any rank) or `NCHW`.
        zero_debias_moving_mean: whether the average of means forgets that it began with zero.
        scope: the variable scope; if None, a unique scope called `BatchNorm`.
        renorm, renorm_clipping, renorm_decay: batch renormalization (https://arxiv.org/abs/1702.03275).
        adjustment: a function from the shape of the inputs to a scale and a shift, applied while training.

    Raises:
        UsageError: settings do not fit each other or the inputs.
    """
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making("batch_norm", inputs, scope, "BatchNorm", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        rank = _rank(values, data_format)
        can_fuse = fused is not False and batch_weights is None and not renorm and adjustment is None
        by_hand = (
            updates_collections is None
            or batch_weights is not None
            or zero_debias_moving_mean
            or updates_collections != _KEYS.UPDATE_OPS
            or (can_fuse and rank == 2)
        )
        if by_hand and (renorm or adjustment is not None):
            raise UsageError(
                "batch_norm: renorm is not supported with batch_weights, updates_collections or "
                "zero_debias_moving_mean, and neither is adjustment. Leave these at their defaults."
            )
        if by_hand:
            work = ByHand(
                one,
                values,
                data_format,
                initializers=param_initializers or {},
                regularizers=param_regularizers or {},
                decay=decay,
                epsilon=epsilon,
                debias=zero_debias_moving_mean,
            )
            work.make(center=center, scale=scale)
            outputs = work.outputs(is_training, can_fuse and rank in (2, 4), batch_weights, updates_collections)
        else:
            outputs = _by_layer(
                one,
                values,
                is_training,
                axis=1 if data_format == "NCHW" else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                fused=can_fuse,
                adjustment=adjustment,
                trainable=trainable,
                **_settings(param_initializers or {}, param_regularizers or {}),
            )
        return one.finished(outputs, activation_fn)


def _by_layer(one: Making, values: Any, is_training: Any, **settings: Any) -> Any:
    """The output of the `tf.compat.v1.layers` layer; its variables belong to this call, which alone enters the book."""

    def model_variables(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.get("collections") or [_KEYS.GLOBAL_VARIABLES]
        more = one.collections_of(name.rpartition("/")[2])
        kwargs["collections"] = list(dict.fromkeys([*wanted, *more, _KEYS.MODEL_VARIABLES]))
        return getter(name, *args, **kwargs)

    here = tf.compat.v1.get_variable_scope()
    with tf.compat.v1.variable_scope(here, custom_getter=model_variables, auxiliary_name_scope=False) as scope:
        layer = BatchNormalization(_scope=scope, _reuse=here.reuse or None, **settings)
        with inside_loop("tf.contrib.layers.batch_norm", covered=(layer,)):
            outputs = layer(values, training=is_training)
    one.made += layer.weights
    return outputs


def _settings(initializers: Mapping[str, Any], regularizers: Mapping[str, Any]) -> dict[str, Any]:
    names = ("beta", "gamma", *_AVERAGES[:2])
    given = {f"{name}_initializer": initializers[name] for name in names if name in initializers}
    return given | {f"{name}_regularizer": regularizers[name] for name in names[:2] if name in regularizers}


def _rank(values: Any, data_format: str) -> int:
    if data_format not in ("NHWC", "NCHW"):
        raise UsageError(f"batch_norm: data_format has to be either NCHW or NHWC, got {data_format!r}.")
    rank = values.shape.rank
    if rank is None:
        raise UsageError(f"batch_norm: Inputs {values.name} has undefined rank. Set its shape before.")
    axis = 1 if data_format == "NCHW" else rank - 1
    if tf.compat.dimension_value(values.shape[axis]) is None:
        raise UsageError(
            f"batch_norm: Inputs {values.name} has undefined channels dimension {values.shape}. Set it with "
            "tf.ensure_shape: the variables are of that size."
        )
    return int(rank)
