"""Kinds of blocks with control flow, functions and state: what loops over steps must get right."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.fuzz.parts import FLAG, SEED, Whole, one_of, part

v1 = tf.compat.v1


@part("block", seed=SEED)
def in_a_cond(at: Any, h: Any, seed: int) -> Any:
    w = at.weights("chosen", [h.shape[1]], seed)
    return tf.cond(tf.reduce_sum(h) > 0.1, lambda: h * w, lambda: tf.sin(h))


@part("block", times=Whole(1, 3), seed=SEED)
def in_a_while(at: Any, h: Any, times: int, seed: int) -> Any:
    w = at.weights("looped", [h.shape[1]], seed)
    return tf.while_loop(lambda n, value: n < times, lambda n, value: (n + 1, tf.tanh(value * w + h)), (0, h))[1]


@part("block")
def in_a_case(at: Any, h: Any) -> Any:
    total = tf.reduce_sum(h)
    cases = [(total > 1.0, lambda: h * 0.5), (total < -1.0, lambda: h + 0.25)]
    return v1.case(cases, default=lambda: tf.identity(h), name=at.name("case"))


@part("block", seed=SEED)
def in_a_map(at: Any, h: Any, seed: int) -> Any:
    w = at.weights("mapped", [h.shape[1]], seed)
    return tf.map_fn(lambda row: tf.nn.softmax(row * w), h)


@part("block")
def in_a_scan(at: Any, h: Any) -> Any:
    return tf.scan(lambda total, row: 0.5 * total + row, h)


@part("block", seed=SEED, nested=FLAG)
def in_a_function(at: Any, h: Any, seed: int, nested: bool) -> Any:
    w = at.weights("of_function", [h.shape[1]], seed)

    @tf.function
    def inner(value: Any) -> Any:
        return tf.tanh(value) * w

    @tf.function
    def outer(value: Any) -> Any:
        return inner(value) + inner(value * 2.0)

    return outer(h) if nested else inner(h)


@part("block", seed=SEED, tags=("random",))
def random_in_a_function(at: Any, h: Any, seed: int) -> Any:
    @tf.function
    def noised(value: Any) -> Any:
        return value + tf.random.normal([value.shape[1]], stddev=0.1, seed=seed)

    return noised(h) if at.training else h


@part("block", seed=SEED, tags=("random",))
def noise(at: Any, h: Any, seed: int) -> Any:
    return h + v1.random_uniform([h.shape[1]], -0.1, 0.1, seed=seed)


@part("block", seed=SEED, tags=("random",))
def random_in_a_cond(at: Any, h: Any, seed: int) -> Any:
    drawn = v1.random_uniform([], seed=seed)
    return tf.cond(drawn > 0.5, lambda: h + v1.random_uniform([], seed=seed + 1), lambda: h * 0.9)


@part("block", weight=1.5, value=one_of(1.0, 0.5), names=("keep:0",))
def defaulted_placeholder(at: Any, h: Any, value: float) -> Any:
    keep = v1.placeholder_with_default(value, [], name="keep")
    return h * keep


@part("block", weight=1.5, size=one_of(2000, 4, 600), names=("large:0",))
def large_constant(at: Any, h: Any, size: int) -> Any:
    large = tf.constant(np.linspace(0, 1, size, dtype=np.float32), name="large")
    return h + large[3] + tf.reduce_mean(large)


@part("block", resource=one_of(True, False), names=("counted:0",))
def counter(at: Any, h: Any, resource: bool) -> Any:
    with v1.variable_scope(at.name("counter"), use_resource=resource):
        count = v1.get_variable("count", [], initializer=v1.zeros_initializer(), trainable=False)
    if not at.training:
        return h + tf.identity(0.01 * count, name="counted")
    with tf.control_dependencies([count.assign_add(1.0)]):
        return h + tf.identity(0.01 * count.read_value(), name="counted")


@part("block", tags=("local",))
def local_counter(at: Any, h: Any) -> Any:
    count = v1.get_variable(
        at.name("local"),
        [],
        initializer=v1.zeros_initializer(),
        trainable=False,
        collections=[v1.GraphKeys.LOCAL_VARIABLES],
    )
    with tf.control_dependencies([count.assign_add(1.0)]):
        return h + 0.1 * count.read_value()


@part("block", decay=one_of(0.9, 0.5, 1e-3))
def averaged_state(at: Any, h: Any, decay: float) -> Any:
    """A number that decays, to denormal ones where the decay is small."""
    state = v1.get_variable(at.name("state"), [2], initializer=v1.ones_initializer(), trainable=False)
    if not at.training:
        return h + state[0]
    with tf.control_dependencies([state.assign(state * decay)]):
        return h + state.read_value()[0]


@part("block", tags=("table",))
def mutable_table(at: Any, h: Any) -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.25, name=at.name("mutable"))
    key = tf.constant([1], tf.int64)
    found = table.lookup(key)
    with tf.control_dependencies([table.insert(key, found + 0.25)]):
        return h + tf.identity(found)[0]


@part("block", weight=1.5, where=one_of("top", "function", "cond"), tags=("file",))
def read_a_file(at: Any, h: Any, where: str) -> Any:
    path = at.lab.path("number.txt")

    def read() -> Any:
        return tf.strings.to_number(tf.io.read_file(path))

    if where == "function":
        number = tf.function(read)()
    elif where == "cond":
        number = tf.cond(tf.reduce_sum(h) > -1e9, read, lambda: 0.0)
    else:
        number = read()
    return h + number


@part("block", weight=1.5, where=one_of("top", "function"), tags=("file",))
def match_files(at: Any, h: Any, where: str) -> Any:
    pattern = at.lab.path("matched/*.txt")

    def count() -> Any:
        return tf.cast(tf.size(tf.io.matching_files(pattern)), tf.float32)

    return h + (tf.function(count)() if where == "function" else count())


@part("block", weight=0.5, tags=("python",))
def in_python(at: Any, h: Any) -> Any:
    made = tf.numpy_function(lambda value: value * np.float32(0.5), [h], tf.float32)
    return h + tf.stop_gradient(tf.reshape(made, tf.shape(h)))


@part("block")
def asserted(at: Any, h: Any) -> Any:
    with tf.control_dependencies([v1.assert_less(tf.abs(h), 1e9), v1.assert_rank(h, 2)]):
        return tf.identity(h)


@part("block", image=FLAG)
def summarized(at: Any, h: Any, image: bool) -> Any:
    name = at.name("told")
    v1.summary.scalar(name, tf.reduce_mean(h))
    v1.summary.histogram(name + "_histogram", h)
    if image:
        v1.summary.image(name + "_image", tf.reshape(tf.sigmoid(h[:1]), [1, 1, -1, 1]), 1)
    return h


@part("block", decay=one_of(0.9, 0.99))
def moving_average(at: Any, h: Any, decay: float) -> Any:
    if at.training:
        average = tf.train.ExponentialMovingAverage(decay, v1.train.get_or_create_global_step())
        at.after_step.append(lambda: average.apply(v1.trainable_variables()))
    return h


@part("block", decay=one_of(0.9, 0.5))
def zero_debiased(at: Any, h: Any, decay: float) -> Any:
    if at.training:
        average = tf.train.ExponentialMovingAverage(decay, zero_debias=True, name=at.name("ema"))
        mean = tf.reduce_mean(h, 0)
        at.before_step.append(average.apply([mean]))
    return h


@part("block", tags=("update_ops",))
def update_in_collection(at: Any, h: Any) -> Any:
    seen = v1.get_variable(at.name("seen_rows"), [], tf.float32, v1.zeros_initializer(), trainable=False)
    if at.training:
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, seen.assign_add(tf.cast(tf.shape(h)[0], tf.float32)))
    return h


@part("block", every=Whole(2, 4))
def by_global_step(at: Any, h: Any, every: int) -> Any:
    step = v1.train.get_or_create_global_step()
    read = step.read_value() if hasattr(step, "read_value") else step
    return tf.cond(tf.equal(read % every, 0), lambda: h * 1.1, lambda: h)


@part("block", weight=0.7)
def stored_in_tensor_array(at: Any, h: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2, element_shape=[None, h.shape[1]])
    array = array.write(0, h).write(1, h * 2.0)
    return tf.reshape(array.stack()[1], [-1, h.shape[1]])
