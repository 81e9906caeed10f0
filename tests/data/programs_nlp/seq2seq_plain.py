"""Attention-free seq2seq with tf.contrib.seq2seq: TrainingHelper, GreedyEmbeddingHelper, dynamic_decode; masks; max-length (TF 1.4)."""
import json, sys, logging
import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq, layers, lookup
from tensorflow.python.layers.core import Dense
from tensorflow.python.layers import core as layers_core
from tensorflow.contrib.learn import ModeKeys as OldKeys

START, END, UNK = 0, 1, 2
logging.getLogger('tensorflow').setLevel(logging.ERROR)


def make_cell(num_units, n):
    cells = []
    for _ in range(n):
        cells.append(tf.contrib.rnn.GRUCell(num_units, kernel_initializer=tf.random_uniform_initializer(-.4, .4, seed=3), bias_initializer=tf.constant_initializer(.5)))
    return tf.contrib.rnn.MultiRNNCell(cells) if n > 1 else cells[0]


def seq2seq_model(mode, features, labels, params):
    vocab, dim, units = params['vocab'], params['dim'], params['units']
    inp = features['input']
    output = features['output']
    batch_size = tf.shape(inp)[0]
    start_tokens = tf.fill([batch_size], START)
    train_output = tf.concat([tf.expand_dims(start_tokens, 1), output], 1)
    input_lengths = tf.reduce_sum(tf.to_int32(tf.not_equal(inp, END)), 1)
    output_lengths = tf.reduce_sum(tf.to_int32(tf.not_equal(train_output, END)), 1)
    emb = tf.random_uniform_initializer(-.6, .6, seed=2)
    input_embed = layers.embed_sequence(inp, vocab_size=vocab, embed_dim=dim, scope='embed', initializer=emb)
    output_embed = layers.embed_sequence(train_output, vocab_size=vocab, embed_dim=dim, scope='embed', reuse=True)
    with tf.variable_scope('embed', reuse=True):
        embeddings = tf.get_variable('embeddings')
    with tf.variable_scope('encoder'):
        _, encoder_final_state = tf.nn.dynamic_rnn(make_cell(units, 2), input_embed, sequence_length=input_lengths, dtype=tf.float32)
    train_helper = seq2seq.TrainingHelper(output_embed, output_lengths)
    pred_helper = seq2seq.GreedyEmbeddingHelper(embeddings, start_tokens=tf.to_int32(start_tokens), end_token=END)
    projection = layers_core.Dense(vocab, use_bias=False, kernel_initializer=tf.random_uniform_initializer(-.4, .4, seed=7), name='projection')

    def decode(helper, scope, reuse=None):
        with tf.variable_scope(scope, reuse=reuse):
            decoder = seq2seq.BasicDecoder(cell=make_cell(units, 2), helper=helper, initial_state=encoder_final_state, output_layer=projection)
            outputs, state, lengths = seq2seq.dynamic_decode(decoder=decoder, output_time_major=False, impute_finished=True, maximum_iterations=params['max'])
            return outputs, lengths

    train_outputs, _ = decode(train_helper, 'decode')
    pred_outputs, pred_lengths = decode(pred_helper, 'decode', reuse=True)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'ids': tf.pad(pred_outputs.sample_id, [[0, 0], [0, params['max'] - tf.shape(pred_outputs.sample_id)[1]]], constant_values=END), 'length': pred_lengths})
    tf.identity(train_outputs.sample_id[0], name='train_pred')
    weights = tf.to_float(tf.not_equal(train_output[:, :-1], END))
    loss = seq2seq.sequence_loss(train_outputs.rnn_output, output[:, :tf.shape(train_outputs.rnn_output)[1]], weights=weights[:, :tf.shape(train_outputs.rnn_output)[1]])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_op = layers.optimize_loss(loss, tf.train.get_global_step(), optimizer=params.get('optimizer', 'Adam'), learning_rate=params['rate'],
                                    summaries=['loss', 'learning_rate'], clip_gradients=2.0, learning_rate_decay_fn=lambda lr, gs: tf.train.natural_exp_decay(lr, gs, 10, 0.1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_input_fn(seed, rows, epochs):
    def input_fn():
        rng = np.random.RandomState(seed)
        x = rng.randint(3, 12, [rows, 5]).astype(np.int32)
        x[::2, 4] = END
        y = np.where(x == END, END, (x - 3 + 1) % 9 + 3)
        y = np.concatenate([y, np.full([rows, 1], END)], 1).astype(np.int32)
        ds = tf.data.Dataset.from_tensor_slices({'input': x, 'output': y}).repeat(epochs).batch(6)
        return ds.make_one_shot_iterator().get_next(), None
    return input_fn


def get_formatter(keys, vocab):
    def format(values):
        return '\n'.join('%s = %s' % (k, ' '.join(map(str, values[k]))) for k in keys)
    return format


if __name__ == '__main__':
    params = {'vocab': 12, 'dim': 5, 'units': 7, 'max': 7, 'rate': 0.03}
    est = tf.estimator.Estimator(model_fn=lambda features, labels, mode, params: seq2seq_model(mode, features, labels, params), model_dir=sys.argv[1], params=params,
                                 config=tf.contrib.learn.RunConfig(tf_random_seed=1, save_checkpoints_steps=20) if len(sys.argv) > 2 else tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=20))
    est.train(make_input_fn(0, 30, None), steps=40, hooks=[tf.train.LoggingTensorHook(['train_pred'], every_n_iter=100, formatter=get_formatter(['train_pred'], None))])
    loss = float(est.evaluate(make_input_fn(0, 12, 1))['loss'])
    rows = list(est.predict(make_input_fn(0, 6, 1)))
    print(json.dumps({'loss': loss, 'ids': [r['ids'].tolist() for r in rows], 'lengths': [int(r['length']) for r in rows], 'train': OldKeys.TRAIN}))
