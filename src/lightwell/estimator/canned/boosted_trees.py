"""`BoostedTreesClassifier`, `BoostedTreesRegressor`, `BoostedTreesEstimator`: trees that correct one another."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lightwell.errors import CheckpointError, UsageError
from lightwell.estimator.canned.spec import checked_head
from lightwell.estimator.canned.task_heads import classifier_head, regressor_head
from lightwell.estimator.canned.trees.columns import tree_columns
from lightwell.estimator.canned.trees.derivatives import softmax_cross_entropy
from lightwell.estimator.canned.trees.ensemble import TreeEnsemble, ensemble_of
from lightwell.estimator.canned.trees.explanations import explained, prediction_of_logits
from lightwell.estimator.canned.trees.model import BUCKETS, TreesModel
from lightwell.estimator.canned.trees.resources import BOUNDARIES, SERIALIZED
from lightwell.estimator.canned.trees.settings import TreeSettings
from lightwell.estimator.core import Estimator
from lightwell.inside.paths.describe import Description
from lightwell.model.heads.v1_heads import multi_class_head
from lightwell.run.checkpoints.index import checked_path
from lightwell.run.checkpoints.reader import variable_names, variable_value
from lightwell.run.config import RunConfig

_MOST_LINES = 24  # of a description
_BY_COUNT, _BY_NONZERO = "weighted_sum_over_batch_size", "weighted_sum_by_nonzero_weights"


class NoSplits(UsageError, AssertionError):
    """Importances cannot be normalised, because no tree splits."""


class _BoostedTrees(Estimator):
    """What the three share: the trees as data, importances and explanations."""

    _model: TreesModel

    def _lightwell_grow(
        self, model: TreesModel, model_dir: Any, config: RunConfig | None, *, check_center_bias: str = ""
    ) -> None:
        settings, where = model.settings, model.where
        settings.check(where)
        if settings.center_bias and int(model.head.logits_dimension) > 1:
            raise UsageError(
                f"{where}: center_bias not yet support with {check_center_bias or 'logits_dimension > 1'}."
            )
        self._model = model
        Estimator.__init__(self, model, model_dir, config)

    @property
    def trees(self) -> TreeEnsemble:
        """The trees of the newest checkpoint as plain data: `est.trees[0].splits`, `print(est.trees[0])`.

        Raises:
            CheckpointError: there is no checkpoint yet.
        """
        return self._lightwell_trees()

    def describe(self, input_fn: Callable[..., Any], mode: str = "train", *, devices: bool = False) -> Description:
        """The columns and the trees; see `Estimator.describe`."""
        description = super().describe(input_fn, mode, devices=devices)
        if self.latest_checkpoint() is None:
            return dataclasses.replace(description, notes=("no trees yet: train first",))
        lines = str(self.trees).splitlines()
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES - 2 : -1] = [f"… {len(lines) - _MOST_LINES + 1} more: print(est.trees)"]
        return dataclasses.replace(description, notes=tuple(lines))

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """How much the splits by each column lower the loss, the most important column first.

        Args:
            normalize: whether the importances are made to sum up to 1.

        Raises:
            CheckpointError: there is no checkpoint yet.
            UsageError: they cannot be normalised: there is no split, or a gain is negative.
        """
        labels = [column.label for column in self._model.columns.columns]
        trees = self._lightwell_trees()
        gains = trees.gains(labels)
        if normalize:
            gains = _normalized(gains, trees, type(self).__name__)
        return OrderedDict(sorted(gains.items(), key=lambda one: -one[1]))

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, each with what every column contributed to it.

        Args:
            input_fn: see `predict`.
            predict_keys: which predictions to give; `bias` and `dfc` always are.
            hooks: see `predict`.
            checkpoint_path: see `predict`.

        Yields:
            The predictions of an example; `bias`, the prediction for all data, a probability for two classes; and
            `dfc`, column -> its contribution, the largest first. They add up to the prediction.

        Raises:
            UsageError: the model has no centered bias, or has several classes.
        """
        where = type(self).__name__
        if not self._model.settings.center_bias:
            raise UsageError(
                f"{where}: center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations. Train a model with center_bias=True."
            )
        to_prediction = prediction_of_logits(self._model.head, where)
        explaining = dataclasses.replace(self._model, explains=True)
        features = self._model.columns.of_features
        wanted = [predict_keys] if isinstance(predict_keys, str) else predict_keys
        checkpoint = checked_path(checkpoint_path) if checkpoint_path else self._lightwell_trained_checkpoint()
        trees = self._lightwell_trees(checkpoint)
        rows = Estimator(explaining, self.model_dir, self.config).predict(
            input_fn, hooks=hooks, checkpoint_path=checkpoint
        )
        for row in rows:
            buckets = row.pop(BUCKETS)
            kept = row if wanted is None else {key: value for key, value in row.items() if key in wanted}
            yield explained(kept, buckets, trees, features, to_prediction)

    def _lightwell_trained_checkpoint(self) -> str:
        checkpoint = self.latest_checkpoint()
        if checkpoint is None:
            raise CheckpointError(
                f"{type(self).__name__}: Couldn't find 'checkpoint' file or checkpoints in given directory "
                f"{self.model_dir}. Call train first."
            )
        return checkpoint

    def _lightwell_trees(self, checkpoint: str = "") -> TreeEnsemble:
        checkpoint = checkpoint or self._lightwell_trained_checkpoint()
        if SERIALIZED not in variable_names(checkpoint):
            raise CheckpointError(f"{type(self).__name__}: {checkpoint} holds no boosted trees. Use another model_dir.")
        serialized: Any = variable_value(checkpoint, SERIALIZED)
        return ensemble_of(
            serialized,
            self._model.columns.of_features,
            lambda place: variable_value(checkpoint, f"{BOUNDARIES}{place}").tolist(),
        )


