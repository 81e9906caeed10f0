# -*- coding:utf-8 -*-
"""ESMM: CTR 与 CVR 多任务 (TensorFlow 1.13), CSV 输入, 共享 embedding"""
from __future__ import print_function
import json
import tensorflow as tf
from tensorflow import feature_column as fc
import numpy as np

tf.flags.DEFINE_string('model_dir', './esmm', '模型目录')
tf.flags.DEFINE_float('learning_rate', 0.05, '学习率')
tf.flags.DEFINE_string('hidden_units', '16,8', '隐层')
FLAGS = tf.flags.FLAGS
COLUMNS = ['user_id', 'city', 'item_id', 'price', 'click', 'buy']
DEFAULTS = [[''], [''], [''], [0.0], [0], [0]]


def write(path, seed):
    rng = np.random.RandomState(seed)
    with open(path, 'w') as f:
        f.write(','.join(COLUMNS) + '\n')
        for _ in range(60):
            u, i, price = rng.randint(8), rng.randint(9), rng.rand()
            click = int(u + i > 7)
            f.write('u%d,%s,i%d,%.3f,%d,%d\n' % (u, ['北京', '上海', '广州'][u % 3], i, price, click, int(click and price > 0.5)))


def input_fn(path, epochs):
    def parse(line):
        columns = dict(zip(COLUMNS, tf.decode_csv(line, DEFAULTS)))
        labels = {'ctr': tf.to_float(columns.pop('click')), 'ctcvr': tf.to_float(columns.pop('buy'))}
        return columns, labels
    return tf.data.TextLineDataset(path).skip(1).map(parse).repeat(epochs).batch(12)


def build_columns():
    init = tf.random_uniform_initializer(-0.5, 0.5, seed=7)
    user = fc.embedding_column(fc.categorical_column_with_hash_bucket('user_id', 20), 4, initializer=init)
    city = fc.indicator_column(fc.categorical_column_with_vocabulary_list('city', ['北京', '上海', '广州']))
    item = fc.embedding_column(fc.categorical_column_with_hash_bucket('item_id', 20), 4, initializer=init)
    price = fc.indicator_column(fc.bucketized_column(fc.numeric_column('price'), [0.25, 0.5, 0.75]))
    return [user, city, item, price]


def tower(x, name):
    with tf.variable_scope(name):
        for i, units in enumerate(FLAGS.hidden_units.split(',')):
            x = tf.layers.dense(x, int(units), tf.nn.relu, kernel_initializer=tf.keras.initializers.glorot_uniform(seed=i))
        return tf.layers.dense(x, 1, kernel_initializer=tf.keras.initializers.glorot_uniform(seed=9))


def esmm_model_fn(features, labels, mode, params):
    net = fc.input_layer(features, params['feature_columns'])
    ctr_logits, cvr_logits = tower(net, 'ctr_model'), tower(net, 'cvr_model')
    ctr, cvr = tf.sigmoid(ctr_logits, name='CTR'), tf.sigmoid(cvr_logits, name='CVR')
    prop = tf.multiply(ctr, cvr, name='CTCVR')
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {'probabilities': prop, 'ctr_probabilities': ctr, 'cvr_probabilities': cvr}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={'prediction': tf.estimator.export.PredictOutput(predictions)})
    y, z = tf.expand_dims(labels['ctr'], 1), tf.expand_dims(labels['ctcvr'], 1)
    ctr_loss = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=ctr_logits), name='ctr_loss')
    cvr_loss = tf.reduce_sum(tf.keras.backend.binary_crossentropy(z, prop), name='cvr_loss')
    loss = tf.add(ctr_loss, cvr_loss, name='ctcvr_loss')
    metrics = {'ctr_accuracy': tf.metrics.accuracy(y, tf.to_float(tf.greater_equal(ctr, 0.5))),
               'ctr_auc': tf.metrics.auc(y, ctr), 'ctcvr_auc': tf.metrics.auc(z, prop), 'recall': tf.metrics.recall_at_thresholds(y, ctr, [0.3, 0.6])}
    tf.summary.scalar('ctr_auc', metrics['ctr_auc'][1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdagradOptimizer(params['learning_rate']).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(unused_argv):
    write('train.csv', 1), write('test.csv', 2)
    cols = build_columns()
    est = tf.estimator.Estimator(esmm_model_fn, params={'feature_columns': cols, 'learning_rate': FLAGS.learning_rate},
                                 config=tf.estimator.RunConfig(model_dir=FLAGS.model_dir, save_checkpoints_steps=10))
    logging_hook = tf.train.LoggingTensorHook({'ctr': 'ctr_loss', 'cvr': 'cvr_loss'}, every_n_iter=5)
    est.train(lambda: input_fn('train.csv', 4), hooks=[logging_hook])
    result = est.evaluate(lambda: input_fn('test.csv', 1))
    spec = fc.make_parse_example_spec(cols)
    export_dir = est.export_savedmodel('export', tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    example = tf.train.Example(features=tf.train.Features(feature={
        'user_id': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'u1'])), 'item_id': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'i3'])),
        'city': tf.train.Feature(bytes_list=tf.train.BytesList(value=['上海'.encode('utf8')])), 'price': tf.train.Feature(float_list=tf.train.FloatList(value=[0.6]))}))
    predict_fn = tf.contrib.predictor.from_saved_model(export_dir.decode('utf-8') if hasattr(export_dir, 'decode') else export_dir, signature_def_key='prediction')
    served = predict_fn({'examples': [example.SerializeToString()]})
    print(json.dumps({'result': {k: np.asarray(v).tolist() for k, v in result.items()}, 'served': {k: v.tolist() for k, v in served.items()}}))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main)
