"""Text classification with word ids, embedding columns and a CNN (TensorFlow 1.9, IMDB blog post style)."""
import json
import os
import string

import numpy as np
import tensorflow as tf
from tensorflow.python.keras.preprocessing import sequence

vocab_size = 40
sentence_size = 12
embedding_size = 6
model_dir = os.path.join(os.getcwd(), 'imdb')
pad_id, start_id, oov_id, index_offset = 0, 1, 2, 2

random = np.random.RandomState(7)


def make(n):
    xs, ys = [], []
    for _ in range(n):
        good = random.randint(2)
        words = random.randint(3, 20, random.randint(4, 16))
        words[::3] += 15 * good
        xs.append([start_id] + words.tolist())
        ys.append(good)
    return xs, np.array(ys)


x_train_variable, y_train = make(60)
x_test_variable, y_test = make(30)
x_train = sequence.pad_sequences(x_train_variable, maxlen=sentence_size, truncating='post', padding='post', value=pad_id)
x_test = sequence.pad_sequences(x_test_variable, maxlen=sentence_size, truncating='post', padding='post', value=pad_id)
x_len_train = np.array([min(len(x), sentence_size) for x in x_train_variable])
x_len_test = np.array([min(len(x), sentence_size) for x in x_test_variable])


def parser(x, length, y):
    features = {"x": x, "len": length}
    return features, y


def train_input_fn():
    dataset = tf.data.Dataset.from_tensor_slices((x_train, x_len_train, y_train))
    dataset = dataset.batch(20)
    dataset = dataset.map(parser)
    dataset = dataset.repeat()
    iterator = dataset.make_one_shot_iterator()
    return iterator.get_next()


def eval_input_fn():
    dataset = tf.data.Dataset.from_tensor_slices((x_test, x_len_test, y_test))
    dataset = dataset.batch(10)
    dataset = dataset.map(parser)
    iterator = dataset.make_one_shot_iterator()
    return iterator.get_next()


column = tf.feature_column.categorical_column_with_identity('x', vocab_size)
all_classifiers = {}


def train_and_evaluate(classifier):
    all_classifiers[classifier.model_dir] = classifier
    classifier.train(input_fn=train_input_fn, steps=30)
    eval_results = classifier.evaluate(input_fn=eval_input_fn)
    predictions = np.array([p['logistic'][0] for p in classifier.predict(input_fn=eval_input_fn)])
    tf.reset_default_graph()
    with tf.Session() as sess:
        pr, update_op = tf.metrics.auc(y_test, predictions, num_thresholds=50)
        sess.run(tf.local_variables_initializer())
        sess.run(update_op)
        return {k: float(v) for k, v in eval_results.items()}, float(sess.run(pr)), predictions[:4].tolist()


head = tf.contrib.estimator.binary_classification_head()


def cnn_model_fn(features, labels, mode, params):
    input_layer = tf.contrib.layers.embed_sequence(
        features['x'], vocab_size, embedding_size, initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1))
    training = mode == tf.estimator.ModeKeys.TRAIN
    dropout_emb = tf.layers.dropout(inputs=input_layer, rate=0.0, training=training)
    conv = tf.layers.conv1d(inputs=dropout_emb, filters=8, kernel_size=3, padding="same", activation=tf.nn.relu,
                            kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    pool = tf.reduce_max(input_tensor=conv, axis=1)
    hidden = tf.layers.dense(inputs=pool, units=8, activation=tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=3))
    logits = tf.layers.dense(inputs=hidden, units=1, kernel_initializer=tf.glorot_uniform_initializer(seed=4))
    if labels is not None:
        labels = tf.reshape(labels, [-1, 1])
    optimizer = tf.train.AdamOptimizer()

    def _train_op_fn(loss):
        return optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(features=features, labels=labels, mode=mode, logits=logits, train_op_fn=_train_op_fn)


if __name__ == '__main__':
    bow = tf.estimator.LinearClassifier(feature_columns=[column], model_dir=os.path.join(model_dir, 'bow_sparse'))
    cnn = tf.estimator.Estimator(model_fn=cnn_model_fn, model_dir=os.path.join(model_dir, 'cnn'), params={})
    print(json.dumps({'bow': train_and_evaluate(bow), 'cnn': train_and_evaluate(cnn), 'dirs': sorted(os.path.basename(d) for d in all_classifiers)}))
