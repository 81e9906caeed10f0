"""Several tasks over one text: heads of tf.contrib.estimator, multi_head, columns with a shared embedding (TF 1.12)."""
import json
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib.estimator import multi_head, multi_label_head, regression_head, binary_classification_head
from tensorflow.contrib import estimator as contrib_estimator

feature_column = tf.feature_column
VOCAB = ['good', 'bad', 'film', 'book', 'long', 'short']


def make_columns():
    title = feature_column.categorical_column_with_vocabulary_list('title', VOCAB, num_oov_buckets=1)
    body = feature_column.categorical_column_with_vocabulary_list('body', VOCAB, num_oov_buckets=1)
    shared = feature_column.shared_embedding_columns([title, body], 4, combiner='sqrtn', initializer=tf.random_uniform_initializer(-1, 1, seed=2))
    length = feature_column.bucketized_column(feature_column.numeric_column('length'), [2., 4.])
    kind = feature_column.indicator_column(feature_column.crossed_column(['kind', length], 5))
    weighted = feature_column.embedding_column(feature_column.weighted_categorical_column(feature_column.categorical_column_with_identity('tags', 4), 'tag_weights'), 2, initializer=tf.constant_initializer([[.1, .2], [.3, .4], [.5, .6], [.7, .8]]))
    return shared + [kind, weighted]


def model_fn(features, labels, mode, params, config):
    head = multi_head([
        binary_classification_head(name='sentiment', thresholds=[.3]),
        multi_label_head(n_classes=3, name='topics', loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE),
        regression_head(name='score', label_dimension=1, weight_column='w')], head_weights=[1., .5, .1])
    net = feature_column.input_layer(features, params['columns'], cols_to_vars=None)
    net = tf.layers.dense(net, 6, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=7))
    logits = {name: tf.layers.dense(net, n, kernel_initializer=tf.glorot_uniform_initializer(seed=n), name=name) for name, n in (('sentiment', 1), ('topics', 3), ('score', 1))}
    optimizer = tf.train.ProximalAdagradOptimizer(.05, l2_regularization_strength=.001)
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(optimizer, 2.)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer) if mode != 'train' else head.create_estimator_spec(
        features, mode, logits, labels, train_op_fn=lambda loss: optimizer.minimize(loss, global_step=tf.train.get_global_step()))


def input_fn(repeat=1):
    rng = np.random.RandomState(4)
    n = 20
    title = np.array([[VOCAB[i] for i in row] for row in rng.randint(0, 6, [n, 2])])
    body = np.array([[(VOCAB + ['odd', ''])[i] for i in row] for row in rng.randint(0, 8, [n, 4])])
    f = {'title': title, 'body': body, 'length': rng.rand(n).astype('f4') * 6, 'kind': np.array(['a', 'b'])[rng.randint(0, 2, n)], 'w': rng.rand(n, 1).astype('f4'),
         'tags': rng.randint(0, 4, [n, 2]), 'tag_weights': rng.rand(n, 2).astype('f4')}
    y = {'sentiment': (title == 'good').any(1, keepdims=True).astype('i4'), 'topics': rng.randint(0, 2, [n, 3]), 'score': f['length'][:, None] / 3}
    return tf.data.Dataset.from_tensor_slices((f, y)).repeat(repeat).batch(5)


def extra(features, labels, predictions):
    assert isinstance(predictions, dict)
    return {'sentiment_mae': tf.metrics.mean_absolute_error(tf.to_float(labels['sentiment']), predictions[('sentiment', 'logistic')])}


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.ERROR)
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={'columns': make_columns()})
    est = contrib_estimator.add_metrics(est, extra)
    est.train(lambda: input_fn(6))
    result = est.evaluate(input_fn)
    p = next(est.predict(input_fn))
    spec = tf.feature_column.make_parse_example_spec(make_columns())
    where = est.export_savedmodel(sys.argv[1] + '/export', tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    names = sorted(tf.contrib.predictor.from_saved_model(where, signature_def_key='predict').fetch_tensors)
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'p': {'/'.join(k): np.asarray(v).tolist() for k, v in p.items() if k[1] in ('logits', 'predictions')}, 'spec': sorted(spec), 'names': names}))
