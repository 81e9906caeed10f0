"""Text classifier in float16 with float32 variables (custom getter), loss scaling that adapts, and accumulated gradients."""
import json
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib import mixed_precision as mp

STEPS_PER_APPLY = 2


def float32_variable_storage_getter(getter, name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, *args, **kwargs):
    storage_dtype = tf.float32 if trainable else dtype
    variable = getter(name, shape, dtype=storage_dtype, initializer=initializer, regularizer=regularizer, trainable=trainable, *args, **kwargs)
    if trainable and dtype != tf.float32:
        variable = tf.cast(variable, dtype)
    return variable


def network(ids):
    with tf.variable_scope('fp32_storage', custom_getter=float32_variable_storage_getter, dtype=tf.float16):
        table = tf.get_variable('table', [20, 4], dtype=tf.float16, initializer=tf.random_normal_initializer(stddev=.5, seed=1, dtype=tf.float32))
        x = tf.reduce_sum(tf.gather(table, ids), axis=1)
        w = tf.get_variable('w', [4, 2], dtype=tf.float16, initializer=tf.random_normal_initializer(stddev=.5, seed=2, dtype=tf.float32))
        b = tf.get_variable('b', [2], dtype=tf.float16, initializer=tf.zeros_initializer(dtype=tf.float32))
        return tf.cast(tf.matmul(tf.tanh(x), w) + b, tf.float32)


def accumulate(optimizer, loss, step):
    tvars = tf.trainable_variables()
    accum = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False, name=v.op.name + '_acc') for v in tvars]
    grads = [g if not isinstance(g, tf.IndexedSlices) else tf.convert_to_tensor(g) for g in tf.gradients(loss, tvars)]
    add = [a.assign_add(g) for a, g in zip(accum, grads)]

    def apply():
        with tf.control_dependencies(add):
            applied = optimizer.apply_gradients([(a.read_value() / STEPS_PER_APPLY, v) for a, v in zip(accum, tvars)])
        with tf.control_dependencies([applied]):
            return tf.group(*[a.assign(tf.zeros_like(a)) for a in accum])

    update = tf.cond(tf.equal((step + 1) % STEPS_PER_APPLY, 0), apply, lambda: tf.group(*add))
    with tf.control_dependencies([update]):
        return tf.assign_add(step, 1)


def model_fn(features, labels, mode, params):
    logits = network(features)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'acc': tf.metrics.accuracy(labels, tf.argmax(logits, 1))})
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    if params['kind'] == 'accumulate':
        train_op = accumulate(optimizer, loss, step)
    else:
        if params['kind'] == 'fixed':
            manager = mp.FixedLossScaleManager(128.0)
        else:
            manager = mp.ExponentialUpdateLossScaleManager(init_loss_scale=2 ** 20, incr_every_n_steps=3, decr_every_n_nan_or_inf=1, incr_ratio=2, decr_ratio=0.5)
        optimizer = mp.LossScaleOptimizer(optimizer, manager)
        train_op = optimizer.minimize(loss, global_step=step)
        tf.identity(manager.get_loss_scale(), name='scale')
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class ScaleHook(tf.train.SessionRunHook):
    def __init__(self):
        self.scales = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs('scale:0')

    def after_run(self, run_context, run_values):
        self.scales.append(float(run_values.results))


def input_fn():
    rng = np.random.RandomState(1)
    x = rng.randint(0, 20, [32, 5])
    return tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 9).astype(np.int32))).repeat(3).batch(8)


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for kind in ('accumulate', 'fixed', 'dynamic'):
        est = tf.estimator.Estimator(model_fn, '%s/%s' % (sys.argv[1], kind), params={'kind': kind})
        hook = ScaleHook()
        est.train(input_fn, hooks=[hook] if kind == 'dynamic' else [])
        result = est.evaluate(input_fn, steps=4)
        found[kind] = {k: round(float(v), 3) for k, v in result.items()}
        found[kind]['table'] = str(est.get_variable_value('fp32_storage/table').dtype)
    found['scales'] = [len(hook.scales), float(est.get_variable_value('loss_scale')), int(est.get_variable_value('good_steps'))]
    print(json.dumps(found))


main()
