"""A small Keras network made an Estimator in TensorFlow 2.4: functional API, metrics, an exporter, and a model_fn around Keras layers."""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def block(x, filters, stride):
    shortcut = layers.Conv2D(filters, 1, strides=stride, kernel_initializer=keras.initializers.HeNormal(seed=1), use_bias=False)(x)
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", kernel_initializer=keras.initializers.HeNormal(seed=2))(x)
    x = layers.Activation("relu")(x)
    x = layers.Conv2D(filters, 3, padding="same", kernel_initializer=keras.initializers.HeNormal(seed=3))(x)
    return layers.ReLU()(layers.Add()([x, shortcut]))


def make_model():
    inputs = keras.Input(shape=(8, 8, 3), name="image")
    x = layers.Conv2D(4, 3, padding="same", kernel_initializer=keras.initializers.HeNormal(seed=4))(inputs)
    x = block(x, 4, 1)
    x = block(x, 6, 2)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(3, activation="softmax", kernel_initializer=keras.initializers.GlorotUniform(seed=5), name="probabilities")(x)
    model = keras.Model(inputs, outputs, name="tiny_resnet")
    model.compile(optimizer=tf.compat.v1.train.MomentumOptimizer(0.05, 0.9), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def model_fn(features, labels, mode, params):
    net = keras.Sequential([layers.Flatten(), layers.Dense(8, activation="relu", kernel_initializer=keras.initializers.GlorotUniform(seed=6)), layers.Dense(3, kernel_initializer=keras.initializers.GlorotUniform(seed=7))])
    logits = net(features["image"], training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, 1))})
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_or_create_global_step(), var_list=net.trainable_variables)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat=1):
    rng = np.random.RandomState(1)
    y = np.arange(24) % 3
    x = rng.rand(24, 8, 8, 3).astype(np.float32)
    x[np.arange(24), :, :, y] += 0.5
    return tf.data.Dataset.from_tensor_slices(({"image": x}, y.astype(np.int64))).repeat(repeat).batch(6)


def main(root):
    estimator = keras.estimator.model_to_estimator(keras_model=make_model(), model_dir=os.path.join(root, "keras"), config=tf.estimator.RunConfig(save_checkpoints_steps=8))
    estimator.train(lambda: input_fn(4))
    scores = estimator.evaluate(input_fn)
    first = next(estimator.predict(input_fn))["probabilities"]
    own = tf.estimator.Estimator(model_fn, os.path.join(root, "own"), params={"rate": 0.05})
    own.train(lambda: input_fn(4))
    other = own.evaluate(input_fn)
    print(json.dumps({"scores": {k: float(v) for k, v in scores.items()}, "first": first.tolist(), "own": {k: float(v) for k, v in other.items()}}))


if __name__ == "__main__":
    main(sys.argv[1])
