"""Keras 2 in a program that calls `disable_v2_behavior()`: TensorFlow 2.15.1 ran it; `lightwell run` does.

Prints one JSON object, model -> the loss after training, or the class of the error. Nothing random is in it.
"""

import json
import logging
import tempfile

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_v2_behavior()
logging.getLogger("tensorflow").setLevel(logging.ERROR)
K = tf.keras
v1 = tf.compat.v1
FOUND = {}
CONSTANT = {"kernel_initializer": K.initializers.Constant(0.1)}
X = np.random.RandomState(0).randn(8, 4).astype("float32")
Y = np.random.RandomState(1).randn(8, 1).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat()


def record(name, make):
    try:
        FOUND[name] = np.asarray(make(), "float64").round(5).tolist()
    except Exception as error:
        FOUND[name] = type(error).__name__
        logging.exception(name)


def trained(estimator):
    estimator.train(input_fn, steps=4)
    found = estimator.evaluate(input_fn, steps=1)
    return float(found["loss"]), int(found["global_step"])


def converted(optimizer):
    inputs = K.layers.Input((4,), name="x")
    model = K.Model(inputs, K.layers.Dense(1, **CONSTANT)(tf.nn.tanh(inputs)))
    model.compile(optimizer=optimizer, loss="mean_squared_error")
    return trained(v1.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp()))


record("compiled by name", lambda: converted("adam"))
record("compiled", lambda: converted(K.optimizers.legacy.SGD(lr=0.1, momentum=0.9)))


def regularized(features, labels, mode):
    outputs = v1.layers.dense(features["x"], 1, kernel_regularizer=K.regularizers.l2(0.1), **CONSTANT)
    loss = v1.losses.mean_squared_error(labels, outputs) + v1.losses.get_regularization_loss()
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


record("tf.layers regularizer", lambda: trained(v1.estimator.Estimator(regularized, tempfile.mkdtemp())))


def own(features, labels, mode):
    outputs = K.layers.Dense(1, **CONSTANT)(features["x"])
    loss = v1.losses.mean_squared_error(labels, outputs)
    train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


record("Dense", lambda: trained(v1.estimator.Estimator(own, tempfile.mkdtemp())))
print(json.dumps(FOUND))
