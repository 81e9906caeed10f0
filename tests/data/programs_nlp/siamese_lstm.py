"""Siamese BiLSTM with contrastive loss (2017): question pairs, shared weights by reuse, static and dynamic cells."""
import json
import os
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

tf.flags.DEFINE_integer("embedding_dim", 6, "Dimensionality of character embedding (default: 300)")
tf.flags.DEFINE_float("dropout_keep_prob", 1.0, "Dropout keep probability (default: 1.0)")
tf.flags.DEFINE_float("l2_reg_lambda", 0.001, "L2 regularizaion lambda (default: 0.0)")
tf.flags.DEFINE_integer("hidden_units", 5, "Number of hidden units (default:50)")
tf.flags.DEFINE_string("train_dir", "/tmp/siamese", "where")
tf.flags.DEFINE_boolean("allow_soft_placement", True, "Allow device soft device placement")
FLAGS = tf.flags.FLAGS
FLAGS(sys.argv)


class SiameseLSTM(object):
    def BiRNN(self, x, dropout, scope, embedding_size, sequence_length, hidden_units, reuse):
        n_layers = 2
        x = tf.unstack(tf.transpose(x, perm=[1, 0, 2]))
        init = tf.orthogonal_initializer(seed=3)
        with tf.variable_scope(scope, initializer=init, reuse=reuse):
            with tf.name_scope("fw" + scope), tf.variable_scope("fw" + scope):
                stacked_rnn_fw = []
                for _ in range(n_layers):
                    fw_cell = tf.nn.rnn_cell.BasicLSTMCell(hidden_units, forget_bias=1.0, state_is_tuple=True)
                    stacked_rnn_fw.append(tf.contrib.rnn.DropoutWrapper(fw_cell, output_keep_prob=dropout))
                lstm_fw_cell_m = tf.nn.rnn_cell.MultiRNNCell(cells=stacked_rnn_fw, state_is_tuple=True)
            with tf.name_scope("bw" + scope), tf.variable_scope("bw" + scope):
                lstm_bw_cell_m = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(hidden_units) for _ in range(n_layers)])
            outputs, _, _ = tf.nn.static_bidirectional_rnn(lstm_fw_cell_m, lstm_bw_cell_m, x, dtype=tf.float32)
        return outputs[-1]

    def contrastive_loss(self, y, d, batch_size):
        tmp = y * tf.square(d)
        tmp2 = (1 - y) * tf.square(tf.maximum((1 - d), 0))
        return tf.reduce_sum(tmp + tmp2) / batch_size / 2

    def __call__(self, features, labels, mode):
        x1, x2 = features["x1"], features["x2"]
        keep = tf.placeholder_with_default(FLAGS.dropout_keep_prob, shape=(), name="keep")
        with tf.name_scope("embedding"):
            self.W = tf.get_variable("W", [30, FLAGS.embedding_dim], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1), trainable=True)
            self.embedded_words1 = tf.nn.embedding_lookup(self.W, x1)
            self.embedded_words2 = tf.nn.embedding_lookup(self.W, x2)
        with tf.name_scope("output"):
            self.out1 = self.BiRNN(self.embedded_words1, keep, "side", FLAGS.embedding_dim, 5, FLAGS.hidden_units, None)
            self.out2 = self.BiRNN(self.embedded_words2, keep, "side", FLAGS.embedding_dim, 5, FLAGS.hidden_units, True)
            self.distance = tf.sqrt(tf.reduce_sum(tf.square(tf.subtract(self.out1, self.out2)), 1, keep_dims=True))
            self.distance = tf.div(self.distance, tf.add(tf.sqrt(tf.reduce_sum(tf.square(self.out1), 1, keep_dims=True)),
                                                         tf.sqrt(tf.reduce_sum(tf.square(self.out2), 1, keep_dims=True))))
            self.distance = tf.reshape(self.distance, [-1], name="distance")
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"distance": self.distance, "sim": tf.subtract(tf.ones_like(self.distance), tf.rint(self.distance))})
        y = tf.to_float(labels)
        loss = self.contrastive_loss(y, self.distance, tf.to_float(tf.shape(y)[0]))
        l2 = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "bias" not in v.name]) * FLAGS.l2_reg_lambda
        loss = loss + l2
        temp_sim = tf.subtract(tf.ones_like(self.distance), tf.rint(self.distance), name="temp_sim")
        accuracy = tf.metrics.accuracy(y, temp_sim)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy, "distance": tf.metrics.mean(self.distance)})
        global_step = tf.contrib.framework.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(1e-2)
        grads_and_vars = optimizer.compute_gradients(loss)
        for g, v in grads_and_vars:
            if g is not None:
                tf.summary.histogram("{}/grad/hist".format(v.name.replace(":", "_")), g)
                tf.summary.scalar("{}/grad/sparsity".format(v.name.replace(":", "_")), tf.nn.zero_fraction(g))
        train_op = optimizer.apply_gradients(grads_and_vars, global_step=global_step, name="train_op")
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make():
    rng = np.random.RandomState(10)
    x1 = rng.randint(1, 30, [48, 5])
    y = rng.randint(0, 2, [48])
    x2 = np.where(y[:, None] == 1, np.roll(x1, 1, axis=1), rng.randint(1, 30, [48, 5]))
    return {"x1": x1, "x2": x2}, y


def main():
    x, y = make()
    session_conf = tf.ConfigProto(allow_soft_placement=FLAGS.allow_soft_placement)
    model = SiameseLSTM()
    estimator = tf.estimator.Estimator(lambda features, labels, mode: model(features, labels, mode), FLAGS.train_dir,
                                       tf.estimator.RunConfig(session_config=session_conf, save_summary_steps=10))
    estimator.train(tf.estimator.inputs.numpy_input_fn(x, y, batch_size=12, num_epochs=10, shuffle=False))
    result = estimator.evaluate(tf.estimator.inputs.numpy_input_fn(x, y, batch_size=16, shuffle=False))
    events = [name for name in os.listdir(FLAGS.train_dir) if "tfevents" in name]
    tags = set()
    for event in tf.train.summary_iterator(os.path.join(FLAGS.train_dir, events[0])):
        tags.update(value.tag for value in event.summary.value)
    print(json.dumps({"result": {k: float(v) for k, v in result.items()}, "tags": sorted(t for t in tags if "grad" not in t and "queue" not in t), "grads": len([t for t in tags if "grad" in t])}))


if __name__ == "__main__":
    main()
