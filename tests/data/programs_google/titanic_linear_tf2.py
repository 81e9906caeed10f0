"""Build a linear model with Estimators, the tutorial of TensorFlow 2.4: titanic, crosses, ROC curve."""
import json

import numpy as np
import pandas as pd
import tensorflow.compat.v2.feature_column as fc
import tensorflow as tf
from sklearn.metrics import roc_auc_score, roc_curve


def load(seed, number):
    random = np.random.RandomState(seed)
    frame = pd.DataFrame({
        'sex': random.choice(['male', 'female'], number), 'n_siblings_spouses': random.randint(0, 4, number),
        'parch': random.randint(0, 3, number), 'class': random.choice(['First', 'Second', 'Third'], number),
        'deck': random.choice(['A', 'B', 'C', 'unknown'], number), 'embark_town': random.choice(['Cherbourg', 'Southampton'], number),
        'alone': random.choice(['y', 'n'], number), 'age': random.randint(1, 75, number).astype('float64'),
        'fare': random.uniform(5, 90, number).round(2)})
    chance = 0.2 + 0.5 * (frame['sex'] == 'female') + 0.2 * (frame['class'] == 'First')
    frame['survived'] = (random.uniform(0, 1, number) < chance).astype(int)
    return frame


dftrain, dfeval = load(1, 200), load(2, 80)
y_train, y_eval = dftrain.pop('survived'), dfeval.pop('survived')
CATEGORICAL_COLUMNS = ['sex', 'n_siblings_spouses', 'parch', 'class', 'deck', 'embark_town', 'alone']
NUMERIC_COLUMNS = ['age', 'fare']

feature_columns = []
for feature_name in CATEGORICAL_COLUMNS:
    vocabulary = sorted(dftrain[feature_name].unique())
    feature_columns.append(tf.feature_column.categorical_column_with_vocabulary_list(feature_name, vocabulary))
for feature_name in NUMERIC_COLUMNS:
    feature_columns.append(tf.feature_column.numeric_column(feature_name, dtype=tf.float32))


def make_input_fn(data_df, label_df, num_epochs=10, shuffle=True, batch_size=32):
    def input_function():
        ds = tf.data.Dataset.from_tensor_slices((dict(data_df), label_df))
        if shuffle:
            ds = ds.shuffle(1000, seed=3, reshuffle_each_iteration=False)
        ds = ds.batch(batch_size).repeat(num_epochs)
        return ds
    return input_function


train_input_fn = make_input_fn(dftrain, y_train, shuffle=False, num_epochs=5)
eval_input_fn = make_input_fn(dfeval, y_eval, num_epochs=1, shuffle=False)
ds = make_input_fn(dftrain, y_train, batch_size=10, shuffle=False)()
for feature_batch, label_batch in ds.take(1):
    print('Some feature keys:', list(feature_batch.keys()))
    print('A batch of class:', feature_batch['class'].numpy())
    age_column = feature_columns[7]
    labels = label_batch.numpy().tolist()

linear_est = tf.estimator.LinearClassifier(feature_columns=feature_columns)
linear_est.train(train_input_fn)
result = linear_est.evaluate(eval_input_fn)

age_x_gender = tf.feature_column.crossed_column(['age', 'sex'], hash_bucket_size=100) if False else fc.crossed_column(
    [fc.bucketized_column(fc.numeric_column('age'), [10, 20, 40, 60]), 'sex'], hash_bucket_size=100)
derived_feature_columns = [age_x_gender]
linear_est = tf.estimator.LinearClassifier(feature_columns=feature_columns + derived_feature_columns)
linear_est.train(train_input_fn)
crossed = linear_est.evaluate(eval_input_fn)
pred_dicts = list(linear_est.predict(eval_input_fn))
probs = pd.Series([pred['probabilities'][1] for pred in pred_dicts])
fpr, tpr, _ = roc_curve(y_eval, probs)
print(json.dumps({
    'labels': labels, 'result': {k: float(v) for k, v in result.items()}, 'crossed': {k: float(v) for k, v in crossed.items()},
    'probs': [float(p) for p in probs[:5]], 'auc': float(roc_auc_score(y_eval, probs)), 'all': sorted(pred_dicts[0]),
    'names': sorted(linear_est.get_variable_names())}))
