"""Labels of classes: vocabularies, ranges, and several labels per example as zeros and ones."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongKind
from lightwell.model.heads.check import require
from lightwell.model.heads.shapes import dense_labels, present

_IN_VOCABULARY = "Spell the labels as label_vocabulary has them, or add what is missing there."


class Vocabulary:
    """The classes of a head by name; the place of a name is the class.

    Args:
        words: the names.
    """

    def __init__(self, words: list[str | bytes] | tuple[str | bytes, ...]) -> None:
        self.words = tuple(words)
        # Outside of graphs and in `tf.function` a table lives as long as whoever holds it.
        self._eager_table: Any = None

    def ids(self, names: Any, where: str) -> Any:
        """The classes of a string tensor.

        In a graph, the step fails that is given a name which is not in the vocabulary.
        """
        ids = self._table().lookup(names)
        return require(
            ids,
            lambda ids: ids >= 0,
            f"{where}: Labels must be >= 0, as places in label_vocabulary (an unknown label is -1). {_IN_VOCABULARY} "
            f"It has {len(self.words)} entries: {self._first_words()}.",
            shown=lambda _: names,
        )

    def names(self, ids: Any) -> Any:
        """The names of classes."""
        return tf.gather(tf.constant(self.words, tf.string), ids)

    def _first_words(self) -> str:
        shown = ", ".join(word.decode() if isinstance(word, bytes) else word for word in self.words[:5])
        return shown if len(self.words) <= 5 else f"{shown}, ..."

    def _table(self) -> Any:
        with tf.init_scope():
            if not tf.executing_eagerly():
                return self._new_table()
            if self._eager_table is None:
                self._eager_table = self._new_table()
            return self._eager_table

    def _new_table(self) -> Any:
        classes = tf.range(len(self.words), dtype=tf.int64)
        content = tf.lookup.KeyValueTensorInitializer(tf.constant(self.words, tf.string), classes)
        return tf.lookup.StaticHashTable(content, default_value=-1, name="class_id_lookup")


def checked_vocabulary(
    label_vocabulary: Any, where: str, n_classes: int | None = None, several: bool = False
) -> Vocabulary | None:
    """A vocabulary out of a head's argument; None stays None. `several`: an example may be of several classes.

    Raises:
        UsageError: it is no list of strings, or does not have `n_classes` of them.
    """
    if label_vocabulary is None:
        return None
    if not isinstance(label_vocabulary, list | tuple):
        raise UsageError(
            f"{where}: label_vocabulary {'must be a list or tuple' if several else 'should be a list or a tuple'}. "
            f"Given type: {type(label_vocabulary)}. For example ['no', 'yes']."
        )
    others = [word for word in label_vocabulary if not isinstance(word, str | bytes)]
    if others or not (label_vocabulary or n_classes):
        raise UsageError(
            f"{where}: label_vocabulary should be a list of strings, one for each class, got "
            f"{others[:5] if others else 'an empty list'}. Labels that are numbers need no vocabulary."
        )
    if n_classes is not None and len(label_vocabulary) != n_classes:
        raise UsageError(
            f'{where}: "label_vocabulary" does not have "n_classes" items. Length of label_vocabulary must be '
            f"n_classes ({n_classes}). Given: {len(label_vocabulary)}. len(label_vocabulary)={len(label_vocabulary)}, "
            f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
        )
    repeated = sorted({str(word) for word in label_vocabulary if label_vocabulary.count(word) > 1})
    if repeated:
        raise UsageError(f"{where}: label_vocabulary has {repeated} more than once; each class has one name.")
    return Vocabulary(label_vocabulary)


def class_ids(labels: Any, logits: Any, n_classes: int, vocabulary: Vocabulary | None, where: str) -> Any:
    """Labels of one class per example, `[D0, D1, ... DN, 1]`, as integers below `n_classes`."""
    labels = dense_labels(labels, logits, 1, where)
    if vocabulary is not None:
        return vocabulary.ids(_strings(labels, where), where)
    if not labels.dtype.is_integer:
        raise UsageError(
            f"{where}: Labels dtype should be integer. Instead got {labels.dtype}. Labels are class indices from 0 to "
            f"{n_classes - 1}: "
            + (
                "cast them in input_fn with tf.cast(labels, tf.int64)."
                if labels.dtype != tf.string
                else "give the head a label_vocabulary for labels that are strings."
            )
        )
    if labels.dtype not in (tf.int32, tf.int64):
        labels = tf.cast(labels, tf.int64)
    return in_range(labels, n_classes, where)


def in_range(labels: Any, n_classes: int, where: str) -> Any:
    """Labels that must be from 0 to `n_classes - 1`."""
    # Where values are at hand, the number is told in the place of its name.
    most = f"{n_classes} - 1" if tf.executing_eagerly() else "n_classes - 1"
    old = "" if tf.executing_eagerly() else " (Labels must <= n_classes - 1)"  # how the heads of TensorFlow 1 say it
    text = (
        f"{where}: Label IDs must < n_classes. Labels must be <= {most} and Labels must be >= 0{old}: from 0 to "
        f"{n_classes - 1}. Check n_classes and the labels that input_fn gives."
    )
    return require(labels, lambda value: (value >= 0) & (value <= n_classes - 1), text)


def binary(labels: Any, logits: Any, vocabulary: Vocabulary | None, where: str) -> Any:
    """Labels between 0 and 1, `[D0, D1, ... DN, 1]`, as float32."""
    labels = dense_labels(labels, logits, 1, where)
    if vocabulary is not None:
        labels = vocabulary.ids(_strings(labels, where), where)
    return in_range(_float(labels, where), 2, where)


def numbers(labels: Any, logits: Any, dimension: int, where: str) -> Any:
    """Labels of a regression, `[D0, D1, ... DN, dimension]`, as float32."""
    return _float(dense_labels(labels, logits, dimension, where), where)


def multi_hot(labels: Any, logits: Any, n_classes: int, vocabulary: Vocabulary | None, where: str) -> Any:
    """Several labels per example as `[D0, D1, ... DN, n_classes]`, 1 for each class an example has.

    Args:
        labels: such a tensor; or a sparse or ragged one of class indices, or of names if there is a vocabulary.
        logits: the logits, checked.
        n_classes: how many classes there are.
        vocabulary: their names.
        where: names the head.
    """
    labels = present(labels, where)
    if isinstance(labels, tf.RaggedTensor):
        labels = labels.to_sparse()
    if isinstance(labels, tf.SparseTensor):
        return dense_labels(_from_sparse(labels, n_classes, vocabulary, where), logits, n_classes, where)
    labels = dense_labels(labels, logits, n_classes, where)
    if labels.dtype == tf.string:
        raise UsageError(
            f"{where}: labels of strings must be a SparseTensor or a RaggedTensor, the classes of each example; got a "
            "dense Tensor. Make one with tf.sparse.from_dense or tf.ragged.constant."
        )
    if labels.dtype == tf.bool:
        labels = tf.cast(labels, tf.int64)
    text = (
        f"{where}: labels must be an integer indicator Tensor with values in [0, 1]: 1 where an example is of a class."
    )
    return require(labels, lambda value: (value >= 0) & (value <= 1), text)


def _from_sparse(labels: Any, n_classes: int, vocabulary: Vocabulary | None, where: str) -> Any:
    if labels.dtype == tf.string:
        if vocabulary is None:
            raise WrongKind(
                f"{where}: the labels are strings, and the head has no label_vocabulary. Pass label_vocabulary=[...]: "
                f"the {n_classes} classes by name."
            )
        ids = vocabulary.ids(labels.values, where)
    elif labels.dtype.is_integer:
        text = f"{where}: labels must be an integer SparseTensor with values in [0, {n_classes})."
        values = tf.cast(labels.values, tf.int64)
        ids = require(values, lambda value: (value >= 0) & (value < n_classes), text)
    else:
        raise UsageError(
            f"{where}: Labels dtype should be integer. Instead got {labels.dtype}. Sparse labels are class indices, or "
            "names from label_vocabulary."
        )
    places = tf.concat([labels.indices[:, :-1], ids[:, tf.newaxis]], axis=1)
    shape = tf.concat([labels.dense_shape[:-1], [n_classes]], axis=0)
    hot = tf.minimum(tf.scatter_nd(places, tf.ones_like(ids), shape), 1)  # a class may be named twice
    return tf.ensure_shape(hot, [*labels.shape[:-1], n_classes]) if labels.shape.rank else hot


def _strings(labels: Any, where: str) -> Any:
    if labels.dtype != tf.string:
        raise WrongKind(
            f"{where}: Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}. Leave "
            "label_vocabulary out if the labels are class indices."
        )
    return labels


def _float(labels: Any, where: str) -> Any:
    if labels.dtype == tf.string:
        raise UsageError(
            f"{where}: the labels must be numbers, got strings. For names of classes give BinaryClassHead or "
            "MultiClassHead a label_vocabulary; numbers that were read as text become some with tf.strings.to_number."
        )
    return tf.cast(labels, tf.float32)
