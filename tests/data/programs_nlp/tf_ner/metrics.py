"""Multiclass precision, recall and F1 from a streaming confusion matrix."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix

__all__ = ["precision", "recall", "f1"]


def precision(labels, predictions, num_classes, pos_indices=None, weights=None, average="micro"):
    cm, op = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
    pr, _, _ = metrics_from_confusion_matrix(cm, pos_indices, average=average)
    op, _, _ = metrics_from_confusion_matrix(op, pos_indices, average=average)
    return (pr, op)


def recall(labels, predictions, num_classes, pos_indices=None, weights=None, average="micro"):
    cm, op = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
    _, re, _ = metrics_from_confusion_matrix(cm, pos_indices, average=average)
    _, op, _ = metrics_from_confusion_matrix(op, pos_indices, average=average)
    return (re, op)


def f1(labels, predictions, num_classes, pos_indices=None, weights=None, average="micro"):
    cm, op = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
    _, _, fbeta = metrics_from_confusion_matrix(cm, pos_indices, average=average)
    _, _, op = metrics_from_confusion_matrix(op, pos_indices, average=average)
    return (fbeta, op)


def safe_div(numerator, denominator):
    numerator, denominator = tf.to_float(numerator), tf.to_float(denominator)
    zeros = tf.zeros_like(numerator, dtype=numerator.dtype)
    denominator_is_zero = tf.equal(denominator, zeros)
    return tf.where(denominator_is_zero, zeros, numerator / denominator)


def metrics_from_confusion_matrix(cm, pos_indices=None, average="micro", beta=1):
    num_classes = cm.shape[0]
    if pos_indices is None:
        pos_indices = [i for i in range(num_classes)]
    neg_indices = [i for i in range(num_classes) if i not in pos_indices]
    cm_mask = np.ones([num_classes, num_classes])
    cm_mask[neg_indices, neg_indices] = 0
    diag_sum = tf.reduce_sum(tf.diag_part(cm * cm_mask))
    cm_mask = np.ones([num_classes, num_classes])
    cm_mask[:, neg_indices] = 0
    tot_pred = tf.reduce_sum(cm * cm_mask)
    cm_mask = np.ones([num_classes, num_classes])
    cm_mask[neg_indices, :] = 0
    tot_gold = tf.reduce_sum(cm * cm_mask)
    pr, re = safe_div(diag_sum, tot_pred), safe_div(diag_sum, tot_gold)
    return pr, re, safe_div((1. + beta ** 2) * pr * re, beta ** 2 * pr + re)
