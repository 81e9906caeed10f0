"""word2vec skip-gram: generator input, nce_loss and sampled_softmax_loss with a fixed sampler, similarity by a hook."""
import collections, json, math, random, sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector
import os

text = ("king rules the land queen rules the land man works the field woman works the field "
        "king and queen man and woman dog and cat dog chases cat cat chases mouse " * 3).split()
data_index = 0


def build_dataset(words, n_words):
    count = [['UNK', -1]]
    count.extend(sorted(collections.Counter(words).items(), key=lambda p: (-p[1], p[0]))[:n_words - 1])
    dictionary = {w: i for i, (w, _) in enumerate(count)}
    data = [dictionary.get(w, 0) for w in words]
    count[0][1] = data.count(0)
    return data, count, dictionary, dict(zip(dictionary.values(), dictionary.keys()))


def generate_batch(data, batch_size, num_skips, skip_window):
    global data_index
    rnd = random.Random(7)
    span = 2 * skip_window + 1
    while True:
        batch = np.ndarray(shape=(batch_size), dtype=np.int32)
        labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
        buffer = collections.deque(maxlen=span)
        if data_index + span > len(data):
            data_index = 0
        buffer.extend(data[data_index:data_index + span])
        data_index += span
        for i in range(batch_size // num_skips):
            context_words = [w for w in range(span) if w != skip_window]
            words_to_use = rnd.sample(context_words, num_skips)
            for j, context_word in enumerate(words_to_use):
                batch[i * num_skips + j] = buffer[skip_window]
                labels[i * num_skips + j, 0] = buffer[context_word]
            if data_index == len(data):
                buffer.extend(data[0:span])
                data_index = span
            else:
                buffer.append(data[data_index])
                data_index += 1
        data_index = (data_index + len(data) - span) % len(data)
        yield batch, labels


def main(log_dir):
    data, count, dictionary, reverse = build_dataset(text, 14)
    vocab, dim, batch_size = len(dictionary), 6, 8
    valid_examples = np.array([1, 2, 3])

    def model_fn(features, labels, mode, params):
        with tf.name_scope('embeddings'):
            embeddings = tf.get_variable('emb', initializer=tf.random_uniform([vocab, dim], -1.0, 1.0, seed=1))
        with tf.name_scope('weights'):
            nce_weights = tf.get_variable('nce_w', initializer=tf.truncated_normal([vocab, dim], stddev=1.0 / math.sqrt(dim), seed=2))
        with tf.name_scope('biases'):
            nce_biases = tf.get_variable('nce_b', initializer=tf.zeros([vocab]))
        norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
        normalized = tf.div(embeddings, norm, name='normalized')
        similarity = tf.matmul(tf.nn.embedding_lookup(normalized, tf.constant(valid_examples, dtype=tf.int32)), normalized, transpose_b=True)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={'nearest': tf.nn.top_k(tf.gather(normalized, features) @ tf.transpose(normalized), k=3).indices})
        embed = tf.nn.embedding_lookup(embeddings, features)
        sampled = tf.nn.fixed_unigram_candidate_sampler(true_classes=tf.cast(labels, tf.int64), num_true=1, num_sampled=5, unique=True, range_max=vocab,
                                                        distortion=0.75, unigrams=[max(c, 1) for _, c in count], seed=3)
        f = tf.nn.nce_loss if params['loss'] == 'nce' else tf.nn.sampled_softmax_loss
        loss = tf.reduce_mean(f(weights=nce_weights, biases=nce_biases, labels=labels, inputs=embed, num_sampled=5, num_classes=vocab, sampled_values=sampled))
        tf.summary.scalar('loss_of_' + params['loss'], loss)
        optimizer = tf.train.GradientDescentOptimizer(0.5) if params['loss'] == 'nce' else tf.train.AdagradOptimizer(0.5)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[
            tf.train.LoggingTensorHook({'similarity': similarity}, every_n_iter=50)])

    def input_fn():
        global data_index
        data_index = 0
        ds = tf.data.Dataset.from_generator(lambda: generate_batch(data, batch_size, 2, 1), (tf.int32, tf.int32), (tf.TensorShape([batch_size]), tf.TensorShape([batch_size, 1])))
        return ds.make_one_shot_iterator().get_next()

    found = {}
    for kind in ('nce', 'softmax'):
        est = tf.estimator.Estimator(model_fn, os.path.join(log_dir, kind), params={'loss': kind})
        est.train(input_fn, steps=30)
        emb = est.get_variable_value('emb')
        found[kind] = {'norms': np.linalg.norm(emb, axis=1).tolist(), 'first': emb[1].tolist()}
        near = [p['nearest'] for p in est.predict(lambda: tf.data.Dataset.from_tensor_slices(valid_examples).batch(3))]
        found[kind]['near'] = [[reverse[int(i)] for i in row] for row in near]
    with open(os.path.join(log_dir, 'metadata.tsv'), 'w') as f:
        for i in range(vocab):
            f.write(reverse[i] + '\n')
    config = projector.ProjectorConfig()
    embedding_conf = config.embeddings.add()
    embedding_conf.tensor_name = 'emb'
    embedding_conf.metadata_path = os.path.join(log_dir, 'metadata.tsv')
    projector.visualize_embeddings(tf.summary.FileWriter(log_dir), config)
    found['projector'] = os.path.exists(os.path.join(log_dir, 'projector_config.pbtxt'))
    print(json.dumps(found))


if __name__ == '__main__':
    main(sys.argv[1])
