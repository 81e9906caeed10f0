# -*- coding: utf-8 -*-
"""DeepFM, TensorFlow 1.4 风格: libsvm 输入, task_type = train / eval / infer / export

#1 Input pipline using Dataset high level API, Support parallel and prefetch reading
#2 Train pipline using Coustom Estimator by rewriting model_fn
"""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import glob
import json
import os
import random
import shutil
from datetime import date, timedelta

import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("num_threads", 2, "Number of threads")
tf.app.flags.DEFINE_integer("feature_size", 40, "Number of features")
tf.app.flags.DEFINE_integer("field_size", 4, "Number of fields")
tf.app.flags.DEFINE_integer("embedding_size", 4, "Embedding size")
tf.app.flags.DEFINE_integer("num_epochs", 3, "Number of epochs")
tf.app.flags.DEFINE_integer("batch_size", 16, "Number of batch size")
tf.app.flags.DEFINE_float("learning_rate", 0.01, "learning rate")
tf.app.flags.DEFINE_float("l2_reg", 0.0001, "L2 regularization")
tf.app.flags.DEFINE_string("loss_type", 'log_loss', "loss type {square_loss, log_loss}")
tf.app.flags.DEFINE_string("optimizer", 'Adam', "optimizer type {Adam, Adagrad, GD, Momentum}")
tf.app.flags.DEFINE_string("deep_layers", '8,4', "deep layers")
tf.app.flags.DEFINE_boolean("batch_norm", True, "perform batch normaization (True or False)")
tf.app.flags.DEFINE_float("batch_norm_decay", 0.9, "decay for the moving average")
tf.app.flags.DEFINE_string("data_dir", 'data', "data dir")
tf.app.flags.DEFINE_string("dt_dir", '', "data dt partition")
tf.app.flags.DEFINE_string("model_dir", 'ckpt', "model check point dir")
tf.app.flags.DEFINE_string("servable_model_dir", 'servable', "export servable model for TensorFlow Serving")
tf.app.flags.DEFINE_string("task_type", 'train', "task type {train, infer, eval, export}")
tf.app.flags.DEFINE_boolean("clear_existing_model", False, "clear existing model or not")


# 1 1:0.5 2:0.03519 3:1 4:0.02567
def input_fn(filenames, batch_size=32, num_epochs=1, perform_shuffle=False):
    print('Parsing', filenames)

    def decode_libsvm(line):
        columns = tf.string_split([line], ' ')
        labels = tf.string_to_number(columns.values[0], out_type=tf.float32)
        splits = tf.string_split(columns.values[1:], ':')
        id_vals = tf.reshape(splits.values, splits.dense_shape)
        feat_ids, feat_vals = tf.split(id_vals, num_or_size_splits=2, axis=1)
        feat_ids = tf.string_to_number(feat_ids, out_type=tf.int32)
        feat_vals = tf.string_to_number(feat_vals, out_type=tf.float32)
        return {"feat_ids": feat_ids, "feat_vals": feat_vals}, labels

    dataset = tf.data.TextLineDataset(filenames).map(decode_libsvm, num_parallel_calls=10).prefetch(500000)
    if perform_shuffle:
        dataset = dataset.shuffle(buffer_size=256)
    dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size)
    iterator = dataset.make_one_shot_iterator()
    batch_features, batch_labels = iterator.get_next()
    return batch_features, batch_labels


def batch_norm_layer(x, train_phase, scope_bn):
    bn_train = tf.contrib.layers.batch_norm(x, decay=FLAGS.batch_norm_decay, center=True, scale=True, updates_collections=None, is_training=True, reuse=None, scope=scope_bn)
    bn_infer = tf.contrib.layers.batch_norm(x, decay=FLAGS.batch_norm_decay, center=True, scale=True, updates_collections=None, is_training=False, reuse=True, scope=scope_bn)
    z = tf.cond(tf.cast(train_phase, tf.bool), lambda: bn_train, lambda: bn_infer)
    return z


