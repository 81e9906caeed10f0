"""fastText: word and bigram hashes in TFRecords, sparse lookups, canned-free classifier with learn-rate decay and export."""
from __future__ import print_function
import json
import os.path
import tempfile
import numpy as np
import tensorflow as tf
from tensorflow.contrib.layers import feature_column as _fc_package
from tensorflow.python.feature_column import feature_column as fc

tf.flags.DEFINE_string('model_dir', '.', 'output')
tf.flags.DEFINE_integer('embedding_dimension', 4, 'dim')
tf.flags.DEFINE_integer('num_oov_vocab_buckets', 3, 'buckets')
tf.flags.DEFINE_float('learning_rate', 0.4, 'rate')
tf.flags.DEFINE_boolean('use_ngrams', True, 'ngrams')
FLAGS = tf.flags.FLAGS
TEXTS = [('cheap pills buy now', 'spam'), ('meeting at noon', 'ham'), ('buy cheap watches', 'spam'), ('lunch at noon today', 'ham'), ('see you at the meeting', 'ham'), ('pills pills now', 'spam')]


def ParseNgramsOpts(opts):
    return sorted(set(int(g) for g in opts.split(',')))


def GenerateNgrams(words, ngrams):
    res = []
    for n in ngrams:
        res.extend([' '.join(words[i:i + n]) for i in range(len(words) - n + 1)])
    return res


def write_examples(path):
    writer = tf.python_io.TFRecordWriter(path)
    for text, label in TEXTS * 3:
        example = tf.train.Example()
        words = text.split()
        example.features.feature['text'].bytes_list.value.extend(w.encode() for w in words)
        example.features.feature['label'].bytes_list.value.append(label.encode())
        example.features.feature['ngrams'].bytes_list.value.extend(g.encode() for g in GenerateNgrams(words, ParseNgramsOpts('2,3')))
        writer.write(example.SerializeToString())
    writer.close()


def InputFn(mode, path):
    features = {'text': tf.VarLenFeature(tf.string), 'label': tf.FixedLenFeature([1], tf.string, default_value='ham')}
    if FLAGS.use_ngrams:
        features['ngrams'] = tf.VarLenFeature(tf.string)

    def input_fn():
        d = tf.contrib.data.make_batched_features_dataset(path, 6, features, num_epochs=None if mode == 'train' else 1, shuffle=False)
        f = d.make_one_shot_iterator().get_next()
        return f, f.pop('label')
    return input_fn


def FastTextEstimator(model_dir):
    def model_fn(features, labels, mode, params, config):
        features = dict(features)
        text_lookup_table = tf.contrib.lookup.index_table_from_tensor(tf.constant(sorted(set(' '.join(t for t, _ in TEXTS).split()))[:8]), num_oov_buckets=FLAGS.num_oov_vocab_buckets)
        text_ids = text_lookup_table.lookup(features['text'])
        text_embedding = tf.get_variable('text_embedding', [8 + FLAGS.num_oov_vocab_buckets, FLAGS.embedding_dimension], initializer=tf.random_uniform_initializer(-.5, .5, seed=1))
        text_embed = tf.nn.embedding_lookup_sparse(text_embedding, text_ids, None, combiner='mean')
        parts = [text_embed]
        if FLAGS.use_ngrams:
            hashed = tf.SparseTensor(features['ngrams'].indices, tf.string_to_hash_bucket_strong(features['ngrams'].values, 10, key=[123, 456]), features['ngrams'].dense_shape)
            ngram_embedding = tf.get_variable('ngram_embedding', [10, FLAGS.embedding_dimension], initializer=tf.random_uniform_initializer(-.5, .5, seed=2))
            parts.append(tf.contrib.layers.safe_embedding_lookup_sparse(ngram_embedding, hashed, combiner='sqrtn'))
            bag = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_hash_bucket('text', 7), 2, initializer=tf.constant_initializer(.1))
            parts.append(fc.input_layer(features, [bag]))
        x = tf.concat(parts, axis=1)
        logits = tf.contrib.layers.fully_connected(inputs=x, num_outputs=2, activation_fn=None, weights_initializer=tf.contrib.layers.variance_scaling_initializer(seed=3), scope='out')
        predictions = {'class': tf.gather(tf.constant(['ham', 'spam']), tf.argmax(logits, axis=1)), 'probs': tf.nn.softmax(logits)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            exports = {'proba': tf.estimator.export.PredictOutput({'proba': predictions['probs']}), tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY:
                       tf.estimator.export.ClassificationOutput(predictions['probs'], classes=tf.tile(tf.expand_dims(tf.constant(['ham', 'spam']), 0), [tf.shape(logits)[0], 1]))}
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=exports)
        label_ids = tf.contrib.lookup.index_table_from_tensor(['ham', 'spam']).lookup(labels)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.squeeze(label_ids, 1), logits=logits))
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'accuracy': tf.metrics.accuracy(label_ids, tf.expand_dims(tf.argmax(logits, 1), 1)), 'auc': tf.metrics.auc(label_ids, predictions['probs'][:, 1:])})
        step = tf.train.get_global_step()
        rate = tf.train.inverse_time_decay(FLAGS.learning_rate, step, 10, 0.5, staircase=False)
        train_op = tf.contrib.training.create_train_op(loss, tf.train.AdagradOptimizer(rate), global_step=step, transform_grads_fn=tf.contrib.training.clip_gradient_norms_fn(1.0))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return tf.estimator.Estimator(model_fn, model_dir=model_dir)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    path = os.path.join(tempfile.mkdtemp(), 'train.tfrecords')
    write_examples(path)
    estimator = FastTextEstimator(FLAGS.model_dir)
    estimator.train(InputFn('train', path), steps=20)
    result = estimator.evaluate(InputFn('eval', path), steps=None)
    parse = {'text': tf.VarLenFeature(tf.string), 'ngrams': tf.VarLenFeature(tf.string)}
    where = estimator.export_savedmodel(os.path.join(FLAGS.model_dir, 'export'), tf.estimator.export.build_parsing_serving_input_receiver_fn(parse))
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], where)
        signature = meta.signature_def['proba']
        example = tf.train.Example()
        example.features.feature['text'].bytes_list.value.extend([b'buy', b'pills'])
        example.features.feature['ngrams'].bytes_list.value.extend([b'buy pills'])
        proba = sess.run(signature.outputs['proba'].name, {list(signature.inputs.values())[0].name: [example.SerializeToString()]})
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'proba': proba.tolist(), 'signatures': sorted(meta.signature_def), 'method': signature.method_name}))


if __name__ == '__main__':
    tf.app.run()
