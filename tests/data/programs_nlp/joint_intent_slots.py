"""Intent and slots together: CNN + BiLSTM + CRF, two heads, from_estimator predictor, weighted metrics, Feature parsing with padding."""
import json, os, sys, collections, itertools
import numpy as np
import tensorflow as tf
from tensorflow.contrib.crf import crf_log_likelihood, viterbi_decode, crf_sequence_score
from tensorflow.contrib.rnn import LayerNormBasicLSTMCell, GRUBlockCellV2
from tensorflow.contrib.lookup import MutableHashTable, HashTable, KeyValueTensorInitializer
from tensorflow.contrib.metrics import streaming_accuracy
from tensorflow.contrib.predictor import from_estimator

WORDS = 'fly from boston to denver show me fares on monday in paris'.split()
SLOTS, INTENTS = ['O', 'B-city', 'B-day'], ['flight', 'fare']


def write(path):
    rng = np.random.RandomState(5)
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(24):
            words = [WORDS[i] for i in rng.randint(0, len(WORDS), rng.randint(3, 7))]
            slots = [1 if w in ('boston', 'denver', 'paris') else 2 if w == 'monday' else 0 for w in words]
            sequence = tf.train.SequenceExample()
            sequence.context.feature['intent'].int64_list.value.append(int('fares' in words))
            for w, s in zip(words, slots):
                sequence.feature_lists.feature_list['words'].feature.add().bytes_list.value.append(w.encode())
                sequence.feature_lists.feature_list['slots'].feature.add().int64_list.value.append(s)
            writer.write(sequence.SerializeToString())


def input_fn(path, epochs):
    def parse(s):
        context, lists = tf.parse_single_sequence_example(s, {'intent': tf.FixedLenFeature([], tf.int64)},
                                                          {'words': tf.FixedLenSequenceFeature([], tf.string), 'slots': tf.FixedLenSequenceFeature([], tf.int64)})
        return {'words': lists['words'], 'length': tf.size(lists['words'])}, {'slots': tf.to_int32(lists['slots']), 'intent': context['intent']}
    ds = tf.data.TFRecordDataset(path).map(parse).repeat(epochs)
    return ds.padded_batch(6, ({'words': [8], 'length': []}, {'slots': [8], 'intent': []}), ({'words': '', 'length': 0}, {'slots': 0, 'intent': tf.constant(0, tf.int64)}))


def model_fn(features, labels, mode, params):
    table = HashTable(KeyValueTensorInitializer(WORDS, np.arange(1, len(WORDS) + 1).astype(np.int64)), 0)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, table.init) if False else None
    ids = table.lookup(features['words'])
    length = tf.to_int32(features['length'])
    with tf.variable_scope('m', initializer=tf.random_uniform_initializer(-.4, .4, seed=11)):
        x = tf.nn.embedding_lookup(tf.get_variable('e', [len(WORDS) + 1, 5]), ids)
        x = tf.layers.conv1d(x, 6, 3, padding='same', activation=tf.nn.crelu if False else tf.nn.relu)
        fw = LayerNormBasicLSTMCell(4, dropout_keep_prob=1.0, norm_gain=1.0)
        bw = GRUBlockCellV2(4)
        (a, b), states = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, length, dtype=tf.float32)
        slot_scores = tf.layers.dense(tf.concat([a, b], -1), 3, name='slots')
        intent_logits = tf.layers.dense(tf.concat([states[0].h, states[1]], -1), 2, name='intent')
        transitions = tf.get_variable('transitions', [3, 3])
    decoded, best = tf.contrib.crf.crf_decode(slot_scores, transitions, length)
    predictions = {'slots': decoded, 'intent': tf.gather(tf.constant(INTENTS), tf.argmax(intent_logits, -1)), 'scores': slot_scores, 'best': best, 'transitions': tf.tile(transitions[None], [tf.shape(decoded)[0], 1, 1])}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs={'serving_default': tf.estimator.export.PredictOutput(predictions)})
    ll, _ = crf_log_likelihood(slot_scores, labels['slots'], length, transitions)
    mask = tf.sequence_mask(length, 8, tf.float32)
    token = tf.contrib.seq2seq.sequence_loss(slot_scores, labels['slots'], mask)
    intent_loss = tf.losses.sparse_softmax_cross_entropy(labels['intent'], intent_logits, weights=.5)
    loss = tf.reduce_mean(-ll) + tf.losses.get_total_loss() + .1 * token
    metrics = {'slot_acc': tf.metrics.accuracy(labels['slots'], decoded, mask), 'intent_acc': streaming_accuracy(tf.argmax(intent_logits, -1), labels['intent']),
               'slot_fn': tf.metrics.false_negatives(labels['slots'] > 0, decoded > 0, weights=mask), 'slot_recall_at': tf.metrics.recall_at_thresholds(labels['slots'] > 0, tf.nn.sigmoid(slot_scores[..., 1]), [.3, .6], weights=mask)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), .05, 'Ftrl' if params.get('ftrl') else tf.train.AdagradOptimizer, clip_gradients=tf.contrib.layers.adaptive_clipping_fn(decay=.9) if params.get('adaptive') else 1.,
                                               gradient_multipliers={'m/e': .5}, name='opt')
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def receiver():
    words, length = tf.placeholder(tf.string, [None, 8], 'w'), tf.placeholder(tf.int32, [None], 'n')
    return tf.estimator.export.ServingInputReceiver({'words': words, 'length': length}, {'words': words, 'length': length})


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.ERROR)
    write('atis.tfrecord')
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={})
    est.train(lambda: input_fn('atis.tfrecord', 6))
    ev = est.evaluate(lambda: input_fn('atis.tfrecord', 1))
    predict = from_estimator(est, receiver)
    words = 'fly to denver on monday'.split()
    out = predict({'words': [words + [''] * 3], 'length': [5]})
    path, score = viterbi_decode(out['scores'][0][:5], out['transitions'][0])
    assert path == out['slots'][0][:5].tolist()
    print(json.dumps({'ev': {k: np.asarray(v).tolist() for k, v in ev.items()}, 'slots': [int(i) for i in path], 'score': float(score), 'best': float(out['best'][0]), 'intent': out['intent'][0].decode()}))
