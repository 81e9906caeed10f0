"""Old feature columns where today's are taken, and what is said where they do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightwell import tf1 as tf

layers = tf.contrib.layers
CITIES = np.array(["x", "y", "x", "z"])


def batch() -> Any:
    features = {"city": CITIES[:, None], "age": np.arange(4.0, dtype=np.float32)[:, None], "id": [[9], [1], [2], [3]]}
    return tf.data.Dataset.from_tensors((features, [[1], [0], [1], [0]]))


def test_a_canned_model_takes_them(tmp_path: Path) -> None:
    city = layers.sparse_column_with_hash_bucket("city", 10)
    age = layers.real_valued_column("age")
    ids = layers.sparse_column_with_integerized_feature("id", 5)
    wide = [city, ids, layers.crossed_column([city, layers.bucketized_column(age, [1.5])], 50)]
    model = tf.estimator.LinearClassifier(wide, model_dir=str(tmp_path))
    model.train(batch, steps=1)
    made = {name for name in model.get_variable_names() if name.endswith("/weights")}
    assert made == {f"linear/linear_model/{name}/weights" for name in ("age_bucketized_X_city", "city", "id")}


def test_their_layers_have_paths(tmp_path: Path) -> None:
    columns = [layers.real_valued_column("age"), layers.embedding_column(_hashed(), 2)]

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = layers.input_from_feature_columns(features, columns)
        return tf.estimator.EstimatorSpec(mode, {"net": net}, tf.reduce_mean(net), _step(tf.reduce_mean(net)))

    model = tf.estimator.Estimator(model_fn, str(tmp_path))
    model.train(batch, steps=1)
    row = next(model.predict(batch, taps=["layers/input_from_feature_columns"]))
    np.testing.assert_array_equal(row["layers/input_from_feature_columns"], row["net"])


def _step(loss: Any) -> Any:
    return layers.optimize_loss(loss, None, 0.1, "SGD")


def _hashed() -> Any:
    return layers.sparse_column_with_hash_bucket("city", 10)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: layers.real_valued_column("age", dimension=None), "dimension=None"),
        (lambda: layers.sparse_column_with_hash_bucket("city", 10, hash_keys=[1]), "hash_keys is not there"),
        (lambda: layers.sparse_column_with_integerized_feature("id", 1), "bucket_size must be at least 1"),
        (lambda: layers.sparse_column_with_integerized_feature("id", 5, dtype=tf.string), "must be an integer"),
        (lambda: layers.sparse_column_with_vocabulary_file("city", "file"), "vocab_size must be specified"),
        (lambda: layers.crossed_column([_hashed()] * 2, 5, ckpt_to_load_from="c"), "ckpt_to_load_from is not there"),
        (lambda: layers.check_feature_columns([_hashed(), _hashed()]), "Duplicate feature column key found"),
        (lambda: layers.input_from_feature_columns({"city": CITIES}, [_hashed()]), "is not supported in DNN"),
        (
            lambda: layers.weighted_sum_from_feature_columns({"city": CITIES}, [layers.one_hot_column(_hashed())], 1),
            "is not supported in linear models",
        ),
        (
            lambda: layers.input_from_feature_columns({"city": CITIES}, [layers.real_valued_column("age")]),
            "Feature 'age' is not in the features",
        ),
        (lambda: layers.infer_real_valued_columns({"city": CITIES}), "Non integer or non floating types"),
        (lambda: layers.one_hot_column("city"), "expected a feature column"),
        (lambda: layers.shared_embedding_columns(_hashed().name, 2), "expected a list of columns"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError), match=text):
        wrong()
