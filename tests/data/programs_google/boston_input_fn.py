"""Housing prices with pandas_input_fn, as in Building Input Functions with tf.estimator (TensorFlow 1.4)."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import itertools
import json

import numpy as np
import pandas as pd
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)

COLUMNS = ["crim", "zn", "indus", "nox", "rm", "age", "dis", "tax", "ptratio", "medv"]
FEATURES = ["crim", "zn", "indus", "nox", "rm", "age", "dis", "tax", "ptratio"]
LABEL = "medv"


def write(path, seed, number):
  random = np.random.RandomState(seed)
  table = random.uniform(0, 1, (number, 9))
  medv = table.dot(np.arange(9) - 3.0) + 10
  with open(path, "w") as out:
    out.write("%d,9,%s\n" % (number, ",".join(FEATURES)))
    for row, value in zip(table, medv):
      out.write(" , ".join("%.4f" % v for v in row) + ", %.3f\n" % value)


def get_input_fn(data_set, num_epochs=None, shuffle=True):
  return tf.estimator.inputs.pandas_input_fn(
      x=pd.DataFrame({k: data_set[k].values for k in FEATURES}),
      y=pd.Series(data_set[LABEL].values),
      batch_size=16,
      num_epochs=num_epochs,
      shuffle=shuffle)


def main(unused_argv):
  write("boston_train.csv", 1, 64)
  write("boston_test.csv", 2, 32)
  write("boston_predict.csv", 3, 6)
  training_set = pd.read_csv("boston_train.csv", skipinitialspace=True, skiprows=1, names=COLUMNS)
  test_set = pd.read_csv("boston_test.csv", skipinitialspace=True, skiprows=1, names=COLUMNS)
  prediction_set = pd.read_csv("boston_predict.csv", skipinitialspace=True, skiprows=1, names=COLUMNS)

  feature_cols = [tf.feature_column.numeric_column(k) for k in FEATURES]
  regressor = tf.estimator.DNNRegressor(feature_columns=feature_cols, hidden_units=[10, 10], model_dir="boston_model")
  regressor.train(input_fn=get_input_fn(training_set), steps=20)
  ev = regressor.evaluate(input_fn=get_input_fn(test_set, num_epochs=1, shuffle=False))
  print("Loss: {0:f}".format(ev["loss"]))
  y = regressor.predict(input_fn=get_input_fn(prediction_set, num_epochs=1, shuffle=False))
  predictions = list(p["predictions"] for p in itertools.islice(y, 6))
  print("Predictions: {}".format(str(predictions)))

  linear = tf.estimator.LinearRegressor(
      feature_columns=feature_cols, model_dir="boston_linear", optimizer=tf.train.FtrlOptimizer(0.3, l1_regularization_strength=0.001))
  linear.train(input_fn=get_input_fn(training_set, shuffle=False), steps=40)
  linear_ev = linear.evaluate(input_fn=get_input_fn(test_set, num_epochs=1, shuffle=False), name="test")
  rows = [p["predictions"].tolist() for p in linear.predict(input_fn=get_input_fn(prediction_set, num_epochs=1, shuffle=False))]
  print(json.dumps({
      "dnn": [sorted(ev), [list(p.shape) for p in predictions], sorted(regressor.get_variable_names())],
      "linear": {k: float(v) for k, v in linear_ev.items()}, "rows": rows,
      "weight": linear.get_variable_value("linear/linear_model/tax/weights").tolist()}))


if __name__ == "__main__":
  tf.app.run()
