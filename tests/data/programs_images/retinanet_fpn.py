"""RetinaNet-like: feature pyramid, shared heads with separate batch norms, focal loss, anchors in params, TPUEstimator."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function
from absl import flags
import json
import numpy as np
import tensorflow as tf

FLAGS = flags.FLAGS
tf.flags.DEFINE_string('model_dir', None, 'Location of model_dir')
tf.flags.DEFINE_string('hparams', '', 'Comma separated k=v pairs of hyperparameters.')
tf.flags.DEFINE_integer('num_epochs', 2, 'Number of epochs for training')
tf.flags.mark_flag_as_required('model_dir')


def default_hparams():
  return tf.contrib.training.HParams(image_size=16, num_classes=2, min_level=2, max_level=3, alpha=0.25, gamma=1.5, delta=0.1, box_loss_weight=50.0,
                                     learning_rate=0.02, momentum=0.9, resnet_checkpoint=None, is_training_bn=True, moving_average_decay=0.9, lr_drop=[5, 8])


def nearest_upsampling(data, scale):
  with tf.name_scope('nearest_upsampling'):
    bs, h, w, c = data.get_shape().as_list()
    bs = -1 if bs is None else bs
    data = tf.reshape(data, [bs, h, 1, w, 1, c]) * tf.ones([1, 1, scale, 1, scale, 1], dtype=data.dtype)
    return tf.reshape(data, [bs, h * scale, w * scale, c])


def batch_norm_relu(inputs, is_training_bn, relu=True, name=None):
  inputs = tf.layers.batch_normalization(inputs=inputs, momentum=0.9, epsilon=1e-4, center=True, scale=True, training=is_training_bn, fused=True, name=name)
  return tf.nn.relu(inputs) if relu else inputs


def conv(x, n, k, name, stride=1, bias=True, reuse=None):
  return tf.layers.conv2d(x, n, (k, k), strides=(stride, stride), padding='same', use_bias=bias, name=name, reuse=reuse, bias_initializer=tf.zeros_initializer(),
                          kernel_initializer=tf.random_normal_initializer(stddev=0.1, seed=n + k))


def retinanet(features, params):
  training = params['is_training_bn']
  with tf.variable_scope('resnet50'):
    c1 = tf.nn.relu(conv(features, 6, 3, 'c1', 2))
    c2 = batch_norm_relu(conv(c1, 8, 3, 'c2', 2, False), training)
    c3 = batch_norm_relu(conv(c2, 8, 3, 'c3', 2, False), training)
  with tf.variable_scope('resnet_fpn'):
    feats = {3: conv(c3, 6, 1, 'l3'), 2: conv(c2, 6, 1, 'l2')}
    feats[2] = nearest_upsampling(feats[3], 2) + feats[2]
    for level in sorted(feats):
      feats[level] = batch_norm_relu(conv(feats[level], 6, 3, 'post_hoc_d%d' % level), training, relu=False, name='p%d-bn' % level)
  class_outputs, box_outputs = {}, {}
  with tf.variable_scope('retinanet'):
    for outputs, name, n in ((class_outputs, 'class', params['num_classes']), (box_outputs, 'box', 4)):
      with tf.variable_scope(name + '_net', reuse=tf.AUTO_REUSE):
        for level in range(params['min_level'], params['max_level'] + 1):
          x = feats[level]
          for i in range(2):
            x = conv(x, 6, 3, '%s-%d' % (name, i))
            x = batch_norm_relu(x, training, name='%s-%d-bn-%d' % (name, i, level))
          outputs[level] = tf.layers.conv2d(x, n, 3, padding='same', name=name + '-predict', kernel_initializer=tf.random_normal_initializer(stddev=1e-2, seed=3),
                                            bias_initializer=tf.constant_initializer(-np.log((1 - 0.1) / 0.1)) if name == 'class' else tf.zeros_initializer())
  return class_outputs, box_outputs


def focal_loss(logits, targets, alpha, gamma, normalizer):
  with tf.name_scope('focal_loss'):
    positive_label_mask = tf.equal(targets, 1.0)
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
    neg_logits = -1.0 * logits
    modulator = tf.exp(gamma * targets * neg_logits - gamma * tf.log1p(tf.exp(neg_logits)))
    loss = modulator * cross_entropy
    weighted_loss = tf.where(positive_label_mask, alpha * loss, (1.0 - alpha) * loss)
    return tf.reduce_sum(weighted_loss) / normalizer


def _box_loss(box_outputs, box_targets, num_positives, delta=0.1):
  normalizer = num_positives * 4.0
  mask = tf.not_equal(box_targets, 0.0)
  return tf.losses.huber_loss(box_targets, box_outputs, weights=tf.cast(mask, tf.float32), delta=delta, reduction=tf.losses.Reduction.SUM) / normalizer


def model_fn(features, labels, mode, params):
  cls_outputs, box_outputs = retinanet(features, dict(params, is_training_bn=params['is_training_bn'] and mode == tf.estimator.ModeKeys.TRAIN))
  levels = sorted(cls_outputs)
  if mode == tf.estimator.ModeKeys.PREDICT:
    predictions = {'image': features}
    for level in levels:
      predictions['cls_outputs_%d' % level] = tf.sigmoid(cls_outputs[level])
      predictions['box_outputs_%d' % level] = box_outputs[level]
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, predictions=predictions)
  num_positives_sum = tf.reduce_sum(labels['mean_num_positives']) + 1.0
  cls_losses, box_losses = [], []
  for level in levels:
    cls_targets = tf.one_hot(labels['cls_targets_%d' % level], params['num_classes'])
    cls_losses.append(focal_loss(cls_outputs[level], cls_targets, params['alpha'], params['gamma'], num_positives_sum))
    box_losses.append(_box_loss(box_outputs[level], labels['box_targets_%d' % level], num_positives_sum, params['delta']))
  cls_loss, box_loss = tf.add_n(cls_losses), tf.add_n(box_losses)
  total_loss = cls_loss + params['box_loss_weight'] * box_loss
  global_step = tf.train.get_or_create_global_step()
  scaffold_fn, train_op, eval_metrics = None, None, None
  ema = tf.train.ExponentialMovingAverage(decay=params['moving_average_decay'], num_updates=global_step, zero_debias=False)
  if mode == tf.estimator.ModeKeys.TRAIN:
    lr = tf.where(global_step < params['lr_drop'][0], params['learning_rate'], tf.where(global_step < params['lr_drop'][1], params['learning_rate'] * .1, .001))
    lr = tf.cast(lr, tf.float32)
    optimizer = tf.train.MomentumOptimizer(lr, momentum=params['momentum'])
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    var_list = [v for v in tf.trainable_variables() if not v.name.startswith('resnet50/c1')]
    with tf.control_dependencies(update_ops):
      train_op = optimizer.minimize(total_loss, global_step, var_list=var_list)
    with tf.control_dependencies([train_op]):
      train_op = ema.apply(var_list)
  else:
    def metric_fn(**kwargs):
      return {'cls_loss': tf.metrics.mean(kwargs['cls_loss_repeat']), 'box_loss': tf.metrics.mean(kwargs['box_loss_repeat'])}
    batch_size = params['batch_size']
    eval_metrics = (metric_fn, {'cls_loss_repeat': tf.reshape(tf.tile(tf.expand_dims(cls_loss, 0), [batch_size]), [batch_size, 1]),
                                'box_loss_repeat': tf.reshape(tf.tile(tf.expand_dims(box_loss, 0), [batch_size]), [batch_size, 1])})
    def scaffold_fn():
      averaged = {ema.average_name(v): v for v in tf.trainable_variables() if not v.name.startswith('resnet50/c1')}
      rest = {v.op.name: v for v in tf.global_variables() if v not in averaged.values()}
      rest.update(averaged)
      return tf.train.Scaffold(saver=tf.train.Saver(rest))
  return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op, eval_metrics=eval_metrics, scaffold_fn=scaffold_fn)


class InputReader(object):
  def __call__(self, params):
    rng = np.random.RandomState(1)
    images = rng.rand(16, 16, 16, 3).astype(np.float32)
    labels = {'mean_num_positives': np.full([16], 2.0, np.float32)}
    for level in (2, 3):
      n = 16 // 2 ** level
      labels['cls_targets_%d' % level] = rng.randint(-1, 2, [16, n, n]).astype(np.int32)
      boxes = rng.randn(16, n, n, 4).astype(np.float32) * .1
      boxes[labels['cls_targets_%d' % level] < 0] = 0
      labels['box_targets_%d' % level] = boxes
    d = tf.data.Dataset.from_tensor_slices((images, labels)).repeat()
    return d.apply(tf.contrib.data.batch_and_drop_remainder(params['batch_size'])).prefetch(1)


def main(argv):
  del argv
  hparams = default_hparams()
  hparams.parse(FLAGS.hparams)
  params = dict(hparams.values(), model_dir=FLAGS.model_dir)
  run_config = tf.contrib.tpu.RunConfig(model_dir=FLAGS.model_dir, log_step_count_steps=5, tpu_config=tf.contrib.tpu.TPUConfig(5, num_shards=1, per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2))
  est = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, use_tpu=False, train_batch_size=4, eval_batch_size=8, predict_batch_size=4, config=run_config, params=params)
  found = []
  for cycle in range(FLAGS.num_epochs):
    est.train(input_fn=InputReader(), steps=5)
    found.append({k: float(v) for k, v in est.evaluate(input_fn=InputReader(), steps=2).items()})
  predictor = est.predict(input_fn=InputReader(), yield_single_examples=False)
  batch = next(predictor)
  print(json.dumps({'found': found, 'keys': sorted(batch), 'mean': [float(batch['cls_outputs_%d' % l].mean()) for l in (2, 3)]}))


if __name__ == '__main__':
  tf.logging.set_verbosity(tf.logging.ERROR)
  tf.app.run(main)
