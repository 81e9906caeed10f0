"""Exporting for serving and loading the SavedModel back into a session (TensorFlow 1.11)."""
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.saved_model import loader, tag_constants, signature_constants
from tensorflow.python.estimator.export import export as export_lib

tf.app.flags.DEFINE_string('export_dir_base', 'exports', 'where')
tf.app.flags.DEFINE_boolean('strip', True, 'strip default attrs')
FLAGS = tf.app.flags.FLAGS


def model_fn(features, labels, mode, params):
    x = tf.concat([features['a'], features['b']], axis=-1)
    logits = tf.layers.dense(x, params['classes'], kernel_initializer=tf.constant_initializer(np.arange(6).reshape(2, 3) * 0.1), name='logits')
    probabilities = tf.nn.softmax(logits)
    top, index = tf.nn.top_k(probabilities, k=2)
    predictions = {'probabilities': probabilities, 'top': top, 'index': index}
    export_outputs = {
        signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: tf.estimator.export.PredictOutput(predictions),
        'classify': tf.estimator.export.ClassificationOutput(scores=probabilities, classes=tf.as_string(tf.tile(tf.constant([[0, 1, 2]]), [tf.shape(logits)[0], 1]))),
        'regress': export_lib.export_output.RegressionOutput(top[:, 0]) if hasattr(export_lib, 'export_output') else tf.estimator.export.RegressionOutput(top[:, 0]),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=export_outputs)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.RMSPropOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, eval_metric_ops={
        'top2': tf.metrics.mean(tf.nn.in_top_k(logits, tf.cast(labels, tf.int32), 2))})


def input_fn():
    random = np.random.RandomState(0)
    features = {'a': random.rand(30, 1).astype('f'), 'b': random.rand(30, 1).astype('f')}
    return tf.data.Dataset.from_tensor_slices((features, random.randint(0, 3, 30))).batch(10).repeat(2)


def raw_receiver():
    a = tf.placeholder(tf.float32, [None, 1], name='a_in')
    b = tf.placeholder_with_default([[0.5]], [None, 1], name='b_in')
    return tf.estimator.export.ServingInputReceiver({'a': a, 'b': b}, {'a': a, 'b': b}, receiver_tensors_alternatives={'only_a': a})


def main(_):
    est = tf.estimator.Estimator(model_fn, 'model', params={'classes': 3})
    est.train(input_fn)
    path = est.export_savedmodel(FLAGS.export_dir_base, raw_receiver, strip_default_attrs=FLAGS.strip, assets_extra={'notes/readme.txt': __file__})
    path = tf.compat.as_str_any(path)
    with tf.Session(graph=tf.Graph()) as sess:
        meta = loader.load(sess, [tag_constants.SERVING], path)
        signature = meta.signature_def[signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        feeds = {signature.inputs['a'].name: [[1.0]], signature.inputs['b'].name: [[2.0]]}
        served = sess.run({k: v.name for k, v in signature.outputs.items()}, feeds)
        methods = {k: v.method_name for k, v in sorted(meta.signature_def.items())}
        by_name = sess.run('Softmax:0', {'a_in:0': [[1.0]], 'b_in:0': [[2.0]]})
    row = next(est.predict(lambda: tf.data.Dataset.from_tensors({'a': [[1.0]], 'b': [[2.0]]})))
    print(json.dumps({
        'served': {k: v.tolist() for k, v in served.items()}, 'methods': methods, 'by_name': by_name.tolist(),
        'row': {k: v.tolist() for k, v in row.items()}, 'extra': os.path.exists(os.path.join(path, 'assets.extra', 'notes', 'readme.txt')),
        'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'files': sorted(os.listdir(os.path.join(path, 'variables')))}))


if __name__ == '__main__':
    tf.app.run()
