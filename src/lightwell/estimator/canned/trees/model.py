"""The `model_fn` of boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError
from lightwell.estimator.canned.spec import refuse_replicas, spec_of
from lightwell.estimator.canned.trees.columns import Inputs, TreeColumns
from lightwell.estimator.canned.trees.derivatives import of_loss, of_two_classes
from lightwell.estimator.canned.trees.in_memory import Memory, check_one_batch
from lightwell.estimator.canned.trees.predicting import Walk, walk
from lightwell.estimator.canned.trees.resources import NAME, Boundaries, Trees, new_boundaries, new_trees
from lightwell.estimator.canned.trees.settings import TreeSettings
from lightwell.estimator.canned.trees.step import Step, Stepping
from lightwell.estimator.canned.trees.stop_when_grown import StopWhenGrown
from lightwell.model.feature_columns.slots import ColumnsLayer
from lightwell.model.heads.shapes import weights_of
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_v1 = tf.compat.v1
BUCKETS = "boosted_trees/buckets"


@dataclass(frozen=True)
class TreesModel:
    """The `model_fn`.

    Attributes:
        where: the model, for errors.
        head: the head.
        columns: the columns.
        settings: how trees grow.
        weight_column: what weighs the examples.
        is_plain: whether the head is that of two classes, with numbers for labels and without weights.
        explains: whether predictions hold the buckets of each example, as `BUCKETS`.
    """

    where: str
    head: Any
    columns: TreeColumns
    settings: TreeSettings
    weight_column: Any = None
    is_plain: bool = False
    explains: bool = False

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        if mode == ModeKeys.TRAIN:
            return self._to_train(features, labels, config)
        with _v1.name_scope(f"{NAME}/"):
            trees, boundaries = self._variables()
            inputs, book = self.columns.inputs(features, boundaries)
            logits = book.pass_layer(self._walk(trees, inputs).logits, [], ColumnsLayer(NAME, ()))
        spec = spec_of(
            self.head, features=features, mode=mode, labels=labels, logits=logits, train_op_fn=lambda loss: None
        )
        if not self.explains:
            return spec
        return spec._replace(predictions={**spec.predictions, BUCKETS: tf.concat(inputs.buckets, axis=1)})

    def _to_train(self, features: Any, labels: Any, config: RunConfig) -> EstimatorSpec:
        self.settings.check_pruning(self.where)
        refuse_replicas(self.where, "grows its trees by one batch after the other")
        if config.num_worker_replicas > 1:
            raise UsageError(
                f"{self.where} grows its trees by one batch after the other, and this cluster has "
                f"{config.num_worker_replicas} workers. Train it in one process; train_and_evaluate with a chief and "
                "an evaluator works."
            )
        dimension = int(self.head.logits_dimension)
        with _v1.name_scope(f"{NAME}/"):
            trees, boundaries = self._variables()
            inputs, book = self.columns.inputs(features, boundaries)
            stepping = Stepping(trees, boundaries, self.columns.groups(), self.settings, dimension)
            memory = self._memory(inputs, dimension)
            walked = self._walk(trees, inputs)
            logits = book.pass_layer(walked.logits, [], ColumnsLayer(NAME, ()))
            weights = self._weights(features, logits)
        steps: list[Step] = []

        def train_op_fn(loss: Any) -> Any:
            step = stepping.step(inputs, walked.nodes, self._derivatives(loss, features, labels, logits), weights)
            steps.append(step)
            done = [step.done, *([memory.keep(step, inputs.buckets, walked)] if memory is not None else [])]
            with tf.control_dependencies(done):
                return _v1.assign_add(_v1.train.get_global_step(), tf.cast(step.grew, tf.int64)).op

        spec = spec_of(
            self.head, features=features, mode=ModeKeys.TRAIN, labels=labels, logits=logits, train_op_fn=train_op_fn
        )
        with _v1.name_scope(f"{NAME}/ensemble/"):
            for place, name in enumerate(("num_trees", "num_finalized_trees", "num_attempted_layers")):
                _v1.summary.scalar(name, steps[0].before[place])
        return spec._replace(training_hooks=[*spec.training_hooks, StopWhenGrown(steps[0].after, self.settings)])

    def _variables(self) -> tuple[Trees, Boundaries]:
        return new_trees(), new_boundaries(self.columns.numbers)

    def _walk(self, trees: Trees, inputs: Inputs) -> Walk:
        buckets = tf.concat(inputs.buckets, axis=1)
        return walk(trees.serialized.read_value(), buckets, int(self.head.logits_dimension))

    def _memory(self, inputs: Inputs, dimension: int) -> Memory | None:
        if not self.settings.train_in_memory:
            return None
        size = check_one_batch(self.where, self.settings.n_batches_per_layer, inputs.buckets[0].shape[0])
        return Memory(size, len(inputs.buckets), dimension)

    def _derivatives(self, loss: Any, features: Any, labels: Any, logits: Any) -> tuple[Any, Any]:
        if self.is_plain:
            return of_two_classes(self.head._head.weighed(labels, logits, features).labels, logits)
        return of_loss(loss, logits)

    def _weights(self, features: Any, logits: Any) -> Any:
        """The weight of each example, `[batch]`, or a one for all."""
        if self.weight_column is None:
            return tf.constant([1.0])
        return tf.reshape(weights_of(features, self.weight_column, logits, self.where), [-1])
