"""DCGAN in one model_fn: two optimizers, variables by scope, batch norm in both, sample images through summaries (TF 1.7)."""
import argparse
import json
import os
import numpy as np
import tensorflow as tf
from tensorflow.contrib.layers import conv2d, conv2d_transpose, fully_connected, batch_norm
from tensorflow.contrib.framework import get_variables, get_trainable_variables
ds = tf.contrib.distributions if False else None


def leaky(net):
    return tf.nn.leaky_relu(net, alpha=0.01)


def generator(noise, is_training):
    with tf.contrib.framework.arg_scope([fully_connected, conv2d_transpose], activation_fn=tf.nn.relu, normalizer_fn=batch_norm, weights_initializer=tf.random_normal_initializer(stddev=.2, seed=1),
                                        normalizer_params={'is_training': is_training, 'decay': .9, 'scale': True}):
        net = fully_connected(noise, 2 * 2 * 8, scope='fc')
        net = tf.reshape(net, [-1, 2, 2, 8])
        net = conv2d_transpose(net, 6, [4, 4], stride=2, scope='up1')
        net = conv2d_transpose(net, 4, [4, 4], stride=2, scope='up2')
        return conv2d(net, 1, 3, normalizer_fn=None, activation_fn=tf.tanh, scope='out', weights_initializer=tf.random_normal_initializer(stddev=.2, seed=2))


def discriminator(img, reuse):
    with tf.variable_scope('Discriminator', reuse=reuse):
        with tf.contrib.framework.arg_scope([conv2d, fully_connected], activation_fn=leaky, weights_initializer=tf.random_normal_initializer(stddev=.2, seed=3),
                                            weights_regularizer=tf.contrib.layers.l2_regularizer(2.5e-5), biases_regularizer=None):
            net = conv2d(img, 4, [4, 4], stride=2, scope='c1')
            net = conv2d(net, 6, [4, 4], stride=2, scope='c2')
            net = tf.contrib.layers.flatten(net)
            net = fully_connected(net, 8, normalizer_fn=tf.contrib.layers.layer_norm, scope='fc')
            return tf.layers.dense(net, 1, name='logit', kernel_initializer=tf.random_normal_initializer(stddev=.2, seed=4))


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    z = features['z']
    with tf.variable_scope('Generator') as scope:
        fake = generator(z, training)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'images': fake})
    real_logits = discriminator(features['real'], None)
    fake_logits = discriminator(fake, True)
    d_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(real_logits), real_logits, label_smoothing=.2) + tf.losses.sigmoid_cross_entropy(tf.zeros_like(fake_logits), fake_logits)
    d_loss += tf.add_n(tf.losses.get_regularization_losses('Discriminator'))
    g_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(fake_logits), fake_logits)
    tf.summary.scalar('d_loss', d_loss, family='gan')
    tf.summary.scalar('g_loss', g_loss, family='gan')
    tf.summary.image('generated', tf.contrib.gan.eval.image_reshaper(fake) if False else fake, max_outputs=2)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=d_loss, eval_metric_ops={'g_loss': tf.metrics.mean(g_loss), 'real': tf.metrics.mean(tf.sigmoid(real_logits)), 'fake': tf.metrics.mean_tensor(tf.reduce_mean(fake, [0, 3]))})
    d_vars, g_vars = get_trainable_variables('Discriminator'), tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='Generator')
    d_opt = tf.train.AdamOptimizer(params['rate'], beta1=.5, name='D_Adam')
    g_opt = tf.train.AdamOptimizer(params['rate'], beta1=.5, name='G_Adam')
    d_grads = d_opt.compute_gradients(d_loss, var_list=d_vars)
    g_grads = g_opt.compute_gradients(g_loss, var_list=g_vars)
    both = tf.tuple([g for g, _ in d_grads + g_grads])
    d_grads = [(g, v) for g, (_, v) in zip(both, d_grads)]
    g_grads = [(g, v) for g, (_, v) in zip(both[len(d_grads):], g_grads)]
    g_update = [u for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS) if 'Generator' in u.name]
    with tf.control_dependencies(g_update):
        g_step = g_opt.apply_gradients(g_grads)
    d_step = d_opt.apply_gradients(d_grads, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=g_loss + d_loss, train_op=tf.group(d_step, g_step, name='train_both'))


def input_fn(batch):
    rng = np.random.RandomState(0)
    real = np.tanh(rng.randn(32, 8, 8, 1)).astype(np.float32)
    z = rng.uniform(-1, 1, [32, 5]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices({'real': real, 'z': z}).apply(tf.contrib.data.shuffle_and_repeat(1, None)).batch(batch)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--model-dir', '-m')
    args, _ = parser.parse_known_args()
    est = tf.estimator.Estimator(model_fn=model_fn, model_dir=args.model_dir, params={'rate': 2e-3}, config=tf.contrib.learn.RunConfig(save_summary_steps=5) if False else tf.estimator.RunConfig(save_summary_steps=5, save_checkpoints_steps=7))
    est.train(lambda: input_fn(8), steps=14)
    result = est.evaluate(lambda: input_fn(8), steps=4)
    samples = []
    for i, p in enumerate(est.predict(lambda: input_fn(8))):
        samples.append(float(p['images'].mean()))
        if i == 3:
            break
    print(json.dumps({'g': float(result['g_loss']), 'loss': float(result['loss']), 'fake': result['fake'].shape, 'real': float(result['real']), 'samples': samples, 'steps': int(est.get_variable_value('global_step'))}))
