"""`pandas_input_fn`: a DataFrame as the input of an Estimator, row by row in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.errors import InputFnError, NotAnArray, UsageError, WrongType
from lightwell.run.inputs.columns import column_of
from lightwell.run.inputs.row_batches import row_batches

_WHERE = "pandas_input_fn"


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Make an `input_fn` that yields the rows of a DataFrame in batches.

    Order, epochs and shuffling are those of `numpy_input_fn`. The frames are taken as they are now: later changes of
    them do not show, and they are never changed.

        input_fn = pandas_input_fn(frame[["age", "city"]], frame["bought"], batch_size=32, shuffle=False)
        estimator.evaluate(input_fn)

    Args:
        x: the features. `model_fn` gets a dict of the columns, in their order.
        y: the labels, with the index of `x`: a Series gives a tensor, a DataFrame a dict; None for no labels.
        batch_size: the number of rows in a batch. The last one may have fewer.
        num_epochs: how often to go over the rows; None goes on without end, in batches that are all full.
        shuffle: whether to shuffle; required. Use False to evaluate and predict.
        queue_capacity: out of how many rows shuffling draws the next; None or a negative number, out of all.
        num_threads: only for old programs, see `numpy_input_fn`. Leave it at 1.
        target_column: a name that no column of `x` may have while there are labels; it is used for nothing else.

    Returns:
        A function without arguments, as `numpy_input_fn` makes it.

    Raises:
        ValueError: `shuffle` is missing, the indexes differ, `x` has a column called `target_column`, or a number is
            out of range.
        TypeError: `x` is no DataFrame or `y` neither Series nor DataFrame; pandas is not installed. When called, the
            function raises TypeError for a column whose values cannot become a tensor.
    """
    batches = row_batches(
        _WHERE,
        batch_size=batch_size,
        num_epochs=num_epochs,
        shuffle=shuffle,
        queue_capacity=-1 if queue_capacity is None else queue_capacity,
        num_threads=num_threads,
    )
    pandas = _pandas()
    _check_frames(pandas, x, y)
    if y is not None and not isinstance(target_column, str):
        raise WrongType(f"{_WHERE}: target_column must be a string type, got {target_column!r}. Leave it out.")
    if y is not None and target_column in x:
        raise UsageError(
            f"{_WHERE}: Cannot use name {target_column} for target column: DataFrame already has a column with that "
            f"name: {x.columns}. Pass another target_column; or, if that column holds the labels, leave it out of x."
        )
    features, labels = _snapshot(pandas, x), None if y is None else _snapshot(pandas, y)

    def input_fn() -> Any:
        columns = [column_of(features[key], f"{_WHERE}: x[{key!r}]") for key in features.columns]
        if labels is None:
            return dict(zip(features.columns, batches.tensors(columns), strict=True))
        is_frame = isinstance(labels, pandas.DataFrame)
        by_name = [(f"{_WHERE}: y[{key!r}]", labels[key]) for key in labels.columns] if is_frame else []
        label_columns = [column_of(value, where) for where, value in by_name or [(f"{_WHERE}: y", labels)]]
        tensors = batches.tensors([*columns, *label_columns])
        of_x, of_y = dict(zip(features.columns, tensors, strict=False)), tensors[len(columns) :]
        return of_x, dict(zip(labels.columns, of_y, strict=True)) if is_frame else of_y[0]

    return input_fn


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise WrongType(
            f"{_WHERE} should not be called without pandas installed: pip install pandas; or use numpy_input_fn with a "
            "dict of arrays."
        ) from error
    return pandas


def _check_frames(pandas: Any, x: Any, y: Any) -> None:
    if not isinstance(x, pandas.DataFrame):
        raise _is_no_frame("x", x, "a pandas DataFrame")
    if y is not None and not isinstance(y, pandas.Series | pandas.DataFrame):
        raise _is_no_frame("y", y, "a pandas Series or DataFrame")
    if y is not None and not x.index.equals(y.index):
        raise InputFnError(
            f"{_WHERE}: Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
            "Take both from the same rows, or give y the index of x: y.set_axis(x.index)."
        )
    for what, frame in (("x", x), ("y", y)):
        if not isinstance(frame, pandas.DataFrame):
            continue
        twice = list(frame.columns[frame.columns.duplicated()])
        if twice:
            raise InputFnError(
                f"{_WHERE}: {what} has columns of the same name: {twice}. Each is a feature by its name: rename one."
            )
        if frame.columns.empty and (what == "y" or y is None):
            raise InputFnError(f"{_WHERE}: {what} has no columns. Pass a frame with at least one.")


def _is_no_frame(what: str, value: Any, expected: str) -> NotAnArray:
    kind = type(value).__name__
    lacks = "" if hasattr(value, "index") else f": {kind!r} object has no attribute 'index'"
    advice = "Make one with pandas.DataFrame(...)"
    if hasattr(value, "to_frame"):
        lacks = ": data must be either a numpy array or pandas DataFrame"
        advice = "A Series becomes one with .to_frame(name)"
    elif hasattr(value, "shape"):
        advice += ", or give arrays to numpy_input_fn"
    return NotAnArray(f"{_WHERE}: {what} must be {expected}; got {kind}{lacks}. {advice}.")


def _snapshot(pandas: Any, frame: Any) -> Any:
    """The frame as it is now, whatever is done to it later; since pandas 3 that costs no copy."""
    return frame.copy(deep=int(pandas.__version__.split(".")[0]) < 3)
