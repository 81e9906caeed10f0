"""What each column contributes to a prediction: the changes of the prediction along the way through the trees."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.estimator.canned.trees.columns import TreeColumn
from lightwell.estimator.canned.trees.ensemble import TreeEnsemble
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.regression import LogisticRegressionHead, PoissonRegressionHead, RegressionHead
from lightwell.model.heads.v1_heads import AdaptedHead

Array = np.ndarray[Any, Any]
_ONLY = "is supported for experimental_predict_with_explanations"


def prediction_of_logits(head: Any, where: str) -> Callable[[Array], Array]:
    """The function from logits to what is explained: the probability of class 1, or the number itself.

    Raises:
        UsageError: the head has several logits, or another link.
    """
    own = head._head if isinstance(head, AdaptedHead) else head
    if isinstance(own, BinaryClassHead):
        return _sigmoid
    if own.logits_dimension != 1 or not isinstance(own, RegressionHead):
        raise UsageError(
            f"{where}: For now only two classes, or a regression of one number, {_ONLY}; the head is {own!r}."
        )
    linked = isinstance(own, PoissonRegressionHead | LogisticRegressionHead)
    if linked or getattr(own, "_inverse_link_fn", None) is not None:
        raise UsageError(f"{where}: For now only identity inverse_link_fn in regression_head {_ONLY}.")
    return _as_it_is


def explained(
    row: dict[str, Any],
    buckets: Sequence[int],
    trees: TreeEnsemble,
    columns: Sequence[TreeColumn],
    to_prediction: Callable[[Array], Array],
) -> dict[str, Any]:
    """A row of predictions with `bias` and `dfc`.

    Args:
        row: the row.
        buckets: the bucket of the example for each feature.
        trees: the trees.
        columns: the column of each feature.
        to_prediction: the function from logits to what is explained.
    """
    asked, logits = _way(buckets, trees)
    values = to_prediction(np.asarray(logits, np.float32).astype(np.float64))
    changes = dict.fromkeys((column.label for column in columns), 0.0)
    for feature, before, after in zip(asked, values, values[1:], strict=False):
        changes[columns[feature].label] += float(after - before)
    ordered = OrderedDict(sorted(changes.items(), key=lambda one: -abs(one[1])))
    return {**row, "bias": float(values[0]), "dfc": ordered}


def _way(buckets: Sequence[int], trees: TreeEnsemble) -> tuple[list[int], list[float]]:
    """The features that an example is asked for, and the logits before the first and after each."""
    asked: list[int] = []
    logits = [trees[0].nodes[0].value[0] if trees else 0.0]
    of_trees_before = 0.0
    for tree in trees:
        way = tree.way(buckets)
        for node, following in itertools.pairwise(way):
            asked.append(node.split.feature if node.split is not None else 0)
            logits.append(of_trees_before + tree.weight * following.value[0])
        of_trees_before += tree.weight * way[-1].value[0]
    return asked, logits


def _sigmoid(logits: Array) -> Array:
    value: Array = 1 / (1 + np.exp(-logits))
    return value


def _as_it_is(logits: Array) -> Array:
    return logits
