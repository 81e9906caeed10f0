"""VGG-like preprocessing of JPEG TFRecords: seeded distortions, bounding boxes, contrib.image, sloppy reads, interleave, vgg from slim.nets."""
import json
import os
import sys
import math
import numpy as np
import tensorflow as tf
from tensorflow.contrib.slim.nets import vgg
from tensorflow.contrib.data import AUTOTUNE, parallel_interleave, shuffle_and_repeat, map_and_batch
from tensorflow.python.ops import control_flow_ops
from tensorflow.contrib.image import rotate as contrib_rotate
slim = tf.contrib.slim


def apply_with_selector(x, func, num_cases, sel):
    return control_flow_ops.merge([func(control_flow_ops.switch(x, tf.equal(sel, case))[1], case) for case in range(num_cases)])[0] if False else \
        tf.case([(tf.equal(sel, i), lambda i=i: func(x, i)) for i in range(num_cases)], exclusive=True)


def distort_color(image, color_ordering=0):
    if color_ordering == 0:
        image = tf.image.adjust_brightness(image, delta=8. / 255.)
        image = tf.image.adjust_saturation(image, 1.2)
        image = tf.image.adjust_hue(image, .05)
    else:
        image = tf.image.adjust_contrast(image, 1.3)
        image = tf.image.adjust_hue(image, -.05)
    return tf.clip_by_value(image, 0.0, 1.0)


def preprocess_for_train(image, bbox, index):
    begin, size, draw = tf.image.sample_distorted_bounding_box(tf.shape(image), bounding_boxes=bbox, min_object_covered=.5, aspect_ratio_range=[.8, 1.2], area_range=[.6, 1.], max_attempts=5, use_image_if_no_bounding_boxes=True, seed=4, seed2=5)
    with tf.control_dependencies([tf.assert_greater_equal(size[0], 1)]):
        image = tf.image.central_crop(image, .875)
    image = tf.image.resize_images(image, [18, 18], method=tf.image.ResizeMethod.BILINEAR, align_corners=False)
    image.set_shape([18, 18, 3])
    image = tf.cond(tf.equal(index % 2, 0), lambda: tf.image.flip_left_right(image), lambda: image)
    image = apply_with_selector(image, lambda x, ordering: distort_color(x, ordering), 2, tf.cast(index % 2, tf.int32))
    image = contrib_rotate(image, math.pi / 18. * tf.to_float(index % 3), interpolation='BILINEAR')
    image = tf.image.resize_image_with_crop_or_pad(image, 16, 16)
    image = tf.subtract(tf.multiply(image, 2.0), 1.0)
    channels = tf.split(axis=2, num_or_size_splits=3, value=image)
    return tf.concat(axis=2, values=[c - m for c, m in zip(channels, (.1, .05, 0.))])


def write(folder):
    rng = np.random.RandomState(7)
    tf.gfile.MakeDirs(folder)
    with tf.Graph().as_default(), tf.Session('') as sess:
        data = tf.placeholder(dtype=tf.uint8)
        encode = tf.image.encode_jpeg(data, format='rgb', quality=100)
        for part in range(2):
            name = os.path.join(folder, 'images_%02d-of-02.tfrecord' % part)
            with tf.python_io.TFRecordWriter(name, options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)) as writer:
                for i in range(6):
                    pixels = np.full([20, 20, 3], 60, np.uint8)
                    pixels[4:16, 4:16, (i + part) % 3] = 220
                    example = tf.train.Example(features=tf.train.Features(feature={
                        'image/encoded': tf.train.Feature(bytes_list=tf.train.BytesList(value=[sess.run(encode, {data: pixels})])),
                        'image/class/label': tf.train.Feature(int64_list=tf.train.Int64List(value=[(i + part) % 3])),
                        'image/index': tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                        'image/object/bbox/ymin': tf.train.Feature(float_list=tf.train.FloatList(value=[.2])), 'image/object/bbox/xmin': tf.train.Feature(float_list=tf.train.FloatList(value=[.2])),
                        'image/object/bbox/ymax': tf.train.Feature(float_list=tf.train.FloatList(value=[.8])), 'image/object/bbox/xmax': tf.train.Feature(float_list=tf.train.FloatList(value=[.8]))}))
                    writer.write(example.SerializeToString())


