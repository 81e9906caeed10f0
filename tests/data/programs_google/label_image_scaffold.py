"""Image classification with a Scaffold, string labels in a table, images in files (TensorFlow 1.8)."""
from __future__ import print_function

import json
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string('image_dir', 'flower_photos', 'where')
flags.DEFINE_integer('size', 6, 'edge')
FLAGS = flags.FLAGS
LABELS = ['daisy', 'roses', 'tulips']


def write_images():
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [None, None, 3])
        png = tf.image.encode_png(pixels)
        random = np.random.RandomState(3)
        for number, label in enumerate(LABELS):
            tf.gfile.MakeDirs(os.path.join(FLAGS.image_dir, label))
            for index in range(6):
                image = random.randint(0, 80, (8, 8, 3))
                image[:, :, number] += 150
                with tf.gfile.FastGFile(os.path.join(FLAGS.image_dir, label, '%d.png' % index), 'wb') as out:
                    out.write(session.run(png, {pixels: image.astype(np.uint8)}))


def input_fn(epochs):
    names = sorted(tf.gfile.Glob(os.path.join(FLAGS.image_dir, '*', '*.png')))
    names = names[::6] + [n for i, n in enumerate(names) if i % 6]

    def load(path):
        image = tf.image.decode_png(tf.read_file(path), channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        image = tf.image.central_crop(image, 0.75)
        image = tf.squeeze(tf.image.resize_bilinear(tf.expand_dims(image, 0), [FLAGS.size, FLAGS.size]), 0)
        image = tf.image.per_image_standardization(tf.image.flip_left_right(image)) * 0.1 + image
        label = tf.string_split([path], '/').values[-2]
        return {'image': image, 'path': path}, label
    return tf.data.Dataset.from_tensor_slices(names).map(load).batch(6).repeat(epochs)


def model_fn(features, labels, mode, config):
    table = tf.contrib.lookup.index_table_from_tensor(tf.constant(LABELS))
    names = tf.contrib.lookup.index_to_string_table_from_tensor(LABELS, default_value='?')
    net = tf.reduce_mean(features['image'], axis=[1, 2])
    logits = tf.layers.dense(net, len(LABELS), kernel_initializer=tf.orthogonal_initializer(seed=1) if False else tf.constant_initializer(.2))
    best = tf.argmax(logits, axis=-1)
    predictions = {'label': names.lookup(best), 'path': features['path'], 'score': tf.reduce_max(tf.nn.softmax(logits), -1)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    ids = table.lookup(labels)
    loss = tf.losses.sparse_softmax_cross_entropy(ids, logits)
    per_class = tf.metrics.mean_per_class_accuracy(ids, best, 3)
    total = tf.get_variable('confusion', [3, 3], tf.int32, tf.zeros_initializer(), trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    scaffold = tf.train.Scaffold(
        local_init_op=tf.group(tf.tables_initializer(), tf.local_variables_initializer()),
        summary_op=tf.summary.merge([tf.summary.scalar('my_loss', loss), tf.summary.image('seen', features['image'], max_outputs=1)]))
    saver_hook = tf.train.SummarySaverHook(save_steps=2, output_dir=config.model_dir, scaffold=scaffold)
    train_op = tf.train.AdagradOptimizer(.5).minimize(loss, global_step=tf.train.get_global_step())
    matrix = tf.confusion_matrix(ids, best, 3)
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, {'confusion': (total.read_value() if hasattr(total, 'read_value') else total, tf.assign_add(total, matrix)),
                                      'per_class': per_class}, scaffold=scaffold, training_chief_hooks=[saver_hook])


def main(_):
    write_images()
    estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(model_dir='flowers', save_summary_steps=None))
    estimator.train(lambda: input_fn(5))
    result = estimator.evaluate(lambda: input_fn(1))
    rows = list(estimator.predict(lambda: input_fn(1)))
    tags = sorted({v.tag for f in tf.gfile.Glob('flowers/events*') for e in tf.train.summary_iterator(f) for v in e.summary.value})
    print(json.dumps({'loss': float(result['loss']), 'confusion': np.asarray(result['confusion']).tolist(), 'per_class': np.asarray(result['per_class']).tolist(),
                      'rows': [[r['label'].decode(), os.path.basename(r['path'].decode()), float(r['score'])] for r in rows[::5]], 'tags': tags}))


if __name__ == '__main__':
    tf.app.run()
