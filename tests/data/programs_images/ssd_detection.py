"""SSD head: anchors, matching by IoU, hard negative mining, smooth L1, non-maximum suppression in predict (TF 1.9)."""
from __future__ import absolute_import
from __future__ import division

import json
import sys
from collections import namedtuple
from functools import partial

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.python.ops import array_ops, math_ops

SSDParams = namedtuple('SSDParameters', ['img_shape', 'num_classes', 'feat_shape', 'anchor_sizes', 'prior_scaling'])
P = SSDParams((16, 16), 3, (4, 4), [.25, .5], [.1, .1, .2, .2])


def ssd_anchors():
    y, x = np.mgrid[0:P.feat_shape[0], 0:P.feat_shape[1]]
    y, x = (y.astype('float32') + .5) / 4, (x.astype('float32') + .5) / 4
    boxes = []
    for s in P.anchor_sizes:
        boxes.append(np.stack([y, x, np.full_like(y, s), np.full_like(y, s)], -1))
    return np.stack(boxes, 2).reshape(-1, 4)


ANCHORS = ssd_anchors()


def encode(labels, bboxes):
    """Anchors of one image -> classes, offsets."""
    yref, xref, href, wref = [tf.constant(ANCHORS[:, i]) for i in range(4)]
    ymin, xmin, ymax, xmax = yref - href / 2., xref - wref / 2., yref + href / 2., xref + wref / 2.
    vol_anchors = (xmax - xmin) * (ymax - ymin)
    n = ANCHORS.shape[0]
    feat_labels, feat_scores = tf.zeros((n,), tf.int64), tf.zeros((n,), tf.float32)
    feat_boxes = tf.zeros((n, 4))

    def condition(i, feat_labels, feat_scores, feat_boxes):
        return tf.less(i, tf.shape(labels))[0]

    def body(i, feat_labels, feat_scores, feat_boxes):
        bbox = bboxes[i]
        h = tf.maximum(tf.minimum(ymax, bbox[2]) - tf.maximum(ymin, bbox[0]), 0.)
        w = tf.maximum(tf.minimum(xmax, bbox[3]) - tf.maximum(xmin, bbox[1]), 0.)
        inter = h * w
        jaccard = tf.div(inter, vol_anchors - inter + (bbox[2] - bbox[0]) * (bbox[3] - bbox[1]))
        mask = tf.logical_and(tf.greater(jaccard, feat_scores), labels[i] < P.num_classes)
        imask = tf.cast(mask, tf.int64)
        fmask = tf.cast(mask, tf.float32)
        feat_labels = imask * labels[i] + (1 - imask) * feat_labels
        feat_scores = tf.where(mask, jaccard, feat_scores)
        feat_boxes = fmask[:, None] * bbox[None] + (1 - fmask[:, None]) * feat_boxes
        return [i + 1, feat_labels, feat_scores, feat_boxes]

    i = 0
    [i, feat_labels, feat_scores, b] = tf.while_loop(condition, body, [i, feat_labels, feat_scores, feat_boxes], parallel_iterations=1, back_prop=False, swap_memory=True)
    cy, cx = (b[:, 2] + b[:, 0]) / 2., (b[:, 3] + b[:, 1]) / 2.
    h, w = tf.maximum(b[:, 2] - b[:, 0], .01), tf.maximum(b[:, 3] - b[:, 1], .01)
    scale = P.prior_scaling
    loc = tf.stack([(cy - yref) / href / scale[0], (cx - xref) / wref / scale[1], tf.log(h / href) / scale[2], tf.log(w / wref) / scale[3]], axis=-1)
    return tf.where(feat_scores > .3, feat_labels, tf.zeros_like(feat_labels)), loc, feat_scores


def decode(loc):
    s = P.prior_scaling
    cx, cy = loc[:, 1] * ANCHORS[:, 3] * s[1] + ANCHORS[:, 1], loc[:, 0] * ANCHORS[:, 2] * s[0] + ANCHORS[:, 0]
    w, h = ANCHORS[:, 3] * tf.exp(loc[:, 3] * s[3]), ANCHORS[:, 2] * tf.exp(loc[:, 2] * s[2])
    return tf.stack([cy - h / 2., cx - w / 2., cy + h / 2., cx + w / 2.], axis=-1)


def abs_smooth(x):
    absx = tf.abs(x)
    minx = tf.minimum(absx, 1)
    return 0.5 * ((absx - 1) * minx + absx)


def ssd_losses(logits, loc, gclasses, glocs, gscores, negative_ratio=3.):
    with tf.name_scope('ssd_losses'):
        n_classes = logits.get_shape()[-1].value
        logits, gclasses = tf.reshape(logits, [-1, n_classes]), tf.reshape(gclasses, [-1])
        loc, glocs = tf.reshape(loc, [-1, 4]), tf.reshape(glocs, [-1, 4])
        pmask = gclasses > 0
        fpmask = tf.cast(pmask, tf.float32)
        n_positives = tf.reduce_sum(fpmask)
        predictions = slim.softmax(logits)
        nmask = tf.logical_not(pmask)
        nvalues = tf.where(nmask, predictions[:, 0], 1. - tf.cast(nmask, tf.float32))
        n_neg = tf.cast(negative_ratio * n_positives, tf.int32) + 4
        n_neg = tf.minimum(n_neg, tf.cast(tf.reduce_sum(tf.cast(nmask, tf.float32)), tf.int32))
        val, idxes = tf.nn.top_k(-nvalues, k=n_neg)
        nmask = tf.logical_and(nmask, nvalues <= -val[-1])
        fnmask = tf.cast(nmask, tf.float32)
        with tf.name_scope('cross_entropy_pos'):
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=gclasses)
            tf.losses.add_loss(tf.div(tf.reduce_sum(loss * fpmask), tf.maximum(n_positives, 1.), name='value'))
        with tf.name_scope('cross_entropy_neg'):
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.cast(pmask, tf.int32))
            tf.losses.add_loss(tf.div(tf.reduce_sum(loss * fnmask), tf.maximum(n_positives, 1.), name='value'))
        with tf.name_scope('localization'):
            weights = tf.expand_dims(1. * fpmask, axis=-1)
            tf.losses.add_loss(tf.reduce_sum(abs_smooth(loc - glocs) * weights) / tf.maximum(n_positives, 1.))


