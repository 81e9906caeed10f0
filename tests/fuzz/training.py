"""Kinds of losses, learning rates, optimizers, and of ways to make one step of training of them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.fuzz.parts import FLAG, Whole, one_of, part

v1 = tf.compat.v1


@part("loss")
def squares(at: Any, h: Any) -> Any:
    out = h[:, 0]
    at.predictions.update(out=out, twice=2.0 * out, row=h)
    if at.mode == "infer":
        return None
    return tf.reduce_mean(tf.square(out - at.labels))


@part("loss")
def v1_squares(at: Any, h: Any) -> Any:
    at.predictions.update(out=h[:, 0])
    if at.mode == "infer":
        return None
    v1.losses.mean_squared_error(at.labels, h[:, 0], weights=2.0)
    return v1.losses.get_total_loss(add_regularization_losses=False)


@part("loss")
def cross_entropy(at: Any, h: Any) -> Any:
    logits = h[:, 0]
    at.predictions.update(out=tf.sigmoid(logits), classes=tf.cast(logits > 0, tf.int64))
    if at.mode == "infer":
        return None
    target = tf.cast(at.labels > 0, tf.float32)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))


@part("loss")
def softmax(at: Any, h: Any) -> Any:
    logits = tf.stack([h[:, 0], -h[:, 0], 0.5 * h[:, 0]], 1)
    at.predictions.update(out=tf.nn.softmax(logits)[:, 0], probabilities=tf.nn.softmax(logits))
    if at.mode == "infer":
        return None
    target = tf.cast(at.labels > 0, tf.int32) + tf.cast(at.labels > 0.5, tf.int32)
    return v1.losses.sparse_softmax_cross_entropy(target, logits)


@part("loss")
def absolute(at: Any, h: Any) -> Any:
    at.predictions.update(out=h[:, 0])
    if at.mode == "infer":
        return None
    return v1.losses.huber_loss(at.labels, h[:, 0], delta=0.5)


@part("rate", weight=3, value=one_of(0.05, 0.01))
def constant_rate(value: float) -> Any:
    return value


@part("rate", value=one_of(0.05, 0.1), steps=Whole(2, 9), staircase=FLAG)
def decaying_rate(value: float, steps: int, staircase: bool) -> Any:
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(value, step, steps, 0.7, staircase)
    return tf.identity(rate, name="rate")


@part("rate", at=Whole(2, 9))
def piecewise_rate(at: int) -> Any:
    step = v1.train.get_or_create_global_step()
    return v1.train.piecewise_constant(tf.cast(step, tf.int32), [at, 2 * at], [0.05, 0.02, 0.01])


@part("rate", value=one_of(0.05, 0.1), steps=Whole(5, 20))
def cosine_rate(value: float, steps: int) -> Any:
    return v1.train.cosine_decay(value, v1.train.get_or_create_global_step(), steps)


@part("rate", value=one_of(0.05, 0.01), names=("learning_rate:0",))
def rate_by_placeholder(value: float) -> Any:
    return v1.placeholder_with_default(value, [], name="learning_rate")


@part("optimizer", weight=3)
def plain(rate: Any) -> Any:
    return v1.train.GradientDescentOptimizer(rate)


@part("optimizer", weight=2, nesterov=FLAG)
def momentum(rate: Any, nesterov: bool) -> Any:
    return v1.train.MomentumOptimizer(rate, 0.8, use_nesterov=nesterov)


@part("optimizer", weight=2, tags=("sensitive",), beta1=one_of(0.9, 0.01))
def adam(rate: Any, beta1: float) -> Any:
    return v1.train.AdamOptimizer(rate, beta1=beta1, epsilon=1e-3)


@part("optimizer", tags=("sensitive",))
def adagrad(rate: Any) -> Any:
    return v1.train.AdagradOptimizer(rate)


@part("optimizer", tags=("sensitive",), centered=FLAG)
def rms_prop(rate: Any, centered: bool) -> Any:
    return v1.train.RMSPropOptimizer(rate, momentum=0.5, centered=centered, epsilon=1e-2)


@part("optimizer", tags=("sensitive",), l1=one_of(0.0, 0.01))
def ftrl(rate: Any, l1: float) -> Any:
    return v1.train.FtrlOptimizer(rate, l1_regularization_strength=l1)


@part("optimizer", tags=("sensitive",))
def adadelta(rate: Any) -> Any:
    return v1.train.AdadeltaOptimizer(rate, epsilon=1e-3)


@part("optimizer")
def proximal(rate: Any) -> Any:
    return v1.train.ProximalGradientDescentOptimizer(rate, l2_regularization_strength=0.01)


@part("optimizer", tags=("sensitive",))
def proximal_adagrad(rate: Any) -> Any:
    return v1.train.ProximalAdagradOptimizer(rate, l1_regularization_strength=0.001)


@part("optimizer", tags=("sensitive",), weight=0.4)
def adagrad_dual(rate: Any) -> Any:
    return v1.train.AdagradDAOptimizer(rate, v1.train.get_or_create_global_step())


@part("step", weight=6)
def minimized(at: Any, loss: Any, optimizer: Any) -> Any:
    return optimizer.minimize(loss, v1.train.get_global_step())


@part("step", limit=one_of(1.0, 0.1), weight=2)
def clipped(at: Any, loss: Any, optimizer: Any, limit: float) -> Any:
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    gradients, norm = tf.clip_by_global_norm(gradients, limit)
    v1.summary.scalar("gradient_norm", norm)
    return optimizer.apply_gradients(list(zip(gradients, variables, strict=True)), v1.train.get_global_step())


@part("step", every=Whole(2, 4), weight=2, tags=("accumulates",), decide=one_of("step", "count"))
def accumulated(at: Any, loss: Any, optimizer: Any, every: int, decide: str) -> Any:
    """Gradients are added up; the weights follow every few steps."""
    step = v1.train.get_global_step()
    pairs = [(g, v) for g, v in optimizer.compute_gradients(loss) if g is not None]
    sums = [
        v1.get_variable(f"sum_{n}", v.shape, initializer=v1.zeros_initializer(), trainable=False)
        for n, (_, v) in enumerate(pairs)
    ]
    added = [s.assign_add(tf.convert_to_tensor(g)) for s, (g, _) in zip(sums, pairs, strict=True)]
    if decide == "count":
        count = v1.get_variable("micro", [], tf.int64, v1.zeros_initializer(), trainable=False)
        with tf.control_dependencies(added):
            reached = count.assign_add(1)
    else:
        with tf.control_dependencies(added):
            reached = step.read_value() + 1

    def applied() -> Any:
        done = optimizer.apply_gradients([(s.read_value(), v) for s, (_, v) in zip(sums, pairs, strict=True)])
        with tf.control_dependencies([done]):
            return tf.group(*[s.assign(tf.zeros_like(s)) for s in sums])

    with tf.control_dependencies([reached]):
        updated = tf.cond(tf.equal(reached % every, 0), applied, tf.no_op)
    with tf.control_dependencies([updated]):
        return step.assign_add(1)


@part("step", by=Whole(2, 5), tags=("counts",))
def counted_by(at: Any, loss: Any, optimizer: Any, by: int) -> Any:
    step = v1.train.get_global_step()
    with tf.control_dependencies([optimizer.minimize(loss)]):
        return v1.assign_add(step, by).op


@part("step", tags=("counts",))
def counted_by_more_and_more(at: Any, loss: Any, optimizer: Any) -> Any:
    step = v1.train.get_global_step()
    more = v1.get_variable("more", [], tf.int64, v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([optimizer.minimize(loss)]):
        grown = more.assign_add(1)
    return step.assign_add(grown)


@part("step", at_step=Whole(2, 9), far=Whole(5, 70), tags=("counts",))
def jumping(at: Any, loss: Any, optimizer: Any, at_step: int, far: int) -> Any:
    step = v1.train.get_global_step()
    with tf.control_dependencies([optimizer.minimize(loss)]):
        now = step.read_value()
    by = tf.where(tf.equal(now, at_step), tf.constant(far, tf.int64), tf.constant(1, tf.int64))
    return step.assign_add(by)


@part("step", every=Whole(2, 4), tags=("counts",))
def standing_still(at: Any, loss: Any, optimizer: Any, every: int) -> Any:
    """The global step grows in one of so many steps alone."""
    step = v1.train.get_global_step()
    taken = v1.get_variable("taken", [], tf.int64, v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([optimizer.minimize(loss)]):
        count = taken.assign_add(1)
    return step.assign_add(tf.cast(tf.equal(count % every, 0), tf.int64))


@part("step", weight=1)
def stepped_by_hand(at: Any, loss: Any, optimizer: Any) -> Any:
    """No optimizer of TensorFlow's: weights less a share of their gradients."""
    variables = v1.trainable_variables()
    gradients = tf.gradients(loss, variables)
    done = [
        v.assign_sub(0.02 * tf.convert_to_tensor(g)) for v, g in zip(variables, gradients, strict=True) if g is not None
    ]
    with tf.control_dependencies(done):
        return v1.train.get_global_step().assign_add(1)


@part("step", weight=1)
def two_optimizers(at: Any, loss: Any, optimizer: Any) -> Any:
    variables = v1.trainable_variables()
    first = optimizer.minimize(loss, var_list=variables[:1])
    with tf.control_dependencies([first]):
        second = v1.train.GradientDescentOptimizer(0.01, name="Second")
        return second.minimize(tf.identity(loss), v1.train.get_global_step(), var_list=variables)
