"""Canned models under a strategy: those that gradients train, by both faces; those that nothing can train together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.parity import replica_runs as runs

import lightwell as lw
from lightwell.compat.v1 import estimator as v1_estimator
from lightwell.errors import UsageError

COLUMNS = [tf.feature_column.numeric_column("x", [3])]
# A batch has one to four of these, so the sizes of sparse gradients change from step to step.
WORDS = tf.feature_column.categorical_column_with_hash_bucket("word", 50)


def classes(size: int) -> Any:
    def named(features: Any, label: Any) -> Any:
        words = tf.as_string(tf.cast(features["x"][:, :1], tf.int32))
        return features | {"id": tf.as_string(label[:, 0]), "word": words}, label > 0

    return runs.batches(size).map(named)


@pytest.mark.parametrize(
    "face",
    [pytest.param(lw.estimator, id="v2", marks=pytest.mark.slow), pytest.param(v1_estimator, id="v1")],
)
def test_replicas_train_a_classifier_as_one_device_does(face: Any, tmp_path: Path) -> None:
    """One face takes the mean over a batch, and replicas that of gradients; the other both times the sum."""
    made = []
    for count in (1, 2):
        kind = tf.keras.optimizers.SGD if face is lw.estimator else tf.compat.v1.train.GradientDescentOptimizer
        config = runs.config_of(lw, count, str(tmp_path / str(count)))
        model = face.DNNLinearCombinedClassifier(
            linear_feature_columns=[*COLUMNS, WORDS],
            dnn_feature_columns=COLUMNS,
            dnn_hidden_units=[4],
            linear_optimizer=kind(0.05),
            dnn_optimizer=kind(0.05),
            config=config,
        )
        made.append(model.train(lambda count=count: classes(8 // count), steps=3))
    alone, both = made
    for name in ("dnn/hiddenlayer_0/kernel", "dnn/logits/kernel", "linear/linear_model/word/weights"):
        ours, expected = both.get_variable_value(name), alone.get_variable_value(name)
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5, err_msg=name)
    metrics = [one.evaluate(lambda: classes(4).take(3)) for one in made]
    assert metrics[1] == pytest.approx(metrics[0], rel=1e-4)


def test_what_no_gradients_train_says_so(tmp_path: Path) -> None:
    config = runs.config_of(lw, 2, str(tmp_path))
    sdca = lw.estimator.experimental.LinearSDCA("id")
    with pytest.raises(UsageError, match=r"LinearSDCA goes over the examples .* 2 replicas of MirroredStrategy cannot"):
        lw.LinearClassifier(COLUMNS, optimizer=sdca, config=config).train(lambda: classes(4), steps=1)
    centers = v1_estimator.experimental.KMeans(2, feature_columns=COLUMNS, config=config)
    with pytest.raises(UsageError, match=r"KMeans moves its centers .* Leave train_distribute out"):
        centers.train(lambda: classes(4).map(lambda features, _: features), steps=1)
