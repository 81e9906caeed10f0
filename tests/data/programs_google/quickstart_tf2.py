"""Premade estimators, the tutorial of TensorFlow 2.3: DNNClassifier on frames, datasets in input functions."""
import json
import os

import numpy as np
import pandas as pd
import tensorflow as tf

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'
CSV_COLUMN_NAMES = ['SepalLength', 'SepalWidth', 'PetalLength', 'PetalWidth', 'Species']
SPECIES = ['Setosa', 'Versicolor', 'Virginica']


def frame(seed):
    random = np.random.RandomState(seed)
    kind = np.repeat([0, 1, 2], 20)
    table = np.array([5.0, 3.0, 1.5, 0.3]) + kind[:, None] * np.array([0.8, -0.1, 1.9, 0.8]) + random.normal(0, 0.1, (60, 4))
    return pd.DataFrame(np.column_stack([table, kind]), columns=CSV_COLUMN_NAMES).astype({'Species': int})


train, test = frame(1), frame(2)
train_y, test_y = train.pop('Species'), test.pop('Species')


def input_fn(features, labels, training=True, batch_size=256):
    """An input function for training or evaluating"""
    dataset = tf.data.Dataset.from_tensor_slices((dict(features), labels))
    if training:
        dataset = dataset.shuffle(1000).repeat()
    return dataset.batch(batch_size)


my_feature_columns = []
for key in train.keys():
    my_feature_columns.append(tf.feature_column.numeric_column(key=key))

classifier = tf.estimator.DNNClassifier(
    feature_columns=my_feature_columns, hidden_units=[30, 10], n_classes=3,
    optimizer=tf.keras.optimizers.legacy.Adam(0.02) if hasattr(tf.keras.optimizers, 'legacy') else 'Adam')
classifier.train(input_fn=lambda: input_fn(train, train_y, training=True), steps=120)
eval_result = classifier.evaluate(input_fn=lambda: input_fn(test, test_y, training=False))
print('\nTest set accuracy: {accuracy:0.3f}\n'.format(**eval_result))

expected = ['Setosa', 'Versicolor', 'Virginica']
predict_x = {
    'SepalLength': [5.0, 5.8, 6.6], 'SepalWidth': [3.0, 2.9, 2.8], 'PetalLength': [1.5, 3.4, 5.3], 'PetalWidth': [0.3, 1.1, 1.9],
}


def predict_input_fn(features, batch_size=256):
    return tf.data.Dataset.from_tensor_slices(dict(features)).batch(batch_size)


predictions = classifier.predict(input_fn=lambda: predict_input_fn(predict_x))
found = []
for pred_dict, expec in zip(predictions, expected):
    class_id = pred_dict['class_ids'][0]
    found.append(SPECIES[class_id])
    print('Prediction is "{}" ({:.1f}%), expected "{}"'.format(SPECIES[class_id], 100 * pred_dict['probabilities'][class_id], expec))
print(json.dumps({'found': found, 'good': bool(eval_result['accuracy'] > 0.9), 'metrics': sorted(eval_result), 'keys': sorted(pred_dict),
                  'names': [n for n in classifier.get_variable_names() if 'training' not in n and 'Adam' not in n]}))
