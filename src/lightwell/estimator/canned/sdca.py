"""`LinearSDCA`: stochastic dual coordinate ascent, an optimizer of linear models with two classes or one number.

Owns the settings that a user makes, and the op of a training step. It goes over the examples themselves, and not over
gradients: each example, known by its id, has a dual variable, kept in a table that a checkpoint holds. Weights are kept
twice, before (`..._unshrunk`) and after what the l1 penalty takes off them; the model uses the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.errors import UnknownFeature, UsageError, WrongType
from lightwell.estimator.canned.sdca_examples import Examples, examples_of
from lightwell.estimator.canned.sdca_table import ExampleTable
from lightwell.estimator.canned.spec import refuse_replicas
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.multi_class import MultiClassHead
from lightwell.model.heads.regression import RegressionHead
from lightwell.model.heads.v1_heads import AdaptedHead
from lightwell.model.layers.record import feature_source

_v1 = tf.compat.v1
LOGISTIC, SQUARED = "logistic_loss", "squared_loss"


class LinearSDCA:
    """Stochastic dual coordinate ascent, for `optimizer=` of `LinearClassifier`, `LinearRegressor`, `LinearEstimator`.

        sdca = tf.estimator.experimental.LinearSDCA("example_id", symmetric_l2_regularization=2.0)
        est = lw.LinearClassifier(columns, optimizer=sdca)

    For two classes, or one number per example; `sparse_combiner` must be "sum". The features hold an id for each
    example, a string that is the same whenever the example comes again.

    Args:
        example_id_column: the name of the feature with the ids, `[batch]`.
        num_loss_partitions: how many trainings work on the same model at a time.
        num_table_shards: in how many tables the state of examples is kept; one if None.
        symmetric_l1_regularization: makes weights zero; at least 0.
        symmetric_l2_regularization: makes weights small; above 0.
        adaptive: whether to take examples more often whose loss is far from settled.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        if symmetric_l1_regularization < 0.0:
            raise UsageError(
                "LinearSDCA: symmetric_l1_regularization should be non-negative. Found: "
                f"{symmetric_l1_regularization!r}."
            )
        if symmetric_l2_regularization <= 0.0:
            raise UsageError(
                f"LinearSDCA: symmetric_l2_regularization should be positive. Found: {symmetric_l2_regularization!r}."
            )
        self.example_id_column = example_id_column
        self.num_loss_partitions, self.num_table_shards = num_loss_partitions, num_table_shards
        self.l1, self.l2, self.adaptive = symmetric_l1_regularization, symmetric_l2_regularization, adaptive

    def check(self, head: Any, sparse_combiner: str, where: str) -> None:
        """Refuses a model that it cannot train.

        Raises:
            UsageError: the model has more than two classes, several numbers per example, another head, or combines
                values otherwise than by their sum.
        """
        if sparse_combiner != "sum":
            raise UsageError(
                f'{where}: sparse_combiner must be "sum" when optimizer is a LinearSDCA object, got '
                f"{sparse_combiner!r}."
            )
        own = _own(head)
        if isinstance(own, MultiClassHead):
            raise UsageError(
                f"{where}: LinearSDCA cannot be used in a multi-class setting: n_classes is {own.logits_dimension}, "
                "and must be 2. Use optimizer='Ftrl', or one model for each class."
            )
        if own.logits_dimension != 1:
            raise UsageError(
                f"{where}: LinearSDCA can only be used with one-dimensional label, got {own.logits_dimension} logits "
                "per example. Use optimizer='Ftrl', or one model for each number."
            )
        if not isinstance(own, BinaryClassHead | RegressionHead):
            raise UsageError(f"{where}: LinearSDCA trains a BinaryClassHead or a RegressionHead, got {head!r}.")

    def train_op(
        self,
        *,
        where: str,
        face: Face,
        head: Any,
        features: Mapping[str, Any],
        labels: Any,
        logits: Any,
        variables: Mapping[Any, Sequence[Any]],
        bias: Sequence[Any],
    ) -> tf.Operation:
        """The op of a training step, which counts it.

        Args:
            where: the model, for errors.
            face: whose names count.
            head: the model's head.
            features: the batch's features.
            labels: the labels.
            logits: the logits; the weights change once they are computed.
            variables: column -> its weights.
            bias: the bias.
        """
        refuse_replicas(f"{where}: LinearSDCA", "goes over the examples of one batch after the other")
        ids = self._ids(features, where)
        own = _own(head)
        loss_type = LOGISTIC if isinstance(own, BinaryClassHead) else SQUARED
        batch = own.weighed(labels, logits, features)
        examples = examples_of(features, variables, bias, batch.labels, batch.weights, tf.shape(ids)[0], where)
        raw = [self._unshrunk(variable, face) for variable in examples.weights]
        table = ExampleTable(self.num_table_shards or 1)
        state, sparse_changes, dense_changes = self._solved(examples, raw, table.find(ids), loss_type)
        with tf.control_dependencies([logits]):
            stored = table.insert(ids, state)
            rows = examples.sparse_rows
            changes = [
                tf.raw_ops.ResourceScatterAdd(resource=one.handle, indices=row, updates=change)
                for one, row, change in zip(raw, rows, sparse_changes, strict=False)
            ]
            changes += [
                one.assign_add(tf.reshape(change, one.shape), read_value=False)
                for one, change in zip(raw[len(rows) :], dense_changes, strict=True)
            ]
        with tf.control_dependencies([stored, *changes]):
            done = tf.group(
                *(
                    one.assign(self._shrunk(full), read_value=False)
                    for one, full in zip(examples.weights, raw, strict=True)
                )
            )
        with tf.control_dependencies([done]):
            self._show(examples, table, face)
            return _v1.assign_add(_v1.train.get_global_step(), 1).op

    def _ids(self, features: Mapping[str, Any], where: str) -> Any:
        key = self.example_id_column
        if key not in features:
            raise UnknownFeature(
                key,
                f"{where}: LinearSDCA needs the feature {key!r} (example_id_column), a string for each example; "
                f"{feature_source()} gave {sorted(map(str, features))}.",
            )
        ids = features[key]
        if ids.dtype != tf.string:
            raise WrongType(
                f"{where}: the ids of examples must be strings, {key!r} is {ids.dtype.name}. In input_fn, use "
                "tf.strings.as_string."
            )
        return tf.reshape(ids, [-1])

    def _unshrunk(self, variable: Any, face: Face) -> Any:
        prefix = "linear/" if face == "v1" else ""
        with _v1.name_scope(None):
            return _v1.Variable(
                tf.zeros(variable.shape, variable.dtype.base_dtype),
                trainable=False,
                name=f"{prefix}{variable.op.name}_unshrunk",
                use_resource=True,
            )

    def _shrunk(self, variable: Any) -> Any:
        values = variable.read_value()
        return tf.sign(values) * tf.maximum(0.0, tf.abs(values) - self.l1 / self.l2) if self.l1 else values

    def _solved(self, examples: Examples, raw: Sequence[Any], state: Any, loss_type: str) -> tuple[Any, Any, Any]:
        rows = examples.sparse_rows
        solved = tf.raw_ops.SdcaOptimizerV2(
            sparse_example_indices=examples.sparse_examples,
            sparse_feature_indices=examples.sparse_ids,
            sparse_feature_values=examples.sparse_values,
            dense_features=examples.dense,
            example_weights=examples.example_weights,
            example_labels=examples.labels,
            sparse_indices=rows,
            sparse_weights=[tf.gather(one, row) for one, row in zip(raw, rows, strict=False)],
            dense_weights=[one.read_value() for one in raw[len(rows) :]],
            example_state_data=state,
            loss_type=loss_type,
            l1=self.l1,
            l2=self.l2,
            num_loss_partitions=self.num_loss_partitions,
            num_inner_iterations=1,
            adaptive=self.adaptive,
        )
        return solved.out_example_state_data, solved.out_delta_sparse_weights, solved.out_delta_dense_weights

    def _show(self, examples: Examples, table: ExampleTable, face: Face) -> None:
        """How far the weights are from the best ones, and how many examples there were."""
        prefix = "linear/" if face == "v1" else ""
        sums = tf.reduce_sum(tf.cast(table.values(), tf.float64), 0)
        weights = [tf.cast(one.read_value(), tf.float64) for one in examples.weights]
        penalty = self.l1 * tf.add_n([tf.reduce_sum(tf.abs(one)) for one in weights])
        penalty += self.l2 * tf.add_n([tf.reduce_sum(tf.square(one)) for one in weights])
        size = table.size()
        with _v1.name_scope(None):
            _v1.summary.scalar(f"{prefix}approximate_duality_gap", (sums[1] + sums[2] + penalty) / sums[3])
            _v1.summary.scalar(f"{prefix}examples_seen", size)


def _own(head: Any) -> Any:
    """The head itself, where it is one of TensorFlow 1 over ours."""
    return head._head if isinstance(head, AdaptedHead) else head