def parse(serialized):
    feature_map = {'image/encoded': tf.FixedLenFeature([], dtype=tf.string, default_value=''), 'image/class/label': tf.FixedLenFeature([1], dtype=tf.int64, default_value=-1), 'image/index': tf.FixedLenFeature([], tf.int64)}
    sparse_float32 = tf.VarLenFeature(dtype=tf.float32)
    feature_map.update({k: sparse_float32 for k in ['image/object/bbox/xmin', 'image/object/bbox/ymin', 'image/object/bbox/xmax', 'image/object/bbox/ymax']})
    features = tf.parse_single_example(serialized, feature_map)
    label = tf.cast(features['image/class/label'], dtype=tf.int32)
    box = [tf.expand_dims(features['image/object/bbox/' + k].values, 0) for k in ('ymin', 'xmin', 'ymax', 'xmax')]
    bbox = tf.transpose(tf.expand_dims(tf.concat(box, 0), 0), [0, 2, 1])
    image = tf.image.decode_jpeg(features['image/encoded'], channels=3, dct_method='INTEGER_ACCURATE')
    image = tf.image.convert_image_dtype(image, dtype=tf.float32)
    return preprocess_for_train(image, bbox, features['image/index']), tf.squeeze(label)


def input_fn(folder, repeat):
    files = tf.data.Dataset.list_files(os.path.join(folder, '*.tfrecord'), shuffle=False)
    d = files.apply(parallel_interleave(lambda f: tf.data.TFRecordDataset(f, compression_type='ZLIB'), cycle_length=2, block_length=1, sloppy=False, buffer_output_elements=4, prefetch_input_elements=1))
    d = d.apply(shuffle_and_repeat(1, repeat)).apply(map_and_batch(parse, 6, num_parallel_calls=2))
    options = tf.data.Options()
    options.experimental_deterministic = True
    return d.with_options(options).prefetch(AUTOTUNE)


def model_fn(features, labels, mode):
    with slim.arg_scope(vgg.vgg_arg_scope(weight_decay=1e-4)), slim.arg_scope([slim.conv2d, slim.fully_connected], weights_initializer=tf.contrib.layers.xavier_initializer(seed=1)):
        net = slim.repeat(features, 2, slim.conv2d, 6, [3, 3], scope='conv1')
        net = slim.max_pool2d(net, [2, 2], scope='pool1')
        net = slim.conv2d(net, 8, net.get_shape()[1:3], padding='VALID', scope='fc6')
        net = slim.conv2d(net, 3, [1, 1], activation_fn=None, normalizer_fn=None, scope='fc8')
        logits = tf.squeeze(net, [1, 2], name='fc8/squeezed')
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    total = tf.losses.get_total_loss()
    if mode == 'eval':
        return tf.estimator.EstimatorSpec(mode, loss=total, eval_metric_ops={'acc': tf.metrics.accuracy(labels, tf.argmax(logits, 1)), 'pixels': tf.metrics.mean(features), 'squares': tf.metrics.mean(tf.square(features))})
    train_op = tf.contrib.layers.optimize_loss(total, tf.train.get_global_step(), .01, lambda lr: tf.train.MomentumOptimizer(lr, .9), clip_gradients=1., summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES)
    return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)


if __name__ == '__main__':
    write('jpegs')
    est = tf.estimator.Estimator(model_fn, sys.argv[1])
    est.train(lambda: input_fn('jpegs', 4))
    print(json.dumps({k: float(v) for k, v in est.evaluate(lambda: input_fn('jpegs', 1)).items()}))
