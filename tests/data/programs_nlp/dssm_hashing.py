"""DSSM: letter trigrams by hash, towers, rotated negatives, cosine with a smoothing factor; TFRecords of bytes (TF 1.6)."""
import argparse
import json
import random
import sys
import tensorflow as tf
from tensorflow.python.lib.io import python_io, file_io
from tensorflow.python.estimator import estimator as estimator_lib
from tensorflow.python.estimator import model_fn as model_fn_lib
from tensorflow.python.estimator import run_config as run_config_lib

NEG, BS, TRIGRAM_D = 3, 6, 50
FLAGS = None


def write(path):
    rnd = random.Random(4)
    words = ['red', 'shoes', 'blue', 'coat', 'green', 'hat', 'small', 'bag']
    with python_io.TFRecordWriter(path, python_io.TFRecordOptions(python_io.TFRecordCompressionType.GZIP)) as w:
        for _ in range(24):
            q = rnd.sample(words, 2)
            d = q + rnd.sample(words, 2)
            feature = {'query': tf.train.Feature(bytes_list=tf.train.BytesList(value=[(' '.join(q)).encode('utf-8')])),
                       'doc': tf.train.Feature(bytes_list=tf.train.BytesList(value=[x.encode() for x in d]))}
            w.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def input_fn(path, epochs):
    spec = {'query': tf.FixedLenFeature((), tf.string, ''), 'doc': tf.VarLenFeature(tf.string)}
    ds = tf.data.TFRecordDataset([path], compression_type='GZIP', buffer_size=1024)
    ds = ds.apply(tf.contrib.data.shuffle_and_repeat(1, epochs, seed=3))
    ds = ds.apply(tf.contrib.data.batch_and_drop_remainder(BS)).map(lambda s: tf.parse_example(s, spec))
    return ds


def trigrams(tokens):
    """SparseTensor of words -> bag of letter trigrams, [rows, TRIGRAM_D]."""
    text = tf.string_join(['#', tokens.values, '#'])
    length = 6
    parts = [tf.substr(tf.string_join([text, '      ']), i, 3) for i in range(length)]
    grams = tf.stack(parts, axis=1)
    ids = tf.string_to_hash_bucket_fast(grams, TRIGRAM_D)
    counts = tf.reduce_sum(tf.one_hot(ids, TRIGRAM_D), axis=1)
    return tf.segment_sum(counts, tf.to_int32(tokens.indices[:, 0]))


def tower(x, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for i, n in enumerate((12, 8)):
            bound = (6.0 / (n + x.shape[-1].value)) ** 0.5
            w = tf.get_variable('w%d' % i, [x.shape[-1].value, n], initializer=tf.random_uniform_initializer(-bound, bound, seed=i))
            b = tf.get_variable('b%d' % i, [n], initializer=tf.constant_initializer(0.01))
            x = tf.nn.tanh(tf.nn.xw_plus_b(x, w, b))
    return x


def model_fn(features, labels, mode):
    query = tf.string_split(features['query'], ' ')
    q = tower(trigrams(query), 'query')
    d = tower(trigrams(features['doc']), 'doc')
    with tf.name_scope('FD_rotate'):
        temp, rows = tf.tile(d, [1, 1]), [d]
        for i in range(NEG):
            rand = (2 + i) % BS
            rows.append(tf.concat([tf.slice(temp, [rand, 0], [BS - rand, -1]), tf.slice(temp, [0, 0], [rand, -1])], 0))
        doc_y = tf.concat(rows, 0)
    with tf.name_scope('Cosine_Similarity'):
        query_norm = tf.tile(tf.sqrt(tf.reduce_sum(tf.square(q), 1, True)), [NEG + 1, 1])
        doc_norm = tf.sqrt(tf.reduce_sum(tf.square(doc_y), 1, True))
        prod = tf.reduce_sum(tf.multiply(tf.tile(q, [NEG + 1, 1]), doc_y), 1, True)
        cos_sim_raw = tf.truediv(prod, tf.multiply(query_norm, doc_norm))
        cos_sim = tf.transpose(tf.reshape(tf.transpose(cos_sim_raw), [NEG + 1, BS])) * 20
    prob = tf.nn.softmax(cos_sim)
    hit_prob = tf.slice(prob, [0, 0], [-1, 1])
    if mode == model_fn_lib.ModeKeys.PREDICT:
        return model_fn_lib.EstimatorSpec(mode, predictions={'hit': tf.squeeze(hit_prob, 1), 'query': features['query'], 'words': tf.sparse_tensor_to_dense(query, '')})
    loss = -tf.reduce_sum(tf.log(tf.clip_by_value(hit_prob, 1e-10, 1.0))) / BS
    correct = tf.equal(tf.argmax(prob, 1), 0)
    if mode == model_fn_lib.ModeKeys.EVAL:
        return model_fn_lib.EstimatorSpec(mode, loss=loss, eval_metric_ops={'correct': tf.metrics.mean(tf.cast(correct, tf.float32)), 'hit@2': tf.metrics.recall_at_k(tf.zeros([BS, 1], tf.int64), prob, 2)})
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, tf.train.get_or_create_global_step(), gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    return model_fn_lib.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(argv):
    path = 'pairs.tfrecord.gz'
    write(path)
    config = run_config_lib.RunConfig(model_dir=FLAGS.model_dir, tf_random_seed=1)
    est = estimator_lib.Estimator(model_fn, config=config)
    est.train(lambda: input_fn(path, None), steps=15)
    found = est.evaluate(lambda: input_fn(path, 1))
    rows = list(est.predict(lambda: input_fn(path, 1)))
    print(json.dumps({'found': {k: float(v) for k, v in sorted(found.items())}, 'rows': len(rows), 'query': rows[0]['query'].decode(),
                      'words': [w.decode() for w in rows[0]['words']], 'hit': [float(r['hit']) for r in rows[:3]], 'size': file_io.stat(path).length > 100}))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.FATAL)
    parser = argparse.ArgumentParser()
    parser.register('type', 'bool', lambda v: v.lower() == 'true')
    parser.add_argument('--model_dir', type=str, default='')
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
