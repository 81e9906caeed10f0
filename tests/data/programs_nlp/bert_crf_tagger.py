#! usr/bin/env python3
# -*- coding:utf-8 -*-
"""Sequence labelling with a pretrained encoder from a checkpoint, a BLSTM-CRF layer class, and rnn through tf.contrib."""
import codecs, collections, json, os, pickle
import numpy as np
import tensorflow as tf
from tensorflow.contrib import crf, rnn
from tensorflow.contrib.layers.python.layers import initializers

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_string('output_dir', None, 'The output directory')
flags.DEFINE_boolean('clean', True, 'remove the files which created by last training')
flags.DEFINE_string('cell', 'lstm', 'which rnn cell used')
flags.DEFINE_float('droupout_rate', 1.0, 'keep probability')

LABELS = ["O", "B-PER", "I-PER", "[CLS]", "[SEP]"]


class BLSTM_CRF(object):
    def __init__(self, embedded_chars, hidden_unit, cell_type, num_layers, droupout_rate, initializers, num_labels, seq_length, labels, lengths, is_training):
        self.hidden_unit, self.droupout_rate, self.cell_type, self.num_layers = hidden_unit, droupout_rate, cell_type, num_layers
        self.embedded_chars, self.initializers, self.seq_length, self.num_labels = embedded_chars, initializers, seq_length, num_labels
        self.labels, self.lengths, self.is_training = labels, lengths, is_training
        self.embedding_dims = embedded_chars.shape[-1].value

    def add_blstm_crf_layer(self, crf_only):
        if self.is_training:
            self.embedded_chars = tf.nn.dropout(self.embedded_chars, self.droupout_rate)
        logits = self.project_crf_layer(self.embedded_chars) if crf_only else self.project_bilstm_layer(self.blstm_layer(self.embedded_chars))
        loss, trans = self.crf_layer(logits)
        pred_ids, _ = crf.crf_decode(potentials=logits, transition_params=trans, sequence_length=self.lengths)
        return (loss, logits, trans, pred_ids)

    def _which_cell(self):
        if self.cell_type == 'lstm':
            return rnn.LSTMCell(self.hidden_unit, initializer=self.initializers, forget_bias=1.0)
        return rnn.GRUCell(self.hidden_unit)

    def blstm_layer(self, embedding_chars):
        with tf.variable_scope('rnn_layer'):
            cell_fw, cell_bw = self._which_cell(), self._which_cell()
            if self.droupout_rate is not None:
                cell_bw = rnn.DropoutWrapper(cell_bw, output_keep_prob=self.droupout_rate)
                cell_fw = rnn.DropoutWrapper(cell_fw, output_keep_prob=self.droupout_rate)
            if self.num_layers > 1:
                cell_fw = rnn.MultiRNNCell([cell_fw] * self.num_layers, state_is_tuple=True)
                cell_bw = rnn.MultiRNNCell([cell_bw] * self.num_layers, state_is_tuple=True)
            outputs, _ = tf.nn.bidirectional_dynamic_rnn(cell_fw, cell_bw, embedding_chars, sequence_length=self.lengths, dtype=tf.float32)
            return tf.concat(outputs, axis=2)

    def project_bilstm_layer(self, lstm_outputs, name=None):
        with tf.variable_scope("project" if not name else name):
            with tf.variable_scope("hidden"):
                W = tf.get_variable("W", shape=[self.hidden_unit * 2, self.hidden_unit], dtype=tf.float32, initializer=self.initializers)
                b = tf.get_variable("b", shape=[self.hidden_unit], dtype=tf.float32, initializer=tf.zeros_initializer())
                output = tf.reshape(lstm_outputs, shape=[-1, self.hidden_unit * 2])
                hidden = tf.tanh(tf.nn.xw_plus_b(output, W, b))
            with tf.variable_scope("logits"):
                W = tf.get_variable("W", shape=[self.hidden_unit, self.num_labels], dtype=tf.float32, initializer=self.initializers)
                b = tf.get_variable("b", shape=[self.num_labels], dtype=tf.float32, initializer=tf.zeros_initializer())
                pred = tf.nn.xw_plus_b(hidden, W, b)
            return tf.reshape(pred, [-1, self.seq_length, self.num_labels])

    def crf_layer(self, logits):
        with tf.variable_scope("crf_loss"):
            trans = tf.get_variable("transitions", shape=[self.num_labels, self.num_labels], initializer=self.initializers)
            if self.labels is None:
                return None, trans
            log_likelihood, trans = tf.contrib.crf.crf_log_likelihood(inputs=logits, tag_indices=self.labels, transition_params=trans, sequence_lengths=self.lengths)
            return tf.reduce_mean(-log_likelihood), trans


def encoder(ids):
    with tf.variable_scope('bert/embeddings'):
        table = tf.get_variable('word_embeddings', [40, 8], initializer=tf.zeros_initializer())
        return tf.nn.embedding_lookup(table, ids)


