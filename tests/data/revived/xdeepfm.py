"""xDeepFM: the compressed interaction network by conv1d over outer products, sparse features with weights, Adam with decay."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
FIELDS, DIM = 3, 4


def sparse_batch(count):
    random = np.random.RandomState(6)
    rows = np.repeat(np.arange(count), FIELDS)
    ids = np.stack([random.randint(0, 5, count) + 5 * field for field in range(FIELDS)], 1)
    return rows, ids, (ids[:, 0] + ids[:, 1] > 6).astype(np.float32)


def input_fn(count=16, epochs=None):
    rows, ids, labels = sparse_batch(count)
    indices = np.stack([rows, np.tile(np.arange(FIELDS), count)], 1)
    ids = tf.SparseTensor(indices, ids.reshape(-1).astype(np.int64), [count, FIELDS])
    dataset = tf.data.Dataset.from_tensors(({"ids": ids}, labels)).repeat(epochs)
    return dataset.make_one_shot_iterator().get_next()


def cin(x0, sizes):
    hidden = [x0]
    split0 = tf.split(x0, DIM * [1], 2)
    results = []
    for number, size in enumerate(sizes):
        split = tf.split(hidden[-1], DIM * [1], 2)
        dots = tf.matmul(split0, split, transpose_b=True)
        fields = int(x0.shape[1]) * int(hidden[-1].shape[1])
        dots = tf.transpose(tf.reshape(dots, [DIM, -1, fields]), perm=[1, 0, 2])
        filters = tf.get_variable(
            "f_%d" % number, [1, fields, size], initializer=tf.glorot_uniform_initializer(seed=20 + number)
        )
        out = tf.nn.relu(tf.nn.conv1d(dots, filters=filters, stride=1, padding="VALID"))
        out = tf.transpose(out, perm=[0, 2, 1])
        hidden.append(out)
        results.append(out)
    return tf.reduce_sum(tf.concat(results, axis=1), -1)


def model_fn(features, labels, mode):
    with tf.variable_scope("XDeepFM", initializer=tf.uniform_unit_scaling_initializer(seed=1), reuse=tf.AUTO_REUSE):
        table = tf.get_variable("embedding_layer", [5 * FIELDS, DIM])
        linear = tf.nn.embedding_lookup_sparse(tf.get_variable("w", [5 * FIELDS, 1]), features["ids"], None, combiner="sum")
        dense_ids = tf.sparse_tensor_to_dense(features["ids"])
        dense_ids.set_shape([None, FIELDS])
        embedded = tf.nn.embedding_lookup(table, dense_ids)
        interaction = cin(embedded, [4, 3])
        with tf.variable_scope("exfm"):
            w = tf.get_variable("w_nn_output", [7, 1], initializer=tf.glorot_uniform_initializer(seed=9))
            logits = tf.nn.xw_plus_b(interaction, w, tf.get_variable("b_nn_output", [1], initializer=tf.zeros_initializer()))
        logits = tf.squeeze(logits + linear, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"logit": logits})
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    regular = 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    rate = tf.train.inverse_time_decay(0.1, tf.train.get_global_step(), 5, 0.5)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss + regular, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss + regular, train_op=train_op, eval_metric_ops={"auc": tf.metrics.auc(labels, tf.sigmoid(logits))}
    )


estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
estimator.train(input_fn, max_steps=15)
metrics = estimator.evaluate(lambda: input_fn(epochs=1))
rows = list(estimator.predict(lambda: input_fn(4, 1)))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "logits": [float(row["logit"]) for row in rows]}))