class BoostedTreesClassifier(_BoostedTrees):
    """Trees that tell classes apart.

        age = tf.feature_column.numeric_column("age")
        city = tf.feature_column.indicator_column(
            tf.feature_column.categorical_column_with_vocabulary_list("city", ["rome", "oslo"]))
        est = tf.estimator.BoostedTreesClassifier([age, city], n_batches_per_layer=4, n_trees=50, max_depth=4)
        est.train(input_fn)           # ends by itself when the trees are grown
        print(est.trees[0])
        est.experimental_feature_importances(normalize=True)

    Trees are grown layer by layer; each layer of `n_batches_per_layer` batches, usually those of the whole data.

    Args:
        feature_columns: bucketized, numeric, indicator and categorical columns. Numbers are put into buckets by their
            quantiles, found in the first `n_batches_per_layer` batches, which do not count as steps.
        n_batches_per_layer: how many batches a layer is grown of.
        model_dir: see `Estimator`.
        n_classes: how many classes; labels are 0 to `n_classes - 1`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`.
        label_vocabulary: the classes by name, if labels are strings.
        n_trees: how many trees to grow.
        max_depth: how many layers a tree has.
        learning_rate: what the values of leaves are multiplied by.
        l1_regularization, l2_regularization: what makes the values of leaves smaller.
        tree_complexity: what a leaf costs.
        min_node_weight: the least sum of second derivatives of a node that is split.
        config: a `RunConfig`.
        center_bias: whether the first leaf takes the mean of the labels; for two classes, and explanations.
        pruning_mode: "none"; "pre", to split only where the gain is worth `tree_complexity`; "post", to grow a tree and
            take back the branches that are not.
        quantile_sketch_epsilon: how exact quantiles are: numbers have 1 / `quantile_sketch_epsilon` buckets.
        train_in_memory: whether `input_fn` gives all data as one batch, again and again: each step grows a layer.
            `n_batches_per_layer` must be 1.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        where = type(self).__name__
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
            n_batches_per_layer,
            train_in_memory,
        )
        settings.check(where)
        head = classifier_head(
            "v1",
            where,
            n_classes=n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=_BY_COUNT,
        )
        if int(head.logits_dimension) > 1:
            head = multi_class_head(n_classes, weight_column, label_vocabulary, _BY_NONZERO, softmax_cross_entropy)
        is_plain = int(n_classes) == 2 and weight_column is None and label_vocabulary is None
        columns = tree_columns(feature_columns, quantile_sketch_epsilon, where)
        model = TreesModel(where, head, columns, settings, weight_column, is_plain)
        self._lightwell_grow(model, model_dir, config, check_center_bias="n_classes > 2")


class BoostedTreesRegressor(_BoostedTrees):
    """Trees that predict numbers.

    Args:
        label_dimension: how many numbers per example; labels are `[batch, label_dimension]`.
        feature_columns, n_batches_per_layer, model_dir, weight_column, n_trees, max_depth, learning_rate,
            l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
            quantile_sketch_epsilon, train_in_memory: see `BoostedTreesClassifier`.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        where = type(self).__name__
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
            n_batches_per_layer,
            train_in_memory,
        )
        settings.check(where)
        head = regressor_head(
            "v1", label_dimension=label_dimension, weight_column=weight_column, loss_reduction=_BY_COUNT
        )
        columns = tree_columns(feature_columns, quantile_sketch_epsilon, where)
        model = TreesModel(where, head, columns, settings, weight_column)
        self._lightwell_grow(model, model_dir, config, check_center_bias="label_dimension > 1")


class BoostedTreesEstimator(_BoostedTrees):
    """Trees with a head of your choice.

    Args:
        head: a `Head`.
        weight_column: what weighs the examples where quantiles are made; the head weighs the loss by its own.
        feature_columns, n_batches_per_layer, model_dir, n_trees, max_depth, learning_rate, l1_regularization,
            l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
            quantile_sketch_epsilon: see `BoostedTreesClassifier`.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        where = type(self).__name__
        settings = TreeSettings(
            n_trees,
            max_depth,
            learning_rate,
            l1_regularization,
            l2_regularization,
            tree_complexity,
            min_node_weight,
            center_bias,
            pruning_mode,
            quantile_sketch_epsilon,
            n_batches_per_layer,
            False,
        )
        settings.check(where)
        columns = tree_columns(feature_columns, quantile_sketch_epsilon, where)
        model = TreesModel(where, checked_head(head, where), columns, settings, weight_column)
        self._lightwell_grow(model, model_dir, config)


def _normalized(gains: dict[str, float], trees: TreeEnsemble, where: str) -> dict[str, float]:
    if not any(tree.splits for tree in trees):
        raise NoSplits(f"{where}: Trees are all empty or contain only a root node. There is nothing to normalize by.")
    if any(gain < 0 for gain in gains.values()):
        raise UsageError(f"{where}: feature importances must be non-negative to be normalized, got {gains}.")
    total = sum(gains.values())
    return {label: gain / total for label, gain in gains.items()} if total else gains
