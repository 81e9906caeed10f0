"""CRNN for text in images: sparse labels, ctc_loss, beam search decoder, edit distance as a metric, charset in a StaticHashTable (TF 1.14)."""
import json
import sys
import string
import numpy as np
import tensorflow as tf
from tensorflow.contrib.rnn import stack_bidirectional_dynamic_rnn, LSTMCell
from tensorflow.python.ops import ctc_ops

CHARSET = 'abcd'


def cnn(x, training):
    for i, (n, pool) in enumerate([(6, (2, 2)), (8, (2, 1))]):
        x = tf.layers.conv2d(x, n, (3, 3), padding='same', activation=tf.nn.relu, kernel_initializer=tf.random_normal_initializer(stddev=.2, seed=i), name='conv%d' % i)
        x = tf.layers.batch_normalization(x, training=training, fused=True, renorm=False, momentum=.9)
        x = tf.layers.max_pooling2d(x, pool, pool)
    x = tf.transpose(x, [0, 2, 1, 3])
    s = x.shape.as_list()
    return tf.reshape(x, [-1, s[1], s[2] * s[3]])


def model_fn(features, labels, mode, params):
    seq = cnn(features['image'], mode == tf.estimator.ModeKeys.TRAIN)
    width = seq.shape[1].value
    with tf.variable_scope('rnn', initializer=tf.random_uniform_initializer(-.3, .3, seed=4)):
        cells = lambda: [LSTMCell(6, use_peepholes=True) for _ in range(2)]
        out, _, _ = stack_bidirectional_dynamic_rnn(cells(), cells(), seq, dtype=tf.float32)
        logits = tf.layers.dense(out, len(CHARSET) + 1)
    logits = tf.transpose(logits, [1, 0, 2])
    lengths = tf.fill([tf.shape(features['image'])[0]], width)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(np.arange(len(CHARSET), dtype=np.int64), list(CHARSET)), '?')
    decoded, log_prob = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=4, merge_repeated=False, top_paths=2)
    best = decoded[0]
    characters = tf.sparse_to_dense(best.indices, best.dense_shape, table.lookup(best.values), default_value='')
    words = tf.reduce_join(characters, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'words': words, 'score': tf.subtract(log_prob[:, 0], log_prob[:, 1])})
    loss = tf.reduce_mean(ctc_ops.ctc_loss(labels=labels, inputs=logits, sequence_length=lengths, ignore_longer_outputs_than_inputs=True, preprocess_collapse_repeated=False))
    greedy, _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    distance = tf.edit_distance(tf.cast(best, tf.int32), labels)
    metrics = {'edit': tf.metrics.mean(tf.minimum(distance, 10.)), 'greedy': tf.metrics.mean(tf.minimum(tf.edit_distance(tf.to_int32(greedy[0]), labels), 10.))}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(.02, step, 30, .001, power=.5, cycle=False)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(rate).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat):
    rng = np.random.RandomState(0)
    images, words = np.zeros([16, 8, 16, 1], np.float32), []
    for i in range(16):
        word = [int(c) for c in rng.randint(0, 4, 2 + i % 2)]
        for k, c in enumerate(word):
            images[i, c * 2:c * 2 + 2, k * 5:k * 5 + 3] = 1.
        words.append(word)
    lengths = [len(w) for w in words]
    padded = np.array([w + [-1] * (3 - len(w)) for w in words], np.int32)

    def sparse(image, label):
        where = tf.where(tf.not_equal(label, -1))
        return {'image': image}, tf.SparseTensor(where, tf.gather_nd(label, where), tf.shape(label, out_type=tf.int64))
    return tf.data.Dataset.from_tensor_slices((images, padded)).repeat(repeat).batch(4).map(sparse)


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={})
    est.train(lambda: input_fn(8))
    result = est.evaluate(lambda: input_fn(1))
    words = [p['words'].decode() for p in est.predict(lambda: input_fn(1))]
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'words': words}))
