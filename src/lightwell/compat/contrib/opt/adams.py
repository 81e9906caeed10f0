"""Kin of Adam: lazy for rows of tables, with Nesterov's momentum, with the greatest gradient for a scale."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class _OverAdam(tf.compat.v1.train.AdamOptimizer):
    """Adam, whose slots and settings its kin share."""

    def _settings(self, dtype: Any) -> dict[str, Any]:
        named = {"lr": self._lr_t, "beta1": self._beta1_t, "beta2": self._beta2_t, "epsilon": self._epsilon_t}
        return {name: tf.cast(value, dtype) for name, value in named.items()}

    def _powers(self, dtype: Any) -> tuple[Any, Any]:
        first, second = self._get_beta_accumulators()
        return tf.cast(first, dtype), tf.cast(second, dtype)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Of a reference variable: those of a program that calls `disable_v2_behavior()`, or wants no resources."""
        return self._resource_apply_sparse(grad.values, var, grad.indices)


class LazyAdamOptimizer(_OverAdam):
    """Adam that leaves rows of a table alone, and their averages, when no gradient reaches them."""

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        chosen = self._settings(var.dtype.base_dtype)
        first, second = self._powers(var.dtype.base_dtype)
        rate = chosen["lr"] * tf.sqrt(1 - second) / (1 - first)
        mean, square = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_mean = chosen["beta1"] * tf.gather(mean, indices) + (1 - chosen["beta1"]) * grad
        new_square = chosen["beta2"] * tf.gather(square, indices) + (1 - chosen["beta2"]) * tf.square(grad)
        step = rate * new_mean / (tf.sqrt(new_square) + chosen["epsilon"])
        return tf.group(
            mean.scatter_update(tf.IndexedSlices(new_mean, indices)).op,
            square.scatter_update(tf.IndexedSlices(new_square, indices)).op,
            var.scatter_sub(tf.IndexedSlices(step, indices)).op,
        )


class NadamOptimizer(_OverAdam):
    """Adam with Nesterov's momentum (Dozat, 2015)."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        dtype = grad.dtype.base_dtype
        first, second = self._powers(dtype)
        return tf.raw_ops.ApplyAdam(
            var=var,
            m=self.get_slot(var, "m"),
            v=self.get_slot(var, "v"),
            beta1_power=first,
            beta2_power=second,
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
            **self._settings(dtype),
        ).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        dtype = grad.dtype.base_dtype
        first, second = self._powers(dtype)
        return tf.raw_ops.ResourceApplyAdam(
            var=var.handle,
            m=self.get_slot(var, "m").handle,
            v=self.get_slot(var, "v").handle,
            beta1_power=first,
            beta2_power=second,
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
            **self._settings(dtype),
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        chosen = self._settings(var.dtype.base_dtype)
        first, second = self._powers(var.dtype.base_dtype)
        rate = chosen["lr"] * tf.sqrt(1 - second) / (1 - first)
        mean, square = self.get_slot(var, "m"), self.get_slot(var, "v")
        fresh = (1 - chosen["beta1"]) * grad
        rows = tf.IndexedSlices(fresh, indices)
        with tf.control_dependencies([mean.assign(chosen["beta1"] * mean, use_locking=self._use_locking)]):
            new_mean = mean.scatter_add(rows)
        with tf.control_dependencies([square.assign(chosen["beta2"] * square, use_locking=self._use_locking)]):
            squares = tf.IndexedSlices((1 - chosen["beta2"]) * tf.square(grad), indices)
            new_square = square.scatter_add(squares)
        # Averages of all rows fade; only rows with a gradient move. They look ahead with Nesterov: to the mean as the
        # next step would find it.
        with tf.control_dependencies([new_mean, new_square]):
            ahead = chosen["beta1"] * tf.gather(mean, indices) + fresh
            step = rate * ahead / (tf.sqrt(tf.gather(square, indices)) + chosen["epsilon"])
        return tf.group(var.scatter_sub(tf.IndexedSlices(step, indices)).op, new_mean.op, new_square.op)


class AdaMaxOptimizer(_OverAdam):
    """Adam scaled by the greatest gradient so far (Kingma and Ba, 2014, section 7.1).

    Args:
        learning_rate: size of a step.
        beta1: decay of the mean of gradients.
        beta2: decay of the greatest one.
        epsilon: keeps a division finite.
        use_locking: as that of Adam.
        name: of the slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph), tf.constant(0.0)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda one: one.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for one in var_list:
            self._zeros_slot(one, "m", self._name)
            self._zeros_slot(one, "v", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        chosen = self._settings(var.dtype.base_dtype)
        mean, greatest = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_mean = mean.assign(chosen["beta1"] * mean + (1 - chosen["beta1"]) * grad)
        new_greatest = greatest.assign(tf.maximum(chosen["beta2"] * greatest, tf.abs(grad)))
        rate = chosen["lr"] / (1 - self._powers(var.dtype.base_dtype)[0])
        return var.assign_sub(rate * new_mean / (new_greatest + chosen["epsilon"])).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        dtype = grad.dtype.base_dtype
        return tf.raw_ops.ResourceApplyAdaMax(
            var=var.handle,
            m=self.get_slot(var, "m").handle,
            v=self.get_slot(var, "v").handle,
            beta1_power=self._powers(dtype)[0],
            grad=grad,
            use_locking=self._use_locking,
            **self._settings(dtype),
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        chosen = self._settings(var.dtype.base_dtype)
        mean, greatest = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_mean = chosen["beta1"] * tf.gather(mean, indices) + (1 - chosen["beta1"]) * grad
        new_greatest = tf.maximum(chosen["beta2"] * tf.gather(greatest, indices), tf.abs(grad))
        rate = chosen["lr"] / (1 - self._powers(var.dtype.base_dtype)[0])
        step = rate * new_mean / (new_greatest + chosen["epsilon"])
        return tf.group(
            mean.scatter_update(tf.IndexedSlices(new_mean, indices)).op,
            greatest.scatter_update(tf.IndexedSlices(new_greatest, indices)).op,
            var.scatter_sub(tf.IndexedSlices(step, indices)).op,
        )

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        power = self._get_beta_accumulators()[0]
        with tf.control_dependencies(update_ops):
            grown = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, grown, name=name_scope)