def model_fn(features, labels, mode, params):
    field_size, feature_size, embedding_size = params["field_size"], params["feature_size"], params["embedding_size"]
    l2_reg, learning_rate = params["l2_reg"], params["learning_rate"]
    layers = [int(x) for x in params["deep_layers"].split(',')]

    FM_B = tf.get_variable(name='fm_bias', shape=[1], initializer=tf.constant_initializer(0.0))
    FM_W = tf.get_variable(name='fm_w', shape=[feature_size], initializer=tf.glorot_normal_initializer(seed=1))
    FM_V = tf.get_variable(name='fm_v', shape=[feature_size, embedding_size], initializer=tf.glorot_normal_initializer(seed=2))
    feat_ids = tf.reshape(features['feat_ids'], shape=[-1, field_size])
    feat_vals = tf.reshape(features['feat_vals'], shape=[-1, field_size])

    with tf.variable_scope("First-order"):
        feat_wgts = tf.nn.embedding_lookup(FM_W, feat_ids)  # None * F * 1
        y_w = tf.reduce_sum(tf.multiply(feat_wgts, feat_vals), 1)
    with tf.variable_scope("Second-order"):
        embeddings = tf.nn.embedding_lookup(FM_V, feat_ids)  # None * F * K
        embeddings = tf.multiply(embeddings, tf.reshape(feat_vals, shape=[-1, field_size, 1]))
        y_v = 0.5 * tf.reduce_sum(tf.subtract(tf.square(tf.reduce_sum(embeddings, 1)), tf.reduce_sum(tf.square(embeddings), 1)), 1)
    with tf.variable_scope("Deep-part"):
        train_phase = mode == tf.estimator.ModeKeys.TRAIN
        deep_inputs = tf.reshape(embeddings, shape=[-1, field_size * embedding_size])
        for i in range(len(layers)):
            deep_inputs = tf.contrib.layers.fully_connected(
                inputs=deep_inputs, num_outputs=layers[i], weights_initializer=tf.glorot_uniform_initializer(seed=3 + i),
                weights_regularizer=tf.contrib.layers.l2_regularizer(l2_reg), scope='mlp%d' % i)
            if FLAGS.batch_norm:
                deep_inputs = batch_norm_layer(deep_inputs, train_phase=train_phase, scope_bn='bn_%d' % i)
        y_deep = tf.contrib.layers.fully_connected(
            inputs=deep_inputs, num_outputs=1, activation_fn=tf.identity, weights_initializer=tf.glorot_uniform_initializer(seed=9),
            weights_regularizer=tf.contrib.layers.l2_regularizer(l2_reg), scope='deep_out')
        y_d = tf.reshape(y_deep, shape=[-1])
    with tf.variable_scope("DeepFM-out"):
        y = FM_B * tf.ones_like(y_d, dtype=tf.float32) + y_w + y_v + y_d
        pred = tf.sigmoid(y)

    predictions = {"prob": pred}
    export_outputs = {tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: tf.estimator.export.PredictOutput(predictions)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, export_outputs=export_outputs)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=y, labels=labels)) + l2_reg * tf.nn.l2_loss(FM_W) + l2_reg * tf.nn.l2_loss(FM_V)
    eval_metric_ops = {"auc": tf.metrics.auc(labels, pred)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=eval_metric_ops)
    if FLAGS.optimizer == 'Adam':
        optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate, beta1=0.9, beta2=0.999, epsilon=1e-8)
    elif FLAGS.optimizer == 'Adagrad':
        optimizer = tf.train.AdagradOptimizer(learning_rate=learning_rate, initial_accumulator_value=1e-8)
    elif FLAGS.optimizer == 'ftrl':
        optimizer = tf.train.FtrlOptimizer(learning_rate)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)


