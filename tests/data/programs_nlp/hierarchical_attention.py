"""Hierarchical attention for documents: words -> sentences -> document, tf.map_fn, GRU, label smoothing, class weights."""
import json
import sys
from collections import OrderedDict, namedtuple
import numpy as np
import tensorflow as tf
import tensorflow.contrib.layers as layers
from tensorflow.contrib.layers.python.layers import layers as layers_lib, utils
from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope

try:
    from tensorflow.contrib.rnn import LSTMStateTuple
except ImportError:
    LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple

MODE = tf.estimator.ModeKeys
Sizes = namedtuple('Sizes', 'sentences words vocab embed cell attention')
S = Sizes(3, 4, 30, 5, 4, 6)


@add_arg_scope
def task_specific_attention(inputs, output_size, initializer=layers.xavier_initializer(seed=1), activation_fn=tf.tanh, scope=None):
    assert len(inputs.get_shape()) == 3 and inputs.get_shape()[-1].value is not None
    with tf.variable_scope(scope or 'attention') as scope:
        attention_context_vector = tf.get_variable(name='attention_context_vector', shape=[output_size], initializer=tf.random_normal_initializer(stddev=.5, seed=3), dtype=tf.float32)
        input_projection = layers.fully_connected(inputs, output_size, activation_fn=activation_fn, weights_initializer=initializer, scope=scope)
        vector_attn = tf.reduce_sum(tf.multiply(input_projection, attention_context_vector), axis=2, keep_dims=True)
        attention_weights = tf.nn.softmax(vector_attn, dim=1)
        return tf.reduce_sum(tf.multiply(inputs, attention_weights), axis=1), attention_weights


def bidirectional_rnn(cell_fw, cell_bw, inputs, input_lengths, scope=None):
    with tf.variable_scope(scope or 'birnn', initializer=tf.orthogonal_initializer(seed=2)) as scope:
        ((fw_outputs, bw_outputs), (fw_state, bw_state)) = tf.nn.bidirectional_dynamic_rnn(
            cell_fw=cell_fw, cell_bw=cell_bw, inputs=inputs, sequence_length=input_lengths, dtype=tf.float32, swap_memory=True, scope=scope)
        outputs = tf.concat((fw_outputs, bw_outputs), 2)

        def concatenate_state(fw, bw):
            if isinstance(fw, LSTMStateTuple):
                return LSTMStateTuple(c=tf.concat((fw.c, bw.c), 1), h=tf.concat((fw.h, bw.h), 1))
            elif isinstance(fw, tf.Tensor):
                return tf.concat((fw, bw), 1)
            raise ValueError(fw)
        return outputs, concatenate_state(fw_state, bw_state)


def model_fn(features, labels, mode):
    ids, n_words, n_sents = features['ids'], features['words'], features['sentences']
    with tf.variable_scope('tcm'):
        embedding_matrix = layers_lib.model_variable('embedding', [S.vocab, S.embed], initializer=layers.xavier_initializer(uniform=False, seed=5)) if hasattr(layers_lib, 'model_variable') else \
            tf.contrib.framework.model_variable('embedding', [S.vocab, S.embed], initializer=layers.xavier_initializer(uniform=False, seed=5))
        x = tf.nn.embedding_lookup(embedding_matrix, ids)
        with arg_scope([task_specific_attention], activation_fn=tf.nn.tanh):
            with tf.variable_scope('word'):
                flat = tf.reshape(x, [-1, S.words, S.embed])
                cells = [tf.contrib.rnn.GRUCell(S.cell), tf.contrib.rnn.GRUCell(S.cell)]
                out, _ = bidirectional_rnn(cells[0], cells[1], flat, tf.reshape(n_words, [-1]))
                sentences, word_weights = task_specific_attention(out, S.attention)
            with tf.variable_scope('sentence'):
                sentences = tf.reshape(sentences, [-1, S.sentences, 2 * S.cell])
                out, state = bidirectional_rnn(tf.contrib.rnn.GRUBlockCell(S.cell), tf.contrib.rnn.GRUBlockCell(S.cell), sentences, n_sents)
                document, sentence_weights = task_specific_attention(out, S.attention)
        with tf.variable_scope('classifier'):
            end_points_collection = 'ends'
            logits = layers.fully_connected(tf.concat([document, state], 1), 3, activation_fn=None, outputs_collections=end_points_collection, weights_initializer=layers.xavier_initializer(seed=7), scope='logits')
            end_points = utils.convert_collection_to_dict(end_points_collection)
    if mode == MODE.PREDICT:
        return tf.estimator.EstimatorSpec(mode, OrderedDict([('probs', tf.nn.softmax(end_points[list(end_points)[0]])), ('sentence_weights', tf.squeeze(sentence_weights, -1)), ('scaled', tf.map_fn(lambda r: r * 2., document))]))
    class_weights = tf.gather(tf.constant([1., 2., .5]), labels)
    loss = tf.losses.softmax_cross_entropy(onehot_labels=tf.one_hot(labels, 3), logits=logits, weights=class_weights, label_smoothing=0.1, reduction=tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS)
    metrics = {'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1), weights=class_weights), 'per_class': tf.metrics.mean_per_class_accuracy(labels, tf.argmax(logits, 1), 3),
               'cosine': tf.metrics.mean_cosine_distance(tf.one_hot(labels, 3), tf.nn.l2_normalize(logits, dim=1), dim=1)}
    train_op = None
    if mode == MODE.TRAIN:
        grads = tf.gradients(loss, tf.trainable_variables())
        clipped, norm = tf.clip_by_global_norm(grads, 1.0)
        tf.summary.scalar('global_grad_norm', norm)
        opt = tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.5, epsilon=1e-4, centered=True)
        train_op = opt.apply_gradients(zip(clipped, tf.trainable_variables()), global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={k: v for k, v in metrics.items() if k != 'per_class'})


def input_fn():
    rng = np.random.RandomState(2)
    ids = rng.randint(0, S.vocab, [18, S.sentences, S.words])
    f = {'ids': ids, 'words': rng.randint(1, S.words + 1, [18, S.sentences]), 'sentences': rng.randint(1, S.sentences + 1, [18])}
    return tf.data.Dataset.from_tensor_slices((f, ids[:, 0, 0] % 3)).batch(6)


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    for _ in range(2):
        est.train(lambda: input_fn().repeat(4), steps=9)
    scores = est.evaluate(input_fn)
    p = next(est.predict(lambda: input_fn()))
    print(json.dumps({'scores': {k: float(v) for k, v in scores.items()}, 'p': {k: v.tolist() for k, v in p.items()}, 'order': list(p)}))
