"""Iris with a custom estimator, as in the guide of TensorFlow 1.7: input_layer, metrics, summaries in model_fn."""
from __future__ import absolute_import, division, print_function

import json

import numpy as np
import tensorflow as tf


def make_data(seed):
    random = np.random.RandomState(seed)
    species = random.randint(0, 3, 60)
    features = {
        'SepalLength': (5.0 + 0.8 * species + random.normal(0, 0.2, 60)).astype(np.float32),
        'PetalLength': (1.5 + 1.9 * species + random.normal(0, 0.2, 60)).astype(np.float32),
    }
    return features, species


def input_fn(features, labels, batch_size, repeat):
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    if repeat:
        dataset = dataset.repeat()
    return dataset.batch(batch_size).make_one_shot_iterator().get_next()


def my_model(features, labels, mode, params):
    """DNN with three hidden layers, and dropout of 0.1 probability."""
    net = tf.feature_column.input_layer(features, params['feature_columns'])
    for index, units in enumerate(params['hidden_units']):
        net = tf.layers.dense(net, units=units, activation=tf.nn.relu,
                              kernel_initializer=tf.keras.initializers.Constant(0.1) if index
                              else tf.random_uniform_initializer(-0.5, 0.5, seed=4))
    logits = tf.layers.dense(net, params['n_classes'], activation=None,
                             kernel_initializer=tf.random_normal_initializer(stddev=0.3, seed=5))

    predicted_classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {
            'class_ids': predicted_classes[:, tf.newaxis],
            'probabilities': tf.nn.softmax(logits),
            'logits': logits,
        }
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.metrics.accuracy(labels=labels, predictions=predicted_classes, name='acc_op')
    metrics = {'accuracy': accuracy}
    tf.summary.scalar('accuracy', accuracy[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    assert mode == tf.estimator.ModeKeys.TRAIN
    optimizer = tf.train.AdagradOptimizer(learning_rate=0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(argv):
    train_x, train_y = make_data(1)
    test_x, test_y = make_data(2)
    my_feature_columns = [tf.feature_column.numeric_column(key=key) for key in sorted(train_x)]
    classifier = tf.estimator.Estimator(
        model_fn=my_model,
        model_dir='models/iris',
        params={'feature_columns': my_feature_columns, 'hidden_units': [10, 4], 'n_classes': 3})
    classifier.train(input_fn=lambda: input_fn(train_x, train_y, 20, True), steps=50)
    eval_result = classifier.evaluate(input_fn=lambda: input_fn(test_x, test_y, 20, False))
    predictions = classifier.predict(input_fn=lambda: input_fn(test_x, test_y, 20, False), predict_keys=['class_ids', 'probabilities'])
    rows = [next(predictions) for _ in range(2)]
    events = [e for f in tf.gfile.Glob('models/iris/events*') for e in tf.train.summary_iterator(f)]
    tags = sorted({value.tag for event in events for value in event.summary.value})
    print(json.dumps({
        'eval': {k: float(v) for k, v in eval_result.items()},
        'rows': [{'class_ids': r['class_ids'].tolist(), 'probabilities': r['probabilities'].tolist()} for r in rows],
        'tags': tags, 'latest': classifier.latest_checkpoint()}))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.WARN)
    tf.app.run(main)