def make_data(path, seed):
    rng = np.random.RandomState(seed)
    with open(path, 'w') as f:
        for _ in range(64):
            ids = [i * 10 + rng.randint(10) for i in range(4)]
            f.write('%d %s\n' % (ids[0] + ids[1] > 18, ' '.join('%d:%.3f' % (i, rng.rand()) for i in ids)))


def main(_):
    if FLAGS.dt_dir == "":
        FLAGS.dt_dir = (date.today() + timedelta(-1)).strftime('%Y%m%d')
    model_dir = FLAGS.model_dir + '/' + 'deepfm'
    for name, value in sorted(FLAGS.flag_values_dict().items()):
        if name in ('task_type', 'batch_size', 'deep_layers'):
            print(name, value)
    if not os.path.exists(FLAGS.data_dir):
        os.makedirs(FLAGS.data_dir)
    make_data('%s/tr1.libsvm' % FLAGS.data_dir, 1)
    make_data('%s/va1.libsvm' % FLAGS.data_dir, 2)
    tr_files = glob.glob("%s/tr*libsvm" % FLAGS.data_dir)
    random.shuffle(tr_files)
    va_files = glob.glob("%s/va*libsvm" % FLAGS.data_dir)
    if FLAGS.clear_existing_model:
        shutil.rmtree(model_dir)
    model_params = {k: getattr(FLAGS, k) for k in ('field_size', 'feature_size', 'embedding_size', 'learning_rate', 'l2_reg', 'deep_layers')}
    config = tf.estimator.RunConfig().replace(
        session_config=tf.ConfigProto(device_count={'GPU': 0, 'CPU': FLAGS.num_threads}), log_step_count_steps=10, save_summary_steps=10)
    DeepFM = tf.estimator.Estimator(model_fn=model_fn, model_dir=model_dir, params=model_params, config=config)
    out = {}
    for task in ('train', 'eval', 'infer', 'export'):
        FLAGS.task_type = task
        if FLAGS.task_type == 'train':
            train_spec = tf.estimator.TrainSpec(input_fn=lambda: input_fn(tr_files, num_epochs=FLAGS.num_epochs, batch_size=FLAGS.batch_size))
            eval_spec = tf.estimator.EvalSpec(input_fn=lambda: input_fn(va_files, num_epochs=1, batch_size=FLAGS.batch_size), steps=None, start_delay_secs=1000, throttle_secs=1200)
            tf.estimator.train_and_evaluate(DeepFM, train_spec, eval_spec)
        elif FLAGS.task_type == 'eval':
            out['eval'] = {k: float(v) for k, v in DeepFM.evaluate(input_fn=lambda: input_fn(va_files, num_epochs=1, batch_size=FLAGS.batch_size)).items()}
        elif FLAGS.task_type == 'infer':
            preds = DeepFM.predict(input_fn=lambda: input_fn(va_files, num_epochs=1, batch_size=FLAGS.batch_size), predict_keys="prob")
            with open(FLAGS.data_dir + "/pred.txt", "w") as fo:
                for prob in preds:
                    fo.write("%f\n" % (prob['prob']))
            out['infer'] = [float(line) for line in open(FLAGS.data_dir + '/pred.txt')][:8]
        elif FLAGS.task_type == 'export':
            feature_spec = {
                'feat_ids': tf.placeholder(dtype=tf.int64, shape=[None, FLAGS.field_size], name='feat_ids'),
                'feat_vals': tf.placeholder(dtype=tf.float32, shape=[None, FLAGS.field_size], name='feat_vals')}
            serving_input_receiver_fn = tf.estimator.export.build_raw_serving_input_receiver_fn(feature_spec)
            where = DeepFM.export_savedmodel(FLAGS.servable_model_dir, serving_input_receiver_fn)
            predict_fn = tf.contrib.predictor.from_saved_model(where.decode() if isinstance(where, bytes) else where)
            out['served'] = predict_fn({'feat_ids': [[1, 11, 21, 31]], 'feat_vals': [[0.5] * 4]})['prob'].tolist()
    print(json.dumps(out))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
