"""`numpy_input_fn`: arrays in memory as the input of an Estimator, row by row in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lightwell.errors import InputFnError, WrongType
from lightwell.run.inputs.columns import column_of, shape_of
from lightwell.run.inputs.row_batches import row_batches

_WHERE = "numpy_input_fn"


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Make an `input_fn` that yields the rows of arrays in batches.

    The order: without `shuffle`, that of the arrays, and epochs follow each other without a seam: a batch may hold the
    end of one and the start of the next. With `shuffle`, every epoch yields each row once, in a new random order: the
    next row is drawn out of the `queue_capacity` rows that come next. The order follows the seed of the graph
    (`RunConfig.tf_random_seed` in an Estimator): the same seed, the same order. It is not the order of the original's
    random queue, which hung on its threads, and mixed epochs.

    The arrays are read when the `input_fn` is called. They stay outside the graph, which is small whatever their size.

        input_fn = numpy_input_fn({"age": ages}, labels, batch_size=32, num_epochs=None, shuffle=True)
        estimator.train(input_fn, steps=1000)

    Args:
        x: the features: an array, or a dict of arrays of one length. The dict that `model_fn` gets is sorted by key.
        y: the labels: an array, a dict of arrays with other keys than `x`, or None for no labels.
        batch_size: the number of rows in a batch. The last one may have fewer.
        num_epochs: how often to go over the arrays; None goes on without end, in batches that are all full.
        shuffle: whether to shuffle; required. Use False to evaluate and predict.
        queue_capacity: out of how many rows shuffling draws the next; a negative number, out of all.
        num_threads: only for old programs. There are no threads, but as each of them brought its `num_epochs` epochs,
            every row comes `num_epochs * num_threads` times. Leave it at 1.

    Returns:
        A function without arguments. In the graph that is being built it makes tensors that hold the next batch
        whenever they are computed, and raise `tf.errors.OutOfRangeError` at the end: features, or
        `(features, labels)`. An `input_fn` of your own may call it and work on.

    Raises:
        ValueError: `shuffle` is missing, or a number is out of range. When called, the function raises ValueError for
            arrays of different lengths, empty dicts, an empty array, and keys that `x` and `y` share.
        TypeError: when called, `x` is neither an array nor a dict, or holds what cannot become a tensor.
    """
    batches = row_batches(
        _WHERE,
        batch_size=batch_size,
        num_epochs=num_epochs,
        shuffle=shuffle,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
    )

    def input_fn() -> Any:
        features, labels = _features(x), _labels(y)
        _check(features, labels, y)
        tensors = batches.tensors([column_of(value, where) for where, value in _with_names(features, labels)])
        of_x, of_y = tensors[: len(features)], tensors[len(features) :]
        batch: Any = dict(zip(features, of_x, strict=True)) if isinstance(x, dict) else of_x[0]
        if y is None:
            return batch
        return batch, dict(zip(labels, of_y, strict=True)) if isinstance(y, dict) else of_y[0]

    return input_fn


def _features(x: Any) -> dict[Any, Any]:
    if isinstance(x, np.ndarray):
        if not x.size:
            raise InputFnError(f"{_WHERE}: x cannot be an empty array, got one of shape {x.shape}. Give it some rows.")
        return {None: x}
    if not isinstance(x, dict):
        frame = " A DataFrame is for pandas_input_fn." if hasattr(x, "columns") else ""
        raise WrongType(
            f"{_WHERE}: x must be a dict or array; got {type(x).__name__}. Pass np.asarray(...) of it, or a dict of "
            f"arrays by the names of the features.{frame}"
        )
    if not x:
        raise InputFnError(f"{_WHERE}: x cannot be an empty dict. Give each feature a name: {{'x': array}}.")
    return _sorted(x, "x")


def _labels(y: Any) -> dict[Any, Any]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        return {None: y}
    if not y:
        raise InputFnError(f"{_WHERE}: y cannot be empty dict, use None instead. None stands for no labels.")
    return _sorted(y, "y")


def _sorted(arrays: dict[Any, Any], what: str) -> dict[Any, Any]:
    try:
        return {key: arrays[key] for key in sorted(arrays)}
    except TypeError as error:
        raise WrongType(
            f"{_WHERE}: the keys of {what} are sorted, so they must be of one type: {error}; the keys are "
            f"{list(arrays)}. Name features by strings."
        ) from error


def _check(features: Mapping[Any, Any], labels: Mapping[Any, Any], y: Any) -> None:
    twice = [key for key in features if key in labels and key is not None]
    if twice:
        raise InputFnError(
            f"{_WHERE}: {len(twice)} duplicate keys are found in both x and y: {set(twice)}. Name a label "
            "otherwise than the feature."
        )
    shapes = {where: shape_of(value, where) for where, value in _with_names(features, labels)}
    if len({shape[:1] for shape in shapes.values()}) > 1:
        of_x = {key: tuple(value.shape) for key, value in features.items()}
        of_y = {key: tuple(value.shape) for key, value in labels.items()}
        raise InputFnError(
            f"{_WHERE}: Length of tensors in x and y is mismatched. All elements in x and y must have the same "
            f"length.\nShapes in x: {of_x.get(None, of_x)}\n"
            f"Shapes in y: {None if y is None else of_y.get(None, of_y)}\n"
            "Cut the arrays to one length, or look where rows were lost."
        )


def _with_names(features: Mapping[Any, Any], labels: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """All arrays in the order of the batch's tensors, with a name for errors."""
    return [
        (f"{_WHERE}: {what}" if key is None else f"{_WHERE}: {what}[{key!r}]", value)
        for what, arrays in (("x", features), ("y", labels))
        for key, value in arrays.items()
    ]
