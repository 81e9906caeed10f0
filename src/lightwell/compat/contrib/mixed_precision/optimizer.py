"""An optimizer that scales the loss of another one, and leaves out steps whose gradients are not finite."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_Optimizer: Any = _v1.train.Optimizer


class LossScaleOptimizer(_Optimizer):
    """Takes gradients of the scaled loss, scales them down, and applies them if all of them are finite.

    Args:
        opt: the optimizer that applies them.
        loss_scale_manager: holds the scale.
    """

    def __init__(self, opt: Any, loss_scale_manager: Any) -> None:
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        super().__init__(False, "LossScaleOptimizer")

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = _v1.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """As that of the optimizer, of the loss times the scale; the gradients are scaled down."""
        scale = tf.convert_to_tensor(self._loss_scale_manager.get_loss_scale())
        found = self._opt.compute_gradients(
            _times(loss, scale),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        down = 1.0 / scale
        return [(None if grad is None else _scaled(grad, down), variable) for grad, variable in found]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As that of the optimizer; the global step counts the steps that are applied."""
        pairs = list(grads_and_vars)
        values = [tf.convert_to_tensor(grad) for grad, _ in pairs if grad is not None]
        finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(value)) for value in values])
        applied = tf.cond(
            finite, lambda: _done(self._opt.apply_gradients(pairs, global_step)), lambda: tf.constant(False)
        )
        with tf.control_dependencies([applied]):
            noted = self._loss_scale_manager.update_loss_scale(finite)
        return tf.group(applied, noted, name=name or self.get_name())


def _times(loss: Any, scale: Any) -> Any:
    if callable(loss):
        return lambda: _times(loss(), scale)
    return loss * tf.cast(scale, loss.dtype.base_dtype)


def _scaled(grad: Any, factor: Any) -> Any:
    # The gradient of a table of rows becomes dense, as in 1.15: optimizers with slots treat rows without one otherwise.
    return tf.convert_to_tensor(grad) * tf.cast(factor, grad.dtype.base_dtype)


def _done(op: Any) -> Any:
    with tf.control_dependencies([op]):
        return tf.constant(True)
