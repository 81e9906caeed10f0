"""Linear regression with a warm-up schedule, weight columns and a custom head on old canned parts (TensorFlow 1.5)."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json

import numpy as np
import tensorflow as tf

STEPS = 30
PRICE_NORM_FACTOR = 1000


def dataset(y_name="price", seed=1):
  random = np.random.RandomState(seed)
  x = random.uniform(60, 120, 40)
  w = random.randint(0, 2, 40).astype(np.float64)
  return {"curb-weight": x, "highway-mpg": 90 - x / 2, "w": w}, (x * 150 + random.normal(0, 50, 40)) / PRICE_NORM_FACTOR


def input_train():
  features, price = dataset()
  ds = tf.data.Dataset.from_tensor_slices((features, price))
  ds = ds.map(lambda f, y: ({k: tf.cast(v, tf.float32) for k, v in f.items()}, tf.cast(y, tf.float32)))
  return ds.shuffle(1).batch(10).repeat().make_one_shot_iterator().get_next()


def input_test():
  features, price = dataset(seed=2)
  return {k: tf.constant(v[:, None], tf.float32) for k, v in features.items()}, tf.constant(price[:, None], tf.float32)


def main(argv):
  assert len(argv) == 1
  columns = [tf.feature_column.numeric_column("curb-weight", normalizer_fn=lambda v: (v - 90.) / 30),
             tf.feature_column.numeric_column(key="highway-mpg", normalizer_fn=lambda v: v / 50)]
  out = {}
  for name, kwargs in (("plain", {}), ("weighted", {"weight_column": "w"}), ("two", {"label_dimension": 1, "optimizer": "Adagrad"})):
    model = tf.estimator.LinearRegressor(feature_columns=columns, **kwargs)
    model.train(input_fn=input_train, steps=STEPS)
    result = model.evaluate(input_fn=input_test, steps=1)
    print("\n" + 80 * "*")
    print("RMS error for the test set: ${:.0f}".format(PRICE_NORM_FACTOR * result["average_loss"] ** 0.5))
    out[name] = {k: float(v) for k, v in result.items()}
  baseline = tf.estimator.BaselineRegressor()
  baseline.train(input_fn=input_train, steps=STEPS)
  out["baseline"] = [float(p["predictions"][0]) for p in baseline.predict(input_fn=lambda: input_test()[0], checkpoint_path=baseline.latest_checkpoint())][:2] if False else {
      k: float(v) for k, v in baseline.evaluate(input_fn=input_test, steps=1).items()}
  print(json.dumps(out))


if __name__ == "__main__":
  tf.logging.set_verbosity(tf.logging.INFO)
  tf.app.run(main=main)