def write_pretrained(folder):
    graph = tf.Graph()
    with graph.as_default(), tf.Session(graph=graph) as sess:
        with tf.variable_scope('bert/embeddings'):
            table = tf.get_variable('word_embeddings', initializer=np.random.RandomState(4).randn(40, 8).astype(np.float32) * 0.3)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, os.path.join(folder, 'bert_model.ckpt'))


def model_fn_builder(init_checkpoint, num_labels, learning_rate):
    def model_fn(features, labels, mode, params):
        input_ids, label_ids = features["input_ids"], features["label_ids"]
        used = tf.sign(tf.abs(input_ids))
        lengths = tf.reduce_sum(used, reduction_indices=1)
        blstm_crf = BLSTM_CRF(encoder(input_ids), 6, FLAGS.cell, 1, FLAGS.droupout_rate, initializers.xavier_initializer(seed=3), num_labels, 8,
                              label_ids, lengths, mode == tf.estimator.ModeKeys.TRAIN)
        total_loss, logits, trans, pred_ids = blstm_crf.add_blstm_crf_layer(crf_only=False)
        tvars = tf.trainable_variables()
        in_checkpoint = dict(tf.train.list_variables(init_checkpoint))
        assignment = collections.OrderedDict((v.op.name, v.op.name) for v in tvars if v.op.name in in_checkpoint)
        tf.train.init_from_checkpoint(init_checkpoint, assignment)
        if mode == tf.estimator.ModeKeys.TRAIN:
            optimizer = tf.train.AdamOptimizer(learning_rate)
            grads_vars = optimizer.compute_gradients(total_loss)
            capped = [[tf.clip_by_value(g, -0.5, 0.5), v] for g, v in grads_vars]
            train_op = optimizer.apply_gradients(capped, tf.train.get_global_step())
            hook_dict = {'loss': total_loss, 'global_steps': tf.train.get_or_create_global_step()}
            logging_hook = tf.train.LoggingTensorHook(hook_dict, every_n_iter=100)
            return tf.estimator.EstimatorSpec(mode=mode, loss=total_loss, train_op=train_op, training_hooks=[logging_hook])
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode=mode, loss=total_loss, eval_metric_ops={
                "eval_loss": tf.metrics.mean_squared_error(labels=label_ids, predictions=pred_ids), "per_class": tf.metrics.mean_per_class_accuracy(label_ids, pred_ids, num_labels)})
        return tf.estimator.EstimatorSpec(mode=mode, predictions=pred_ids)

    return model_fn


def input_fn_builder(count, seed, is_training):
    def input_fn(params):
        rng = np.random.RandomState(seed)
        ids = rng.randint(3, 40, [count, 8]).astype(np.int32)
        labels = np.where(ids < 10, 1, 0).astype(np.int32)
        labels[:, 1:][(labels[:, :-1] > 0) & (labels[:, 1:] > 0)] = 2
        lengths = rng.randint(3, 9, count)
        for row, length in enumerate(lengths):
            ids[row, length:] = 0
            labels[row, length:] = 0
        d = tf.data.Dataset.from_tensor_slices({"input_ids": ids, "label_ids": labels})
        if is_training:
            d = d.repeat()
        return d.apply(tf.contrib.data.batch_and_drop_remainder(params['batch_size']))
    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    if FLAGS.clean and tf.gfile.Exists(FLAGS.output_dir):
        tf.gfile.DeleteRecursively(FLAGS.output_dir)
    os.makedirs(FLAGS.output_dir)
    with codecs.open(os.path.join(FLAGS.output_dir, 'label2id.pkl'), 'wb') as w:
        pickle.dump({label: i for i, label in enumerate(LABELS)}, w)
    init_checkpoint = write_pretrained(FLAGS.output_dir)
    session_config = tf.ConfigProto(log_device_placement=False, inter_op_parallelism_threads=0, intra_op_parallelism_threads=0, allow_soft_placement=True)
    run_config = tf.estimator.RunConfig(model_dir=os.path.join(FLAGS.output_dir, 'model'), save_summary_steps=500, save_checkpoints_steps=500, session_config=session_config)
    estimator = tf.estimator.Estimator(model_fn_builder(init_checkpoint, len(LABELS), 0.05), params={'batch_size': 8}, config=run_config)
    early_stopping_hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator=estimator, metric_name='loss', max_steps_without_decrease=1000, eval_dir=None, min_steps=0, run_every_secs=None, run_every_steps=500)
    tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn_builder(32, 1, True), max_steps=25, hooks=[early_stopping_hook]),
                                    tf.estimator.EvalSpec(input_fn_builder(16, 2, False), throttle_secs=0))
    result = estimator.evaluate(input_fn_builder(16, 2, False))
    with codecs.open(os.path.join(FLAGS.output_dir, 'label2id.pkl'), 'rb') as rf:
        id2label = {value: key for key, value in pickle.load(rf).items()}
    rows = [[id2label[id] for id in prediction] for prediction in estimator.predict(input_fn_builder(8, 2, False))]
    print(json.dumps({"result": {k: float(v) for k, v in result.items() if k != "per_class"}, "rows": rows[:2]}))


if __name__ == "__main__":
    tf.app.run()
