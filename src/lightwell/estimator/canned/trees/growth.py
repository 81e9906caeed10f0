"""How trees grow: NumPy functions from the trees and the sums of derivatives to the trees with one more layer.

The best split of a node lowers the loss most, by its second-order approximation: a node with the sums `g` and `h` of
first and second derivatives takes the value `-g / (h + l2)`, which gains `g * g / (h + l2)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.estimator.canned.trees.columns import EQUAL, FeatureGroup
from lightwell.estimator.canned.trees.settings import TreeSettings

Array = np.ndarray[Any, Any]
_LEFT, _RIGHT = 0, 1  # where an example without a bucket goes
_SETTLED = 0.01  # the share of its change at which the bias is found


@dataclass(frozen=True)
class Candidate:
    """The best split of a node by one group of features."""

    gain: float
    feature: int
    bucket: int
    is_category: bool
    direction: int
    left: Array
    right: Array


def sums_by_bucket(group: FeatureGroup, most_splits: int, buckets: Array, nodes: Array, derivatives: Array) -> Array:
    """The sums of derivatives, `[features, nodes, buckets + 1, derivatives]`; the last bucket is that of examples
    without one.

    Args:
        group: the features.
        most_splits: how many nodes of a tree may split.
        buckets: `[batch, all features]`.
        nodes: the leaf of each example in the tree that grows.
        derivatives: first and second ones, `[batch, derivatives]`, float32.
    """
    sums = np.zeros((len(group.ids), most_splits, group.buckets + 1, derivatives.shape[1]), np.float32)
    splits = nodes < most_splits
    for place, feature in enumerate(group.ids):
        bucket = buckets[:, feature]
        bucket = np.where((bucket < 0) | (bucket >= group.buckets), group.buckets, bucket)
        np.add.at(sums[place], (nodes[splits], bucket[splits]), derivatives[splits])
    return sums


def best_splits(
    groups: Sequence[FeatureGroup], sums: Sequence[Array], nodes: range, settings: TreeSettings, logits: int
) -> dict[int, Candidate]:
    """The best split of each node that may split; of equal ones, the first.

    Args:
        groups: the features.
        sums: for each group, the sums by bucket, of one batch or the mean of several.
        nodes: the nodes of the newest layer.
        settings: how trees grow.
        logits: how many logits an example has.
    """
    found: dict[int, Candidate] = {}
    for group, of_group in zip(groups, sums, strict=True):
        for node in nodes:
            if node >= of_group.shape[1]:
                continue
            best = _best_of_group(group, of_group[:, node], settings, logits)
            if best is not None and (node not in found or best.gain > found[node].gain):
                found[node] = best
    return found


def _best_of_group(group: FeatureGroup, sums: Array, settings: TreeSettings, logits: int) -> Candidate | None:
    best: Candidate | None = None
    for place, (feature, split) in enumerate(zip(group.ids, group.splits, strict=True)):
        total = sums[place].sum(axis=0, dtype=np.float32)
        if _weight_of(total[logits:], logits) < settings.min_node_weight:
            continue
        candidate = _best_of_feature(feature, split == EQUAL, sums[place], total, settings, logits)
        if best is None or candidate.gain > best.gain:
            best = candidate
    return best


def _best_of_feature(
    feature: int, is_category: bool, sums: Array, total: Array, settings: TreeSettings, logits: int
) -> Candidate:
    ordinary, missing = sums[:-1], sums[-1]
    if is_category:
        lefts, directions = ordinary, [_RIGHT] * len(ordinary)
        places = list(range(len(ordinary)))
    else:
        below = np.cumsum(ordinary, axis=0, dtype=np.float32)
        # Examples without a bucket go to either side; where there are none, to the left.
        both = bool(missing.any())
        lefts = np.stack([below + missing, below], axis=1).reshape(-1, below.shape[1]) if both else below
        directions = [_LEFT, _RIGHT] * len(below) if both else [_LEFT] * len(below)
        places = [place // 2 if both else place for place in range(len(lefts))]
    rights = total - lefts
    of_left, left_values = _gains(lefts, settings, logits)
    of_right, right_values = _gains(rights, settings, logits)
    of_node, _ = _gains(total[np.newaxis], settings, logits)
    gains = of_left + of_right - of_node[0]
    first = int(np.argmax(gains))
    gain = np.float32(gains[first] - np.float32(settings.tree_complexity))
    return Candidate(
        float(gain),
        feature,
        places[first],
        is_category,
        directions[first],
        left_values[first],
        right_values[first],
    )


def _gains(sums: Array, settings: TreeSettings, logits: int) -> tuple[Array, Array]:
    """By how much nodes with these sums lower the loss, `[nodes]`, and their values, `[nodes, logits]`."""
    first, second = sums[:, :logits], sums[:, logits:]
    if logits > 1:
        return _gains_of_many(first, second.reshape(-1, logits, logits), settings, logits)
    shrunk = _shrunk(first[:, 0], settings.l1_regularization)
    weight = second[:, 0] + np.float32(settings.l2_regularization)
    usable = weight > 1e-7
    safe = np.where(usable, weight, np.float32(1))
    values = np.where(usable, -shrunk / safe, np.float32(0))
    gains = np.where(usable, shrunk * shrunk / safe, np.float32(0))
    return gains, values[:, np.newaxis]


def _gains_of_many(first: Array, second: Array, settings: TreeSettings, logits: int) -> tuple[Array, Array]:
    """The same for several logits: the value solves `(h + l2) value = -g`."""
    exact = np.asarray(second, np.float64) + settings.l2_regularization * np.eye(logits)
    values = np.zeros(first.shape, np.float64)
    for place, (gradient, hessian) in enumerate(zip(np.asarray(first, np.float64), exact, strict=True)):
        if hessian.any():
            values[place] = np.linalg.lstsq(hessian, -gradient, rcond=1e-6)[0]
    gains = -np.einsum("nd,nd->n", np.asarray(first, np.float64), values)
    return gains.astype(np.float32), values.astype(np.float32)


def _weight_of(second: Array, logits: int) -> float:
    """The second derivatives of a node as one number."""
    return float(second[0] if logits == 1 else np.linalg.norm(second))


def _shrunk(gradients: Array, l1: float) -> Array:
    if not l1:
        return gradients
    shrunk: Array = np.sign(gradients) * np.maximum(np.abs(gradients) - np.float32(l1), np.float32(0))
    return shrunk


def layer_nodes(ensemble: Any) -> range:
    """The nodes of the newest layer of the tree that grows."""
    if not ensemble.trees:
        return range(1)
    growth = ensemble.growing_metadata
    return range(growth.last_layer_node_start, max(growth.last_layer_node_end, 1))


def grow(ensemble: Any, splits: Mapping[int, Candidate], settings: TreeSettings, logits: int) -> None:
    """Adds a layer to the last tree, and after its last layer a new tree.

    Args:
        ensemble: the trees, which are changed.
        splits: the best split of each node.
        settings: how trees grow.
        logits: how many logits an example has.
    """
    if not ensemble.trees:
        _begin_tree(ensemble)
    tree, metadata, growth = ensemble.trees[-1], ensemble.tree_metadata[-1], ensemble.growing_metadata
    if metadata.num_layers_grown == 0:
        growth.num_trees_attempted += 1
    growth.num_layers_attempted += 1
    wanted = {node: split for node, split in sorted(splits.items()) if settings.pruning_mode != "pre" or split.gain > 0}
    if not wanted:
        return
    start = len(tree.nodes)
    for node, split in wanted.items():
        _split_node(tree, node, split, settings.learning_rate, logits)
    growth.last_layer_node_start, growth.last_layer_node_end = start, len(tree.nodes)
    metadata.num_layers_grown += 1
    if metadata.num_layers_grown >= settings.max_depth:
        metadata.is_finalized = True
        if settings.pruning_mode == "post":
            _prune(tree, metadata, logits)
        _begin_tree(ensemble)
        growth.last_layer_node_start, growth.last_layer_node_end = 0, 1


def move_bias(ensemble: Any, first: Array, second: Array, settings: TreeSettings) -> bool:
    """Moves the first leaf to where the loss is least; gives whether it may have to move again.

    Args:
        ensemble: the trees, which are changed.
        first, second: the means of the derivatives, of one logit.
        settings: how trees grow.
    """
    if not ensemble.trees:
        _begin_tree(ensemble)
    leaf = ensemble.trees[0].nodes[0].leaf
    before = np.float32(leaf.scalar)
    _, values = _gains(np.asarray([[first[0], second[0]]], np.float32), settings, 1)
    change = values[0, 0]
    leaf.scalar = float(before + change)
    return bool(abs(change) > _SETTLED * abs(before))


def _begin_tree(ensemble: Any) -> None:
    ensemble.trees.add().nodes.add().leaf.SetInParent()
    ensemble.tree_weights.append(1.0)
    ensemble.tree_metadata.add()


def _split_node(tree: Any, number: int, split: Candidate, rate: float, logits: int) -> None:
    node = tree.nodes[number]
    before = leaf_value(node.leaf, logits)
    left = len(tree.nodes)
    made = node.categorical_split if split.is_category else node.bucketized_split
    made.SetInParent()  # takes the place of the leaf
    made.feature_id, made.left_id, made.right_id = split.feature, left, left + 1
    if split.is_category:
        made.value = split.bucket
    else:
        made.threshold, made.default_direction = split.bucket, split.direction
    node.metadata.gain = split.gain
    _set_leaf(node.metadata.original_leaf, before)
    for values in (split.left, split.right):
        _set_leaf(tree.nodes.add().leaf, before + np.float32(rate) * values)


def leaf_value(leaf: Any, logits: int) -> Array:
    """The value of a leaf, `[logits]`."""
    if logits == 1:
        return np.asarray([leaf.scalar], np.float32)
    return np.asarray(leaf.vector.value or [0.0] * logits, np.float32)


def _set_leaf(leaf: Any, value: Array) -> None:
    leaf.SetInParent()
    if len(value) == 1:
        leaf.scalar = float(value[0])
    else:
        leaf.vector.value[:] = [float(one) for one in value]


def _children(node: Any) -> tuple[int, int] | None:
    kind = node.WhichOneof("node")
    if kind in (None, "leaf"):
        return None
    split = getattr(node, kind)
    return split.left_id, split.right_id


def _prune(tree: Any, metadata: Any, logits: int) -> None:
    """Takes back splits that lose and have only leaves below, from the last node to the first; notes where the nodes
    went, for predictions kept from before."""
    nodes = list(tree.nodes)
    values = [leaf_value(_own_leaf(node), logits) for node in nodes]
    went = list(range(len(nodes)))
    children = {number: below for number, node in enumerate(nodes) if (below := _children(node)) is not None}
    for number in sorted(children, reverse=True):
        if nodes[number].metadata.gain < 0 and not any(child in children for child in children[number]):
            for child in children.pop(number):
                went[child] = number
    if len(children) == sum(_children(node) is not None for node in nodes):
        return
    kept = {0}
    for number, below in sorted(children.items()):
        kept.update((number, *below))
    numbers = {number: place for place, number in enumerate(sorted(kept))}
    for number, value in enumerate(values):
        end = number
        while end not in kept:
            end = went[end]
        change = values[end] - value if end != number else np.zeros(logits, np.float32)
        metadata.post_pruned_nodes_meta.add(new_node_id=numbers[end], logit_change=[float(one) for one in change])
    del tree.nodes[:]
    for number in sorted(kept):
        copy = tree.nodes.add()
        if number not in children:
            _set_leaf(copy.leaf, values[number])
            continue
        copy.CopyFrom(nodes[number])
        made = getattr(copy, str(copy.WhichOneof("node")))
        made.left_id, made.right_id = numbers[made.left_id], numbers[made.right_id]


def _own_leaf(node: Any) -> Any:
    """The leaf that a node is, or was before it split."""
    return node.leaf if _children(node) is None else node.metadata.original_leaf
