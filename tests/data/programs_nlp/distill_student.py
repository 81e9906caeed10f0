"""Knowledge distillation: a teacher Estimator, its soft predictions cached as npz, a student trained on both losses with a warm start."""
import json, os, sys
import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.training import HParams
from tensorflow.contrib.framework.python.framework import checkpoint_utils
from tensorflow.python.framework import constant_op
from tensorflow.python.training import saver as saver_lib

tf.logging.set_verbosity('ERROR')
HP = HParams(vocab=25, embed=6, teacher_layers=2, student_layers=1, temperature=2.0, alpha=0.7, batch=8)
HP.parse('temperature=3.0,batch=6')


def encoder(ids, layers, is_training):
    with slim.arg_scope([slim.fully_connected], weights_initializer=tf.variance_scaling_initializer(seed=1), weights_regularizer=slim.l2_regularizer(1e-4),
                        normalizer_fn=slim.batch_norm, normalizer_params={'is_training': is_training, 'decay': 0.8, 'updates_collections': None}):
        table = slim.model_variable('word_embeddings', [HP.vocab, HP.embed], initializer=tf.random_normal_initializer(stddev=.5, seed=2))
        x = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), 1)
        return slim.stack(x, slim.fully_connected, [8] * layers, scope='fc')


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    ids = tf.feature_column.input_layer if isinstance(features, str) else features['ids']
    with tf.variable_scope(params.name):
        net = encoder(ids, params.layers, is_training)
        logits = slim.fully_connected(net, 3, activation_fn=None, scope='logits', weights_initializer=tf.variance_scaling_initializer(seed=5))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'soft': tf.nn.softmax(logits / HP.temperature), 'label': tf.argmax(logits, -1)})
    slim.losses.sparse_softmax_cross_entropy(logits, labels) if False else tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss(add_regularization_losses=True)
    if 'soft' in features and is_training:
        kd = tf.nn.softmax_cross_entropy_with_logits_v2(labels=features['soft'], logits=logits / HP.temperature)
        loss = HP.alpha * tf.reduce_mean(kd) * HP.temperature ** 2 + (1 - HP.alpha) * loss
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, -1))})
    optimizer = tf.contrib.opt.NadamOptimizer(learning_rate=0.02, use_locking=True)
    train_op = slim.learning.create_train_op(loss, optimizer, global_step=tf.train.get_global_step(), clip_gradient_norm=5.0, summarize_gradients=True)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


rng = np.random.RandomState(8)
ids = rng.randint(0, HP.vocab, [36, 5])
y = (ids.sum(1) % 3).astype(np.int64)


def input_fn(soft=None, repeat=1):
    f = {'ids': ids}
    if soft is not None:
        f['soft'] = soft
    return tf.data.Dataset.from_tensor_slices((f, y)).repeat(repeat).batch(HP.batch)


def main(root):
    teacher = tf.estimator.Estimator(model_fn, os.path.join(root, 'teacher'), params=HParams(name='teacher', layers=HP.teacher_layers))
    teacher.train(lambda: input_fn(repeat=8))
    np.savez('soft.npz', soft=np.stack([p['soft'] for p in teacher.predict(input_fn)]))
    ckpt = saver_lib.latest_checkpoint(teacher.model_dir)
    names = [n for n, _ in checkpoint_utils.list_variables(ckpt) if n.startswith('teacher/') and 'Adam' not in n]
    ws = tf.estimator.WarmStartSettings(ckpt, vars_to_warm_start='.*word_embeddings', var_name_to_prev_var_name={'student/word_embeddings': 'teacher/word_embeddings'})
    student = tf.estimator.Estimator(model_fn, os.path.join(root, 'student'), params=HParams(name='student', layers=HP.student_layers), warm_start_from=ws)
    soft = np.load('soft.npz')['soft']
    student.train(lambda: input_fn(soft, 6))
    out = {'teacher': {k: float(v) for k, v in teacher.evaluate(input_fn).items()}, 'student': {k: float(v) for k, v in student.evaluate(input_fn).items()}}
    print(json.dumps({'out': out, 'names': sorted(names), 'soft': soft[0].tolist(), 'hp': json.loads(HP.to_json())}))


if __name__ == '__main__':
    main(sys.argv[1])
