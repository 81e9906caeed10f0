"""Skip-grams in a Session of one's own: placeholders, nce_loss, a learning rate that decays, a name_scope per layer, nearest words."""

import collections
import json
import os
import sys

import numpy as np
import tensorflow as tf

log_dir = sys.argv[1]
text = "the king rules the land and the queen rules the land while the dog chases the cat and the cat chases the mouse"
words = (text + " " + text).split()
count = collections.Counter(words).most_common()
dictionary = {word: number for number, (word, _) in enumerate(count)}
data = [dictionary[word] for word in words]
vocabulary_size, embedding_size = len(dictionary), 6


def batches(size):
    pairs = [(data[i], data[i + d]) for i in range(1, len(data) - 1) for d in (-1, 1)]
    index = 0
    while True:
        rows = [pairs[(index + i) % len(pairs)] for i in range(size)]
        index += size
        yield np.array([row[0] for row in rows], np.int32), np.array([[row[1]] for row in rows], np.int32)


graph = tf.Graph()
with graph.as_default():
    with tf.name_scope("inputs"):
        train_inputs = tf.placeholder(tf.int32, shape=[8])
        train_labels = tf.placeholder(tf.int32, shape=[8, 1])
    with tf.device("/cpu:0"):
        with tf.name_scope("embeddings"):
            embeddings = tf.Variable(tf.random_uniform([vocabulary_size, embedding_size], -1.0, 1.0, seed=1))
            embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        with tf.name_scope("weights"):
            nce_weights = tf.Variable(tf.truncated_normal([vocabulary_size, embedding_size], stddev=0.4, seed=2))
        with tf.name_scope("biases"):
            nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
    sampled = tf.nn.log_uniform_candidate_sampler(
        tf.cast(train_labels, tf.int64), 1, 4, True, vocabulary_size, seed=3
    )
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(
            tf.nn.nce_loss(
                weights=nce_weights, biases=nce_biases, labels=train_labels, inputs=embed, num_sampled=4,
                num_classes=vocabulary_size, sampled_values=sampled,
            )
        )
    tf.summary.scalar("loss", loss)
    with tf.name_scope("optimizer"):
        step = tf.Variable(0, trainable=False)
        rate = tf.train.natural_exp_decay(0.5, step, 10, 0.1)
        optimizer = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
    normalized = embeddings / norm
    similarity = tf.matmul(tf.nn.embedding_lookup(normalized, [0, 1]), normalized, transpose_b=True)
    merged = tf.summary.merge_all()
    init = tf.global_variables_initializer()
    saver = tf.train.Saver()

losses = []
with tf.Session(graph=graph) as session:
    writer = tf.summary.FileWriter(log_dir, session.graph)
    init.run()
    source = batches(8)
    for number in range(20):
        inputs, labels = next(source)
        run_metadata = tf.RunMetadata()
        _, summary, value = session.run(
            [optimizer, merged, loss], feed_dict={train_inputs: inputs, train_labels: labels}, run_metadata=run_metadata
        )
        writer.add_summary(summary, number)
        losses.append(float(value))
    final = normalized.eval()
    close = similarity.eval()
    saver.save(session, os.path.join(log_dir, "model.ckpt"))
    writer.close()
print(json.dumps({"first": losses[0], "losses": losses[::5], "close": np.round(close[0][:4], 4).tolist(),
                  "files": sorted(name.partition(".tfevents")[0] for name in os.listdir(log_dir))}))