def model_fn(features, labels, mode, params):
    with slim.arg_scope([slim.conv2d], activation_fn=tf.nn.relu, weights_initializer=tf.contrib.layers.xavier_initializer(seed=2), biases_initializer=tf.zeros_initializer(), padding='SAME',
                        weights_regularizer=slim.l2_regularizer(5e-4)), slim.arg_scope([slim.conv2d, slim.max_pool2d], data_format='NHWC'):
        net = slim.repeat(features['image'], 2, slim.conv2d, 8, [3, 3], scope='conv1')
        net = slim.max_pool2d(net, [2, 2], scope='pool1')
        net = slim.conv2d(net, 12, [3, 3], rate=2, scope='conv2')
        net = slim.max_pool2d(net, [2, 2], scope='pool2')
        norm = tf.nn.l2_normalize(net, 3, epsilon=1e-12)
        n = len(P.anchor_sizes)
        loc = tf.reshape(slim.conv2d(norm, n * 4, [3, 3], activation_fn=None, scope='conv_loc'), [-1, 4 * 4 * n, 4])
        logits = tf.reshape(slim.conv2d(norm, n * P.num_classes, [3, 3], activation_fn=None, scope='conv_cls'), [-1, 4 * 4 * n, P.num_classes])
    if mode == tf.estimator.ModeKeys.PREDICT:
        def one(args):
            scores, loc = args
            boxes = tf.clip_by_value(decode(loc), 0., 1.)
            best, order = tf.nn.top_k(tf.reduce_max(scores[:, 1:], -1), k=8)
            keep = tf.image.non_max_suppression(tf.gather(boxes, order), best, 3, iou_threshold=.45)
            boxes = tf.gather(tf.gather(boxes, order), keep)
            best = tf.gather(best, keep)
            pad = 3 - tf.shape(keep)[0]
            return tf.pad(boxes, [[0, pad], [0, 0]]), tf.pad(best, [[0, pad]])
        boxes, scores = tf.map_fn(one, (tf.nn.softmax(logits), loc), dtype=(tf.float32, tf.float32))
        boxes.set_shape([None, 3, 4])
        return tf.estimator.EstimatorSpec(mode, predictions={'boxes': boxes, 'scores': scores})
    gclasses, glocs, gscores = labels
    ssd_losses(logits, loc, gclasses, glocs, gscores)
    total_loss = tf.losses.get_total_loss()
    metrics = {'map': tf.metrics.average_precision_at_k(gclasses, logits, 1), 'positives': tf.metrics.mean(tf.reduce_sum(tf.to_float(gclasses > 0), 1)),
               'loc': tf.metrics.percentage_below(tf.abs(loc - glocs), .5)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=total_loss, eval_metric_ops=metrics)
    lr = tf.train.piecewise_constant(tf.train.get_global_step(), np.array([5, 10], np.int64).tolist(), [.01, .005, .001])
    lr = tf.maximum(lr, tf.constant(1e-4, dtype=lr.dtype), name='learning_rate')
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(lr, .9).minimize(total_loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=total_loss, train_op=train_op, scaffold=tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2)))


def input_fn(repeat):
    rng = np.random.RandomState(0)

    def gen():
        for i in range(8):
            n = rng.randint(1, 3) if False else 1 + i % 2
            image = np.zeros([16, 16, 3], np.float32)
            boxes, labels = [], []
            for j in range(n):
                y, x, s = (i * 3 + j * 5) % 10, (i * 5 + j * 7) % 10, 4 + 2 * (i % 2)
                c = 1 + (i + j) % 2
                image[y:y + s, x:x + s, c] = 1.
                boxes.append([y / 16., x / 16., (y + s) / 16., (x + s) / 16.])
                labels.append(c)
            yield image, np.array(labels, np.int64), np.array(boxes, np.float32)
    ds = tf.data.Dataset.from_generator(gen, (tf.float32, tf.int64, tf.float32), ([16, 16, 3], [None], [None, 4]))
    ds = ds.map(lambda image, labels, boxes: ({'image': image}, encode(labels, boxes))).repeat(repeat).batch(4)
    return ds.make_one_shot_iterator().get_next()


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, sys.argv[1], config=tf.estimator.RunConfig(keep_checkpoint_every_n_hours=1))
    est.train(partial(input_fn, 7))
    result = est.evaluate(partial(input_fn, 1))
    row = next(est.predict(partial(input_fn, 1)))
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'scores': row['scores'].tolist(), 'boxes': row['boxes'].shape}))
