"""ELMo-like: character convolutions, highway layers, two directions of projected LSTMs, a learnt mix of layers."""
import json
import sys
import h5py
import numpy as np
import tensorflow as tf
from tensorflow.python.ops.init_ops import glorot_uniform_initializer

DTYPE = 'float32'
DTYPE_INT = 'int64'
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.set_verbosity(tf.logging.ERROR)


def make_convolutions(inp, filters, max_chars):
    with tf.variable_scope('CNN') as scope:
        convolutions = []
        for i, (width, num) in enumerate(filters):
            w_init = tf.random_uniform_initializer(minval=-0.2, maxval=0.2, seed=i)
            w = tf.get_variable('W_cnn_%s' % i, [1, width, 3, num], initializer=w_init, dtype=DTYPE)
            b = tf.get_variable('b_cnn_%s' % i, [num], dtype=DTYPE, initializer=tf.constant_initializer(0.0))
            conv = tf.nn.conv2d(inp, w, strides=[1, 1, 1, 1], padding='VALID') + b
            conv = tf.nn.max_pool(conv, [1, 1, max_chars - width + 1, 1], [1, 1, 1, 1], 'VALID')
            conv = tf.nn.relu(conv)
            convolutions.append(tf.squeeze(conv, squeeze_dims=[2]))
    return tf.concat(convolutions, 2)


def high(x, ww_carry, bb_carry, ww_tr, bb_tr):
    carry_gate = tf.nn.sigmoid(tf.matmul(x, ww_carry) + bb_carry)
    transform_gate = tf.nn.relu(tf.matmul(x, ww_tr) + bb_tr)
    return carry_gate * transform_gate + (1.0 - carry_gate) * x


def weight_layers(name, layers, l2_coef, mask):
    with tf.variable_scope(name):
        n_lm_layers = len(layers)
        W = tf.get_variable('{}_ELMo_W'.format(name), shape=(n_lm_layers,), initializer=tf.zeros_initializer,
                            regularizer=lambda s: l2_coef * tf.reduce_sum(tf.square(s)), trainable=True)
        normed_weights = tf.split(tf.nn.softmax(W + 1.0 / n_lm_layers), n_lm_layers)
        pieces = []
        for w, t in zip(normed_weights, layers):
            mask3 = tf.expand_dims(mask, axis=-1)
            n = tf.reduce_sum(mask) * t.shape[-1].value
            mean = tf.reduce_sum(t * mask3) / n
            variance = tf.reduce_sum(((t - mean) * mask3) ** 2) / n
            pieces.append(w * tf.nn.batch_normalization(t, mean, variance, None, None, 1E-12))
        gamma = tf.get_variable('{}_ELMo_gamma'.format(name), shape=(1,), initializer=tf.ones_initializer, regularizer=None, trainable=True)
        return tf.add_n(pieces) * gamma


def model_fn(features, labels, mode, params):
    chars = features['chars']
    lengths = tf.reduce_sum(tf.cast(tf.reduce_any(chars > 0, axis=2), tf.int32), axis=1)
    mask = tf.sequence_mask(lengths, 4, dtype=tf.float32)
    with tf.variable_scope('bilm'):
        with tf.device('/cpu:0'):
            char_table = tf.get_variable('char_embed', [30, 3], dtype=DTYPE, initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=5))
            char_embedding = tf.nn.embedding_lookup(char_table, chars)
        embedding = make_convolutions(char_embedding, [[1, 2], [2, 4]], 5)
        flat = tf.reshape(embedding, [-1, 6])
        for i in range(2):
            with tf.variable_scope('CNN_high_%s' % i):
                W_carry = tf.get_variable('W_carry', [6, 6], initializer=tf.random_normal_initializer(mean=0.0, stddev=np.sqrt(1.0 / 6), seed=i), dtype=DTYPE)
                b_carry = tf.get_variable('b_carry', [6], initializer=tf.constant_initializer(-2.0), dtype=DTYPE)
                W_transform = tf.get_variable('W_transform', [6, 6], initializer=tf.random_normal_initializer(mean=0.0, stddev=np.sqrt(1.0 / 6), seed=3 + i), dtype=DTYPE)
                b_transform = tf.get_variable('b_transform', [6], initializer=tf.constant_initializer(0.0), dtype=DTYPE)
            flat = high(flat, W_carry, b_carry, W_transform, b_transform)
        embedding = tf.reshape(flat, tf.shape(embedding))
        embedding.set_shape([None, 4, 6])
        layers = [tf.concat([embedding, embedding], 2)]
        outputs = []
        for direction in ('forward', 'backward'):
            x = embedding if direction == 'forward' else tf.reverse_sequence(embedding, lengths, seq_axis=1, batch_axis=0)
            with tf.variable_scope('RNN_%s' % direction, initializer=glorot_uniform_initializer(seed=2)):
                per_layer = []
                for i in range(2):
                    cell = tf.nn.rnn_cell.LSTMCell(7, num_proj=6, cell_clip=3, proj_clip=3)
                    if i == 1:
                        cell = tf.nn.rnn_cell.ResidualWrapper(cell)
                    with tf.variable_scope('Layer_%d' % i):
                        x, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
                    per_layer.append(x if direction == 'forward' else tf.reverse_sequence(x, lengths, seq_dim=1, batch_dim=0))
                outputs.append(per_layer)
        layers += [tf.concat(pair, -1) for pair in zip(*outputs)]
    elmo = weight_layers('input', layers, 0.01, mask)
    pooled = tf.reduce_sum(elmo * mask[..., None], 1) / tf.cast(lengths, tf.float32)[:, None]
    logits = tf.layers.dense(pooled, 2, kernel_initializer=glorot_uniform_initializer(seed=3))
    if mode == 'infer':
        return tf.estimator.EstimatorSpec(mode, predictions={'elmo': elmo, 'logits': logits})
    reg = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + reg
    if mode == 'eval':
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'acc': tf.metrics.accuracy(labels, tf.argmax(logits, 1))})
    opt = tf.train.AdagradOptimizer(0.1, initial_accumulator_value=1.0)
    grads = opt.compute_gradients(loss * 4.0, tf.trainable_variables(), aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    grads = [(tf.clip_by_norm(g, 1.0) if not isinstance(g, tf.IndexedSlices) else tf.clip_by_norm(tf.convert_to_tensor(g), 1.0), v) for g, v in grads if g is not None]
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.apply_gradients(grads, tf.train.get_global_step()))


def input_fn():
    rng = np.random.RandomState(0)
    chars = rng.randint(1, 30, [12, 4, 5])
    chars[::3, 3] = 0
    return tf.data.Dataset.from_tensor_slices(({'chars': chars}, (chars[:, 0, 0] > 15).astype('int64'))).batch(6)


if __name__ == '__main__':
    estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
    estimator.train(lambda: input_fn().repeat(5))
    result = estimator.evaluate(input_fn)
    with h5py.File('elmo.hdf5', 'w') as fout:
        for i, p in enumerate(estimator.predict(input_fn)):
            fout.create_dataset('{}'.format(i), p['elmo'].shape, dtype='float32', data=p['elmo'])
    with h5py.File('elmo.hdf5', 'r') as fin:
        first, n = fin['0'][...][0].tolist(), len(fin)
    mix = estimator.get_variable_value('input/input_ELMo_W').tolist()
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'first': first, 'n': n, 'mix': mix}))
