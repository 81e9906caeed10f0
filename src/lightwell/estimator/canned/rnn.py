"""`RNNClassifier`, `RNNEstimator`: recurrent networks over sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lightwell.base.public_names import Face
from lightwell.errors import UsageError
from lightwell.estimator.canned.columns import column_list
from lightwell.estimator.canned.optimizers.choose import check_optimizer, optimizer_for, step_by
from lightwell.estimator.canned.rnn_cells import recurrence
from lightwell.estimator.canned.rnn_logits import RNNLogits
from lightwell.estimator.canned.spec import checked_head, spec_of
from lightwell.estimator.canned.task_heads import classifier_head
from lightwell.estimator.core import Estimator
from lightwell.foreign import private_tf
from lightwell.model.feature_columns.checks import checked_columns
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE
from lightwell.model.heads.sequential import SequentialHeadWrapper
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_RATE = 0.05


class RNNEstimator(Estimator):
    """A recurrent network with a head of your choice.

        word = tf.feature_column.sequence_categorical_column_with_hash_bucket("word", 1000)
        columns = [tf.feature_column.embedding_column(word, 16)]
        est = tf.estimator.experimental.RNNEstimator(lw.RegressionHead(), columns, units=[32, 16], cell_type="lstm")

    Args:
        head: a `Head`; a `SequentialHeadWrapper` around one if `return_sequences`.
        sequence_feature_columns: columns of sequences, and embeddings of them.
        context_feature_columns: dense columns; each step of a sequence gets their values.
        units: the number of units of each recurrent layer.
        cell_type: "simple_rnn", "lstm", "gru", or a class of cells; "simple_rnn" if None.
        rnn_cell_fn: in place of both, a function without arguments that gives a cell of Keras.
        return_sequences: whether each step has its prediction, and not only the whole.
        model_dir: see `Estimator`.
        optimizer: "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", an optimizer of any make, or a function that makes one.
        config: a `RunConfig`.
    """

    _face: ClassVar[Face] = "v2"

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = None,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        config: RunConfig | None = None,
    ) -> None:
        where = type(self).__name__
        checked_head(head, where)
        if return_sequences and not isinstance(head, SequentialHeadWrapper):
            raise UsageError(
                f"{where}: Provided head must be a `_SequentialHead` object when `return_sequences` is set to True. "
                f"Got {head!r}: wrap it, lightwell.model.heads.sequential.SequentialHeadWrapper(head, 'sequence_mask')."
            )
        check_optimizer(optimizer, where)
        logits = RNNLogits(
            where,
            _sequence_columns(sequence_feature_columns, where),
            _context_columns(context_feature_columns, where),
            recurrence(where, units, cell_type, rnn_cell_fn),
            return_sequences,
        )
        super().__init__(RNNModel(head, logits, optimizer), model_dir, config)


class RNNClassifier(RNNEstimator):
    """A recurrent network that tells classes apart.

        est = tf.estimator.experimental.RNNClassifier(columns, units=[32], cell_type="gru", n_classes=3)
        est.train(input_fn, steps=1000)
        for row in est.predict(input_fn, taps=["layers/rnn_model/rnn"]): ...

    Args:
        n_classes: how many classes; labels are 0 to `n_classes - 1`, `[batch, 1]`, or `[batch, steps]` if
            `return_sequences`.
        weight_column: the name of a feature that weighs the examples, or a `numeric_column`; a name, with a value for
            each step, if `return_sequences`.
        label_vocabulary: the classes by name, if labels are strings.
        loss_reduction: how the losses of a batch become one.
        sequence_mask: the name of a feature that says which steps count in loss and metrics if `return_sequences`; all
            that are no padding where there is no such feature. The mask is among the predictions under that name.
        sequence_feature_columns, context_feature_columns, units, cell_type, rnn_cell_fn, return_sequences, model_dir,
            optimizer, config: see `RNNEstimator`.
    """

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = None,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        sequence_mask: str = "sequence_mask",
        config: RunConfig | None = None,
    ) -> None:
        head = classifier_head(
            self._face,
            type(self).__name__,
            n_classes=n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        if return_sequences:
            weights = None if weight_column is None else [weight_column]
            head = SequentialHeadWrapper(head, sequence_mask, weights)
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            units,
            cell_type,
            rnn_cell_fn,
            return_sequences,
            model_dir,
            optimizer,
            config,
        )


@dataclass(frozen=True)
class RNNModel:
    """The `model_fn` of a recurrent model.

    Attributes:
        head: the head.
        logits: how the logits come about.
        optimizer: what a user gave as one.
    """

    head: Any
    logits: RNNLogits
    optimizer: Any

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        logits, mask = self.logits(features, self.head.logits_dimension)
        if self.logits.return_sequences and self.head.input_sequence_mask_key not in features:
            features = {**features, self.head.input_sequence_mask_key: mask}

        def train_op_fn(loss: Any) -> Any:
            return step_by(optimizer_for("v2", self.optimizer, self.logits.where, rate=_RATE), loss)

        return spec_of(self.head, features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn)


def _sequence_columns(feature_columns: Any, where: str) -> tuple[Any, ...]:
    argument = "sequence_feature_columns"
    columns = column_list(feature_columns, where, argument)
    sequences = private_tf.feature_columns().SequenceDenseColumn
    for column in columns:
        if not isinstance(column, sequences) or not _reads_sequences(column):
            raise UsageError(
                f"{where}: {argument} must hold columns of sequences only. Items of feature_columns must be a "
                f"SequenceDenseColumn, got {column.name!r} ({type(column).__name__}). Make it with "
                "tf.feature_column.sequence_numeric_column or sequence_categorical_column_with_..., the latter inside "
                "of an embedding_column or indicator_column; what is no sequence goes into context_feature_columns."
            )
    return tuple(checked_columns(f"{where} ({argument})", columns, sequences))


def _reads_sequences(column: Any) -> bool:
    """Whether the categories below an embedding are those of sequences: the embedding itself takes both kinds."""
    inner = getattr(column, "categorical_column", None)
    return inner is None or type(inner).__name__ == "SequenceCategoricalColumn"


def _context_columns(feature_columns: Any, where: str) -> tuple[Any, ...]:
    if feature_columns is None or (isinstance(feature_columns, Sequence) and not feature_columns):
        return ()
    argument = "context_feature_columns"
    columns, dense = column_list(feature_columns, where, argument), private_tf.feature_columns().DenseColumn
    for column in columns:
        if not isinstance(column, dense):
            raise UsageError(
                f"{where}: {argument} must hold dense columns only. Items of feature_columns must be a DenseColumn, "
                f"got {column.name!r} ({type(column).__name__}). You can wrap a categorical column with an "
                "embedding_column or indicator_column; sequences go into sequence_feature_columns."
            )
    return tuple(checked_columns(f"{where} ({argument})", columns, dense))
