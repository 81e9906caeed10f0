"""Cases of `tf.contrib.opt`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tests.compat.contrib.same import inputs, value_for

v1 = tf.compat.v1
OPTIMIZERS = {
    "adam_w": lambda opt: opt.AdamWOptimizer(0.01, learning_rate=0.1),
    "momentum_w": lambda opt: opt.MomentumWOptimizer(0.02, 0.1, 0.9, use_nesterov=True),
    "extended": lambda opt: opt.extend_with_decoupled_weight_decay(v1.train.AdagradOptimizer)(
        weight_decay=0.05, learning_rate=0.1
    ),
    "lazy_adam": lambda opt: opt.LazyAdamOptimizer(0.1),
    "nadam": lambda opt: opt.NadamOptimizer(0.1),
    "ada_max": lambda opt: opt.AdaMaxOptimizer(0.1),
    "lars": lambda opt: opt.LARSOptimizer(0.5, weight_decay=0.01, eeta=0.1, skip_list=["bias"]),
    "lars_nesterov": lambda opt: opt.LARSOptimizer(0.5, momentum=0.8, eeta=0.1, use_nesterov=True),
    "add_sign": lambda opt: opt.AddSignOptimizer(0.05),
    "power_sign": lambda opt: opt.PowerSignOptimizer(0.05),
    "moving": lambda opt: opt.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.1), average_decay=0.8),
}
# In 1.15 weights shrink while gradients are taken at them, by chance before or after: here they do not depend on them.
RACING = ("adam_w", "momentum_w", "extended")
# These take no other variables in 1.15.
REFERENCES = ("add_sign", "power_sign")
DENSE_ONLY = ("lars", "lars_nesterov")


def _variable(name: str, shape: Any, use_resource: bool) -> Any:
    first = v1.constant_initializer(value_for(name, shape))
    return v1.get_variable(name, shape, initializer=first, use_resource=use_resource or None)


def _case(name: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def case(contrib: Any) -> Any:
        shapes = {"weights": (3, 2), "bias": (2,), "table": (6, 3)}
        weights, bias, table = (_variable(one, shape, name not in REFERENCES) for one, shape in shapes.items())
        if name in RACING:
            rows = tf.nn.embedding_lookup(table, [1, 3, 1, 4]) * tf.constant(inputs(4, 3))
            loss = tf.reduce_sum(rows) + tf.reduce_sum(weights * tf.constant(inputs(3, 2))) + tf.reduce_sum(bias)
        else:
            rows = tf.constant(inputs(4, 3)) if name in DENSE_ONLY else tf.nn.embedding_lookup(table, [1, 3, 1, 4])
            loss = tf.reduce_mean(tf.square(tf.matmul(rows, weights) + bias - tf.constant(inputs(4, 2, seed=2))))
        trained = [weights, bias] if name in DENSE_ONLY else None
        options = {"decay_var_list": [weights, table]} if name == "adam_w" else {}
        step = v1.train.get_or_create_global_step()
        train_op = make(contrib.opt).minimize(loss, step, var_list=trained, **options)
        after = {one.op.name: one + 0 for one in v1.global_variables() if one.dtype.base_dtype == tf.float32}
        return {"losses": [loss] + [train_op, loss] * 4, "after": after}

    return case


def some_decay(contrib: Any) -> Any:
    """Only what `apply_gradients` is told to decays."""
    one, other = _variable("one", (2,), True), _variable("other", (2,), True)
    optimizer = contrib.opt.AdamWOptimizer(0.1, learning_rate=0.01)
    pairs = optimizer.compute_gradients(tf.reduce_sum(one) + tf.reduce_sum(other))
    return {"steps": [optimizer.apply_gradients(pairs, decay_var_list=[other])] * 2, "after": [one + 0, other + 0]}


CASES = {"some_decay": some_decay, **{name: _case(name, make) for name, make in OPTIMIZERS.items()}}
