"""`tf.contrib.losses.metric_learning`: losses of embeddings and their gradients as TensorFlow 1.15.5 had them."""

from __future__ import annotations

import pytest
from tests.compat.contrib import metric_learning_cases, same

from lightwell import tf1
from lightwell.compat.tf1.contrib import import_below

RECORDED = same.recorded("metric_learning")["cases"]


@pytest.mark.parametrize("name", sorted(metric_learning_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(metric_learning_cases.CASES[name], tf1.contrib), RECORDED[name], name)


def test_the_loss_that_is_not_offered_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"cluster_loss is not offered.*Use triplet_semihard_loss"):
        _ = tf1.contrib.losses.metric_learning.cluster_loss
    with pytest.raises(ValueError, match="must be a list of SparseTensors"):
        tf1.contrib.losses.metric_learning.npairs_loss_multilabel([1], [[1.0]], [[1.0]])
    module = import_below("losses", ["python", "metric_learning"], ["metric_loss_ops"])
    assert module is not None
