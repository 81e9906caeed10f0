"""Keras 2 in and around `model_fn`, one small model for each habit: TensorFlow 2.15.1 ran it; `lightwell run` does.

Prints one JSON object, model -> the loss after training, or the class of the error. Nothing random is in it.
"""

import json
import logging
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input, Lambda

logging.getLogger("tensorflow").setLevel(logging.ERROR)
K = tf.keras
v1 = tf.compat.v1
FOUND = {}
CONSTANT = {"kernel_initializer": K.initializers.Constant(0.1)}
X = np.random.RandomState(0).randn(8, 4).astype("float32")
Y = np.random.RandomState(1).randn(8, 1).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": X, "ids": np.arange(8) % 3}, Y)).repeat()


def minimized(optimizer, loss):
    if isinstance(optimizer, v1.train.Optimizer):
        return optimizer.minimize(loss, v1.train.get_or_create_global_step())
    optimizer.iterations = v1.train.get_or_create_global_step()
    return optimizer.get_updates(loss, v1.trainable_variables())[0]


def trained(network, make_optimizer=None, penalty=lambda: 0.0, steps=4):
    def model_fn(features, labels, mode):
        outputs = network(features, mode)
        loss = tf.reduce_mean(tf.square(outputs - labels)) + penalty()
        make = make_optimizer or (lambda: v1.train.GradientDescentOptimizer(0.1))
        train_op = minimized(make(), loss) if mode == tf.estimator.ModeKeys.TRAIN else None
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=outputs)

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn, steps=steps)
    return float(estimator.evaluate(input_fn, steps=1)["loss"])


def record(name, make):
    try:
        FOUND[name] = np.asarray(make(), "float64").round(5).tolist()
    except Exception as error:
        FOUND[name] = type(error).__name__
        logging.exception(name)


def dense(features, mode):
    return Dense(1, **CONSTANT)(features["x"])


class Cross(K.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", [input_shape.as_list()[-1], self.units], initializer="ones")
        self.bias = self.add_weight(
            name="bias", shape=(np.int64(self.units),), initializer="zeros", regularizer=K.regularizers.l2(l=0.1)
        )
        self.built = True

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel) + self.bias

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)


record("own layer", lambda: trained(lambda features, mode: Cross(np.int64(1))(features["x"])))


def functional(features, mode):
    inputs = Input((np.int64(4),), name="x")
    both = tf.concat([inputs, tf.nn.relu(inputs)], 1)
    reshaped = tf.reshape(both, [-1, 2, 4])
    hidden = Dense(3, activation="tanh", **CONSTANT)(tf.reduce_mean(reshaped, 1))
    outputs = Lambda(lambda one: tf.reduce_sum(one, -1, keepdims=True))(tf.identity(hidden))
    return K.Model(inputs, outputs)(features["x"])


record("functional", lambda: trained(functional))
for kind, arguments in {
    "SGD": {"momentum": 0.9},
    "Adam": {"learning_rate": 0.01},
    "RMSprop": {"lr": 0.01},
    "Adagrad": {},
    "Nadam": {},
    "Adamax": {"decay": 0.1},
}.items():
    record(
        f"legacy.{kind}",
        lambda k=kind, a=arguments: trained(dense, lambda: getattr(K.optimizers.legacy, k)(**a)),
    )


def recurrent(features, mode):
    layer = K.layers.LSTM(
        2, recurrent_activation="hard_sigmoid", recurrent_initializer=K.initializers.Constant(0.2), **CONSTANT
    )
    return Dense(1, **CONSTANT)(layer(tf.expand_dims(features["x"], -1)))


record("LSTM hard_sigmoid", lambda: trained(recurrent))


def in_phase(features, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    return K.backend.in_train_phase(lambda: dense(features, mode), lambda: 2.0 * dense(features, mode), training)


record("in_train_phase", lambda: trained(in_phase))


def sequential(features, mode):
    model = K.models.Sequential()
    model.add(Dense(3, input_dim=4, activation="relu", **CONSTANT))
    model.add(Dense(1, batch_input_shape=(None, 3), **CONSTANT))
    return model(features["x"])


record("Sequential", lambda: trained(sequential))


def converted(optimizer):
    inputs = Input((4,), name="x")
    model = K.Model(inputs, Dense(1, **CONSTANT)(inputs))
    model.compile(optimizer=optimizer, loss="mean_squared_error")
    estimator = K.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())
    feed = lambda: tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat()  # noqa: E731
    estimator.train(feed, steps=4)
    return float(estimator.evaluate(feed, steps=1)["loss"])


record("model_to_estimator", lambda: converted("adam"))
record("model_to_estimator legacy", lambda: converted(K.optimizers.legacy.Adam(lr=0.01)))
print(json.dumps(FOUND))
