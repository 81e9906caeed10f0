"""Weight decay that is decoupled from the gradient (Loshchilov and Hutter, 2017, arXiv 1711.05101)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.log import logger

_v1 = tf.compat.v1


class DecoupledWeightDecayExtension:
    """Before each update, a weight loses `weight_decay` times itself. For a class that derives from an optimizer too.

    Args:
        weight_decay: a number, a scalar tensor, or a function that returns one.
        **kwargs: the arguments of the optimizer.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decayed: set[Any] | None = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, **kwargs: Any) -> Any:
        """As that of the optimizer. `decay_var_list` is without effect, as in 1.15; `apply_gradients` heeds it."""
        if kwargs.pop("decay_var_list", None) is not None:
            logger.warning(
                "%s.minimize: decay_var_list is without effect, as in TensorFlow 1.15: every variable decays. "
                "Pass it to apply_gradients(compute_gradients(loss), decay_var_list=...).",
                type(self).__name__,
            )
        return super().minimize(loss, global_step=global_step, var_list=var_list, **kwargs)  # type: ignore[misc]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None, decay_var_list: Any = None
    ) -> Any:
        """As that of the optimizer; `decay_var_list` says which variables decay, all if it is None."""
        self._decayed = {one.ref() for one in decay_var_list} if decay_var_list else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _decay(self, variable: Any, gradient: Any, rows: Any = None) -> Any:
        """Shrinks a variable, once its gradient is known; of a table, the rows that get one."""
        if self._decayed is not None and variable.ref() not in self._decayed:
            return tf.no_op()
        # Without this, the weights that the gradient is taken at may have shrunk or not, by chance.
        with tf.control_dependencies([gradient]):
            return self._shrunk(variable, rows)

    def _shrunk(self, variable: Any, rows: Any) -> Any:
        rate = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        rate = tf.cast(rate, variable.dtype.base_dtype)
        if rows is None:
            return variable.assign_sub(rate * variable).op
        return variable.scatter_sub(tf.IndexedSlices(rate * tf.gather(variable, rows), rows)).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with tf.control_dependencies([self._decay(handle, grad)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        with tf.control_dependencies([self._decay(handle, grad, indices)]):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decay(var, grad)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decay(var, grad.values, grad.indices)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """An optimizer class with weight decay: its instances take `weight_decay` before the arguments of the base.

    AdagradW = extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    optimizer = AdagradW(weight_decay=0.01, learning_rate=0.1)
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The optimizer, with weights that shrink by themselves."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            self._decayed = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.AdamOptimizer):
    """Adam with weight decay.

    Args:
        weight_decay: the share of itself that a weight loses in a step.
        learning_rate: as that of Adam.
        beta1: decay of the mean of gradients.
        beta2: decay of the mean of their squares.
        epsilon: keeps a division finite.
        use_locking: as that of Adam.
        name: of the slots.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.MomentumOptimizer):
    """Momentum with weight decay; arguments as those of `MomentumOptimizer` behind `weight_decay`."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )
