"""`boosted_trees_classifier_train_in_memory`, `boosted_trees_regressor_train_in_memory` of `tf.contrib.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of
from lightwell.estimator.canned.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from lightwell.run.config import RunConfig


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Any,
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: RunConfig | None = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """A `BoostedTreesClassifier`, trained on data that fit into memory.

    Args:
        train_input_fn: gives all data as one batch, once.
        train_hooks: hooks of the training.
        feature_columns, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth, learning_rate,
            l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
            quantile_sketch_epsilon: see `BoostedTreesClassifier`.
    """
    model = BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    model.train(_again_and_again(train_input_fn), hooks=train_hooks)
    return model


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Any,
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: RunConfig | None = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """A `BoostedTreesRegressor`, trained on data that fit into memory.

    Args:
        train_input_fn: gives all data as one batch, once.
        train_hooks: hooks of the training.
        feature_columns, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate,
            l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
            quantile_sketch_epsilon: see `BoostedTreesRegressor`.
    """
    model = BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    model.train(_again_and_again(train_input_fn), hooks=train_hooks)
    return model


def _again_and_again(input_fn: Callable[..., Any]) -> Callable[..., Any]:
    """The same data in each step, where `input_fn` gives them once as a dataset; tensors come in each step anyway."""
    takes = arguments_of(input_fn)

    def repeated(mode: Any = None, params: Any = None, config: Any = None) -> Any:
        given = {"mode": mode, "params": params, "config": config}
        data = input_fn(**{name: value for name, value in given.items() if takes.accepts(name)})
        return data.repeat() if isinstance(data, tf.data.Dataset) else data

    return repeated
