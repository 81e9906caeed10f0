"""TensorFlow 1 spelling: the convolutional network of the old layers tutorial, on images made here."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.WARN)


def cnn_model_fn(features, labels, mode):
    """Model function for CNN."""
    # Input Layer
    input_layer = tf.reshape(features["x"], [-1, 28, 28, 1])

    # Convolutional Layer #1 and Pooling Layer #1
    conv1 = tf.layers.conv2d(
        inputs=input_layer,
        filters=32,
        kernel_size=[5, 5],
        padding="same",
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
    )
    pool1 = tf.layers.max_pooling2d(inputs=conv1, pool_size=[2, 2], strides=2)

    # Convolutional Layer #2 and Pooling Layer #2
    conv2 = tf.layers.conv2d(
        inputs=pool1,
        filters=64,
        kernel_size=[5, 5],
        padding="same",
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=2),
    )
    pool2 = tf.layers.max_pooling2d(inputs=conv2, pool_size=[2, 2], strides=2)

    # Dense Layer
    pool2_flat = tf.reshape(pool2, [-1, 7 * 7 * 64])
    dense = tf.layers.dense(
        inputs=pool2_flat,
        units=1024,
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=3),
    )
    dropout = tf.layers.dropout(inputs=dense, rate=0.4, seed=4, training=mode == tf.estimator.ModeKeys.TRAIN)

    # Logits Layer
    logits = tf.layers.dense(
        inputs=dropout, units=10, kernel_initializer=tf.glorot_uniform_initializer(seed=5)
    )

    predictions = {
        "classes": tf.argmax(input=logits, axis=1),
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)

    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(learning_rate=0.001)
        train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)

    eval_metric_ops = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


def images(count):
    """Each class has two bright rows and columns at a place of its own."""
    random = np.random.RandomState(0)
    labels = np.arange(count, dtype=np.int32) % 10
    pictures = random.uniform(0, 0.3, [count, 28, 28]).astype(np.float32)
    for picture, label in zip(pictures, labels):
        picture[2 * label + 2 : 2 * label + 5] += 0.7
        picture[:, 2 * label + 4 : 2 * label + 6] += 0.7
    return pictures.reshape(count, 784), labels


def input_fn(count, repeat):
    features, labels = images(count)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": features}, labels)).batch(8)
    return dataset.repeat() if repeat else dataset


def main():
    config = tf.estimator.RunConfig(tf_random_seed=1)
    classifier = tf.estimator.Estimator(cnn_model_fn, model_dir=sys.argv[1], config=config)
    logging_hook = tf.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=50)
    classifier.train(lambda: input_fn(40, True), steps=1)
    first = classifier.evaluate(lambda: input_fn(40, False))
    classifier.train(lambda: input_fn(40, True), steps=9, hooks=[logging_hook])
    last = classifier.evaluate(lambda: input_fn(40, False))
    probabilities = [row["probabilities"] for row in classifier.predict(lambda: input_fn(8, False))]
    print(
        json.dumps(
            {
                "first": {key: float(value) for key, value in first.items()},
                "last": {key: float(value) for key, value in last.items()},
                "probabilities": [list(np.shape(probabilities)), float(np.sum(probabilities))],
            }
        )
    )


if __name__ == "__main__":
    main()
