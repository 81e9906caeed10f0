"""Warm starting: a vocabulary that grew, chosen variables, names that changed (TensorFlow 1.15 guide style)."""
import json

import numpy as np
import tensorflow as tf

with open('old_vocab.txt', 'w') as out:
    out.write('\n'.join(['red', 'green', 'blue']))
with open('new_vocab.txt', 'w') as out:
    out.write('\n'.join(['yellow', 'blue', 'green', 'red', 'black']))


def input_fn(shades):
    def fn():
        random = np.random.RandomState(5)
        words = [shades[i] for i in random.randint(0, len(shades), 40)]
        size = random.uniform(-1, 1, 40).astype('float32')
        labels = [int(w in ('red', 'black')) for w in words]
        return tf.compat.v1.data.make_one_shot_iterator(
            tf.data.Dataset.from_tensor_slices(({'colour': words, 'size': size}, labels)).batch(10).repeat(3)).get_next()
    return fn


def columns(vocab, number):
    colour = tf.feature_column.categorical_column_with_vocabulary_file('colour', vocab, vocabulary_size=number, num_oov_buckets=0)
    return [colour, tf.feature_column.numeric_column('size')]


old = tf.estimator.LinearClassifier(columns('old_vocab.txt', 3), model_dir='old_model', optimizer='SGD')
old.train(input_fn(['red', 'green', 'blue']))
info = tf.estimator.VocabInfo(
    new_vocab='new_vocab.txt', new_vocab_size=5, num_oov_buckets=0, old_vocab='old_vocab.txt', old_vocab_size=3,
    backup_initializer=tf.ones_initializer())
ws = tf.estimator.WarmStartSettings(
    ckpt_to_initialize_from='old_model', vars_to_warm_start='.*',
    var_name_to_vocab_info={'linear/linear_model/colour/weights': info})
new = tf.estimator.LinearClassifier(columns('new_vocab.txt', 5), model_dir='new_model', warm_start_from=ws, optimizer='SGD')
new.train(input_fn(['red', 'black', 'yellow']), steps=1)


def model_fn(features, labels, mode, params):
    x = tf.reshape(features['size'], [-1, 1])
    with tf.variable_scope(params['scope']):
        h = tf.layers.dense(x, 3, tf.nn.tanh, kernel_initializer=tf.ones_initializer(), name='body')
    logits = tf.layers.dense(h, 2, kernel_initializer=tf.ones_initializer(), name='top')
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_global_step()))


first = tf.estimator.Estimator(model_fn, 'first_model', params={'scope': 'one'})
first.train(input_fn(['red', 'green']))
settings = tf.estimator.WarmStartSettings('first_model', vars_to_warm_start='two/.*', var_name_to_prev_var_name={
    'two/body/kernel': 'one/body/kernel', 'two/body/bias': 'one/body/bias'})
second = tf.estimator.Estimator(model_fn, 'second_model', params={'scope': 'two'}, warm_start_from=settings)
second.train(input_fn(['red', 'green']), steps=1)
print(json.dumps({
    'old': old.get_variable_value('linear/linear_model/colour/weights').tolist(),
    'new': new.get_variable_value('linear/linear_model/colour/weights').tolist(),
    'size': new.get_variable_value('linear/linear_model/size/weights').tolist(),
    'second': [second.get_variable_value(n).tolist() for n in ('two/body/kernel', 'top/kernel', 'two/body/kernel/Adam')],
    'step': int(second.get_variable_value('global_step')), 'names': sorted(second.get_variable_names())}))
