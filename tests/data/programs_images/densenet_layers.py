"""DenseNet in tf.layers, raw placeholders in the serving function, tf.train.batch of images from queues (TF 1.4)."""
import json
import os
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib.layers import batch_norm, flatten, xavier_initializer
from tensorflow.contrib.framework import arg_scope
from tensorflow.python.estimator.model_fn import EstimatorSpec, ModeKeys
from tensorflow.python.estimator.export.export import ServingInputReceiver
from tensorflow.python.estimator.export.export_output import PredictOutput

growth_k, nb_block, class_num = 4, 2, 3
epsilon = 1e-4


def conv_layer(input, filter, kernel, stride=1, layer_name="conv"):
    with tf.name_scope(layer_name):
        return tf.layers.conv2d(inputs=input, use_bias=False, filters=filter, kernel_size=kernel, strides=stride, padding='SAME', kernel_initializer=xavier_initializer(seed=filter), name=layer_name)


def Batch_Normalization(x, training, scope):
    with arg_scope([batch_norm], scope=scope, updates_collections=None, decay=0.9, center=True, scale=True, zero_debias_moving_mean=False):
        return tf.cond(training, lambda: batch_norm(inputs=x, is_training=True, reuse=None), lambda: batch_norm(inputs=x, is_training=False, reuse=True))


class DenseNet():
    def __init__(self, x, nb_blocks, filters, training):
        self.filters, self.training = filters, training
        self.model = self.Dense_net(x)

    def bottleneck_layer(self, x, scope):
        with tf.name_scope(scope):
            x = Batch_Normalization(x, training=self.training, scope=scope + '_batch1')
            x = conv_layer(tf.nn.relu(x), filter=4 * self.filters, kernel=[1, 1], layer_name=scope + '_conv1')
            x = Batch_Normalization(x, training=self.training, scope=scope + '_batch2')
            x = conv_layer(tf.nn.relu(x), filter=self.filters, kernel=[3, 3], layer_name=scope + '_conv2')
            return tf.layers.dropout(inputs=x, rate=0.0, training=self.training)

    def transition_layer(self, x, scope):
        with tf.name_scope(scope):
            x = Batch_Normalization(x, training=self.training, scope=scope + '_batch1')
            x = conv_layer(tf.nn.relu(x), filter=int(int(x.shape[-1]) * 0.5), kernel=[1, 1], layer_name=scope + '_conv1')
            return tf.layers.average_pooling2d(inputs=x, pool_size=[2, 2], strides=2, padding='VALID')

    def dense_block(self, input_x, nb_layers, layer_name):
        with tf.name_scope(layer_name):
            layers_concat = [input_x]
            x = self.bottleneck_layer(input_x, scope=layer_name + '_bottleN_' + str(0))
            layers_concat.append(x)
            for i in range(nb_layers - 1):
                x = tf.concat(layers_concat, axis=3)
                x = self.bottleneck_layer(x, scope=layer_name + '_bottleN_' + str(i + 1))
                layers_concat.append(x)
            return tf.concat(layers_concat, axis=3)

    def Dense_net(self, input_x):
        x = conv_layer(input_x, filter=2 * self.filters, kernel=[3, 3], stride=1, layer_name='conv0')
        x = self.dense_block(input_x=x, nb_layers=2, layer_name='dense_1')
        x = self.transition_layer(x, scope='trans_1')
        x = self.dense_block(input_x=x, nb_layers=2, layer_name='dense_final')
        x = tf.nn.relu(Batch_Normalization(x, training=self.training, scope='linear_batch'))
        x = flatten(tf.reduce_mean(x, axis=[1, 2]))
        return tf.layers.dense(inputs=x, units=class_num, name='linear', kernel_initializer=xavier_initializer(seed=1))


def model_fn(features, labels, mode):
    training = tf.constant(mode == ModeKeys.TRAIN)
    logits = DenseNet(x=features['image'], nb_blocks=nb_block, filters=growth_k, training=training).model
    if mode == ModeKeys.PREDICT:
        out = {'p': tf.nn.softmax(logits)}
        return EstimatorSpec(mode, predictions=out, export_outputs={'serving_default': PredictOutput(out)})
    one_hot = tf.one_hot(tf.to_int32(labels), class_num)
    cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=one_hot, logits=logits))
    l2 = tf.add_n([tf.nn.l2_loss(var) for var in tf.trainable_variables()])
    train = None
    if mode == ModeKeys.TRAIN:
        train = tf.train.MomentumOptimizer(learning_rate=0.05, momentum=0.9, use_nesterov=True).minimize(cost + l2 * 1e-4, global_step=tf.train.get_global_step())
    return EstimatorSpec(mode, loss=cost, train_op=train, eval_metric_ops={'accuracy': tf.metrics.accuracy(tf.argmax(logits, 1), tf.to_int64(labels))})


def input_fn(epochs):
    def fn():
        rng = np.random.RandomState(0)
        y = np.arange(12) % 3
        x = rng.rand(12, 8, 8, 3).astype('float32')
        x[np.arange(12), :, :, y] += 1
        image, label = tf.train.slice_input_producer([tf.constant(x), tf.constant(y)], num_epochs=epochs, shuffle=False)
        images, labels = tf.train.batch([tf.image.adjust_brightness(image, .1), label], batch_size=4, num_threads=1, capacity=32)
        return {'image': images}, labels
    return fn


def serving():
    encoded = tf.placeholder(tf.string, shape=[None], name='image_bytes')

    def one(b):
        image = tf.image.decode_jpeg(b, channels=3)
        image = tf.image.resize_images(tf.image.convert_image_dtype(image, tf.float32), [8, 8])
        image.set_shape([8, 8, 3])
        return image
    images = tf.map_fn(one, encoded, back_prop=False, dtype=tf.float32)
    return ServingInputReceiver({'image': images}, {'image_bytes': encoded})


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, sys.argv[1])
    est.train(input_fn(5))
    result = est.evaluate(input_fn(1))
    folder = est.export_savedmodel(os.path.join(sys.argv[1], 'out'), serving, strip_default_attrs=True, assets_extra={'labels.txt': os.path.abspath(__file__)})
    with tf.Graph().as_default(), tf.Session() as sess:
        jpeg = sess.run(tf.image.encode_jpeg(np.full([8, 8, 3], 128, np.uint8), quality=100))
        tf.saved_model.loader.load(sess, ['serve'], folder)
        p = sess.run(sess.graph.get_tensor_by_name('Softmax:0'), {'image_bytes:0': [jpeg, jpeg]})
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'p': p.tolist(), 'extra': os.listdir(os.path.join(folder.decode() if isinstance(folder, bytes) else folder, 'assets.extra'))}))
