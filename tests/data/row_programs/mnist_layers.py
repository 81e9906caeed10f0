"""Pictures of digits, a convolutional network of tf.layers, and a hook that logs probabilities."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def cnn_model_fn(features, labels, mode):
    input_layer = tf.reshape(features["x"], [-1, 12, 12, 1])
    conv1 = tf.layers.conv2d(inputs=input_layer, filters=4, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
    pool1 = tf.layers.max_pooling2d(inputs=conv1, pool_size=[2, 2], strides=2)
    flat = tf.reshape(pool1, [-1, 6 * 6 * 4])
    dense = tf.layers.dense(inputs=flat, units=16, activation=tf.nn.relu)
    dropout = tf.layers.dropout(inputs=dense, rate=0.1, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(inputs=dropout, units=2)
    predictions = {
        "classes": tf.argmax(input=logits, axis=1),
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
        train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
    eval_metric_ops = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


def main(argv):
    random = np.random.RandomState(0)
    train_labels = np.asarray(random.randint(0, 2, 400), dtype=np.int32)
    pictures = random.rand(400, 12, 12) * 0.2
    pictures[train_labels == 1, :6] += 0.8
    train_data = pictures.reshape(400, 144).astype(np.float32)
    mnist_classifier = tf.estimator.Estimator(model_fn=cnn_model_fn, model_dir=argv[1])
    logging_hook = tf.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=50)
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": train_data}, y=train_labels, batch_size=100, num_epochs=None, shuffle=True
    )
    mnist_classifier.train(input_fn=train_input_fn, steps=60, hooks=[logging_hook])
    eval_input_fn = tf.estimator.inputs.numpy_input_fn(x={"x": train_data}, y=train_labels, num_epochs=1, shuffle=False)
    eval_results = mnist_classifier.evaluate(input_fn=eval_input_fn)
    classes = [int(row["classes"]) for row in mnist_classifier.predict(eval_input_fn)]
    agreed = float(np.mean(np.array(classes) == train_labels))
    print(
        json.dumps(
            {
                "global_step": int(eval_results["global_step"]),
                "accurate": bool(eval_results["accuracy"] > 0.9),
                "predicted as evaluated": bool(abs(agreed - eval_results["accuracy"]) < 1e-6),
            }
        )
    )


if __name__ == "__main__":
    tf.app.run()
