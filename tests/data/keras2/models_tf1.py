"""Keras of TensorFlow 1 in `model_fn`, one small model for each habit: 1.15.5 ran it, and `lightwell run` does.

Prints one JSON object, model -> the loss after training, or the class of the error. Nothing random is in it.
"""

import json
import logging
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.keras import layers as contrib_layers
from tensorflow.python.keras import backend as private_backend
from tensorflow.python.keras.layers import Dense as PrivateDense
from tensorflow.python.keras.layers import Layer as PrivateLayer
from tensorflow.python.keras.models import Sequential as PrivateSequential
from tensorflow.python.keras.regularizers import l2

tf.logging.set_verbosity(tf.logging.ERROR)
K = tf.keras
B = tf.keras.backend
FOUND = {}
CONSTANT = {"kernel_initializer": tf.constant_initializer(0.1)}
RECURRENT = dict(CONSTANT, recurrent_initializer=K.initializers.Constant(0.2))
X = np.random.RandomState(0).randn(8, 4).astype("float32")
Y = np.random.RandomState(1).randn(8, 1).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat()


def trained(network, penalty=lambda: 0.0, make_optimizer=None):
    def model_fn(features, labels, mode):
        outputs = network(features["x"], mode)
        loss = tf.losses.mean_squared_error(labels, outputs) + penalty()
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(0.1) if make_optimizer is None else make_optimizer()
        if make_optimizer is None:
            train_op = optimizer.minimize(loss, step)
        else:
            train_op = tf.group(*optimizer.get_updates(loss, tf.trainable_variables()), tf.assign_add(step, 1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=outputs)

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn, steps=4)
    return float(estimator.evaluate(input_fn, steps=1)["loss"])


def record(name, make):
    try:
        FOUND[name] = np.asarray(make(), "float64").round(5).tolist()
    except Exception as error:
        FOUND[name] = type(error).__name__
        logging.exception(name)


def ending(network):
    return lambda x, mode: K.layers.Dense(1, **CONSTANT)(network(x))


record("apply", lambda: trained(lambda x, mode: K.layers.Dense(np.int64(1), **CONSTANT).apply(x)))
record("contrib.keras", lambda: trained(ending(lambda x: contrib_layers.Dense(3, activation="relu", **CONSTANT)(x))))
record("tf.contrib.keras", lambda: trained(lambda x, mode: tf.contrib.keras.layers.Dense(1, **CONSTANT)(x)))
record("private Dense", lambda: trained(lambda x, mode: PrivateDense(1, **CONSTANT)(x)))
record("LSTM", lambda: trained(ending(lambda x: K.layers.LSTM(2, **RECURRENT)(tf.expand_dims(x, -1)))))
record("GRU", lambda: trained(ending(lambda x: K.layers.GRU(2, **RECURRENT)(tf.expand_dims(x, -1)))))
record(
    "LSTMCell",
    lambda: trained(ending(lambda x: K.layers.RNN(K.layers.LSTMCell(2, **RECURRENT))(tf.expand_dims(x, -1)))),
)


class Cross(K.layers.Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", [input_shape[-1].value, 1], initializer="ones")
        self.bias = self.add_variable("bias", shape=[1], initializer=tf.zeros_initializer(), dtype=tf.float32)
        super().build(input_shape)

    def call(self, inputs):
        return B.dot(inputs, self.kernel) + self.bias


record("own layer", lambda: trained(lambda x, mode: Cross()(x)))


class PrivateCross(PrivateLayer):
    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel", shape=(int(input_shape[-1]), 1), initializer="ones", regularizer=l2(0.1)
        )
        super().build(input_shape)

    def call(self, inputs):
        return private_backend.dot(inputs, self.kernel)


record("private layer", lambda: trained(lambda x, mode: PrivateCross()(x)))
record(
    "tf.layers regularizer",
    lambda: trained(
        lambda x, mode: tf.layers.dense(x, 1, kernel_regularizer=K.regularizers.l2(l=0.1), **CONSTANT),
        tf.losses.get_regularization_loss,
    ),
)


def sequential(x, mode):
    model = PrivateSequential()
    model.add(PrivateDense(3, input_shape=(4,), activation="tanh", **CONSTANT))
    model.add(PrivateDense(1, **CONSTANT))
    return model(x)


record("private Sequential", lambda: trained(sequential))


def functional(x, mode):
    inputs = K.layers.Input(shape=(4,))
    both = tf.concat([inputs, tf.nn.relu(inputs)], 1)
    hidden = K.layers.Dense(3, activation=tf.nn.tanh, **CONSTANT)(tf.reshape(both, [-1, both.get_shape()[1]]))
    return K.models.Model(inputs=inputs, outputs=K.layers.Dense(1, **CONSTANT)(hidden))(x)


record("functional", lambda: trained(functional))
record(
    "cosine_proximity",
    lambda: trained(
        lambda x, mode: B.expand_dims(K.losses.cosine_proximity(x, x * x), -1) * K.layers.Dense(1, **CONSTANT)(x)
    ),
)
record(
    "cosine_similarity",
    lambda: trained(
        lambda x, mode: B.expand_dims(K.losses.cosine_similarity(x, x * x), -1) * K.layers.Dense(1, **CONSTANT)(x)
    ),
)
for kind, arguments in (
    ("SGD", {"lr": 0.1, "decay": 0.1, "momentum": 0.9}),
    ("Adam", {"lr": 0.01, "decay": 0.1}),
    ("RMSprop", {"lr": 0.01, "epsilon": None}),
    ("Adagrad", {"lr": 0.1}),
    ("Adadelta", {"lr": 1.0, "rho": 0.95}),
    ("Nadam", {"lr": 0.01}),
):
    record(
        "optimizers." + kind,
        lambda k=kind, a=arguments: trained(
            lambda x, mode: K.layers.Dense(1, **CONSTANT)(x), make_optimizer=lambda: getattr(K.optimizers, k)(**a)
        ),
    )
print(json.dumps(FOUND))
