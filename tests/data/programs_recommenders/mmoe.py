"""MMoE 多目标排序 (TensorFlow 1.15): tf.compat.v1 与旧名混用, 专家与门控用 tensordot 手写."""
import json
import numpy as np
import tensorflow as tf
if tf.__version__ >= '2.0':
    tf = tf.compat.v1

EXPERTS, UNITS, TASKS = 3, 4, ['finish', 'like']
rng = np.random.RandomState(2020)
DATA = {'uid': rng.randint(0, 10, 96).astype(np.int64), 'feed': rng.randint(0, 12, 96).astype(np.int64), 'dense': rng.rand(96, 2).astype(np.float32)}
LABELS = {'finish': (DATA['uid'] > DATA['feed']).astype(np.float32), 'like': (DATA['dense'][:, 0] > .6).astype(np.float32)}


def input_fn(epochs):
    return tf.data.Dataset.from_tensor_slices((DATA, LABELS)).repeat(epochs).batch(24, drop_remainder=True)


def model_fn(features, labels, mode, params):
    with tf.variable_scope('emb', partitioner=tf.fixed_size_partitioner(2, axis=0)):
        user = tf.get_variable('user', [10, 4], initializer=tf.random_normal_initializer(stddev=.2, seed=1))
        feed = tf.get_variable('feed', [12, 4], initializer=tf.random_normal_initializer(stddev=.2, seed=2))
    x = tf.concat([tf.nn.embedding_lookup(user, features['uid'], partition_strategy='div'),
                   tf.nn.embedding_lookup(feed, features['feed'], partition_strategy='div'), features['dense']], -1)
    dim = x.shape[-1].value
    expert_w = tf.get_variable('expert_w', [dim, UNITS, EXPERTS], initializer=tf.random_normal_initializer(stddev=.3, seed=3))
    expert_b = tf.get_variable('expert_b', [UNITS, EXPERTS], initializer=tf.zeros_initializer)
    experts = tf.nn.relu(tf.tensordot(x, expert_w, axes=1) + expert_b)  # [B, U, E]
    logits, gates = {}, {}
    for i, task in enumerate(TASKS):
        gate_w = tf.get_variable('gate_w_%s' % task, [dim, EXPERTS], initializer=tf.random_normal_initializer(stddev=.3, seed=4 + i))
        gates[task] = tf.nn.softmax(tf.matmul(x, gate_w))
        mixed = tf.reduce_sum(experts * tf.expand_dims(gates[task], 1), axis=2)
        logits[task] = tf.layers.dense(mixed, 1, name='tower_' + task, kernel_initializer=tf.truncated_normal_initializer(stddev=.3, seed=7))[:, 0]
    predictions = {task: tf.sigmoid(one) for task, one in logits.items()}
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions.update({'gate_' + k: v for k, v in gates.items()})
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    losses = [tf.losses.log_loss(labels[t], predictions[t], weights=w, scope='loss_' + t) for t, w in zip(TASKS, params['weights'])]
    loss = tf.losses.get_total_loss()
    metrics = {t + '_auc': tf.metrics.auc(labels[t], predictions[t]) for t in TASKS}
    metrics.update({t + '_loss': tf.metrics.mean(l) for t, l in zip(TASKS, losses)})
    ops = []
    for scope in TASKS:  # 不同的参数用不同的优化器
        vs = [v for v in tf.trainable_variables() if scope in v.name]
        ops.append(tf.train.AdagradOptimizer(.1).minimize(loss, var_list=vs))
    shared = [v for v in tf.trainable_variables() if not any(t in v.name for t in TASKS)]
    ops.append(tf.train.AdamOptimizer(.01).minimize(loss, global_step=tf.train.get_global_step(), var_list=shared))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*ops), eval_metric_ops=metrics)


def main(_):
    est = tf.estimator.Estimator(model_fn, 'mmoe', tf.estimator.RunConfig(log_step_count_steps=2), params={'weights': [1., .5]})
    est.train(lambda: input_fn(5))
    metrics = est.evaluate(lambda: input_fn(1))
    row = next(est.predict(lambda: input_fn(1)))
    print(json.dumps({'metrics': {k: float(v) for k, v in metrics.items()}, 'row': {k: np.asarray(v).tolist() for k, v in row.items()},
                      'names': sorted(est.get_variable_names())[:14], 'user': est.get_variable_value('emb/user')[:2].tolist()}))


if __name__ == '__main__':
    tf.app.run()
