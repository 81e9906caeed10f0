"""Prediction: a generator over examples, or over batches.

An ordinary generator: between two items it holds a session, but no graph or session is entered, so the caller's eager
code works, two generators interleave, and one that is dropped closes its session.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.build import Draft
from lightwell.engine.program import Program
from lightwell.engine.runner import END_OF_INPUT, Runner
from lightwell.errors import ModelFnError, NoRows, UsageError
from lightwell.log import logger
from lightwell.loops.task import Task


def task_of_prediction(program: Program, predict_keys: Sequence[str] | str | None, tapped: Any) -> Task:
    """What to keep of each batch: the predictions asked for and, if there are taps, what they read.

    With taps, `predict_keys=[]` asks for no predictions at all: nothing past the last tap is computed.
    """
    only_taps = tapped is not None and predict_keys is not None and not predict_keys
    predictions = {} if only_taps else _chosen(program.spec.predictions, predict_keys)
    return Task(
        (),
        predictions,
        keep={"predictions": predictions, "taps": {} if tapped is None else tapped},
        may_keep=program.spec.predictions,
    )


def predict(run: Runner, by_example: bool, rows: Callable[[Any, Any, bool], Iterator[Any]] | None) -> Iterator[Any]:
    """Yields predictions, example by example or batch by batch, in the order of the data.

    Args:
        run: a run of a task of prediction.
        by_example: whether to yield examples, rather than batches.
        rows: makes what to yield of a batch's predictions and tapped values; None where there are no taps.
    """
    try:
        run.start()
        try:
            while not run.should_stop:
                kept = run.advance()
                if by_example and rows is None and kept.is_even:
                    yield from _examples(run.kept_structure(kept.joined())["predictions"])
                    continue
                for step in range(kept.steps):
                    batch = run.kept_structure(kept.of_step(step))
                    if rows is not None:
                        yield from rows(batch["predictions"], batch["taps"], by_example)
                    elif by_example:
                        yield from _examples(batch["predictions"])
                    else:
                        yield batch["predictions"]
        except END_OF_INPUT:
            pass
    except BaseException as error:
        run.finish(error)
        raise
    run.finish()


def _chosen(predictions: Any, keys: Sequence[str] | str | None) -> Any:
    """The predictions asked for.

    Raises:
        UsageError: keys were given for predictions that have none, or none of them is there.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise UsageError(
            f"predict: predict_keys={keys!r} was given, but model_fn's predictions are a single tensor without keys; "
            "predict_keys argument is not valid in case of non-dict predictions. Leave predict_keys out."
        )
    wanted = [keys] if isinstance(keys, str) else list(keys)
    chosen = {key: value for key, value in predictions.items() if key in wanted}
    if not chosen:
        raise UsageError(
            f"predict: Expected to run at least one output from {sorted(predictions)}, provided predict_keys={wanted}."
        )
    return chosen


def _examples(batch: Any) -> Iterator[Any]:
    if not isinstance(batch, Mapping):
        batch_length({"predictions": batch})
        return iter(batch)
    batch_length(batch)
    # Views, which an array gives faster than by index; and all without a line of Python for each row.
    named = (zip(itertools.repeat(key), values) for key, values in batch.items())
    return map(dict, zip(*named, strict=True))


def batch_length(batch: Mapping[str, Any]) -> int:
    """The number of examples in a batch of predictions.

    Raises:
        NoRows: one has no batch dimension.
        ModelFnError: they differ in it.
    """
    lengths = {}
    for key, value in batch.items():
        if not np.ndim(value):
            raise NoRows(
                f"predict: predictions[{key!r}] has no batch dimension (it is {value!r}), so it cannot be given out "
                "example by example. Pass yield_single_examples=False, or leave it out with predict_keys."
            )
        lengths[key] = len(value)
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths.values()))
        other = next(key for key, length in lengths.items() if length != first)
        raise ModelFnError(
            f"predict: Batch length of predictions should be same. {other} has different batch length than others: the "
            f"first dimensions are {lengths}. Pass yield_single_examples=False to get whole batches, or choose "
            "some with predict_keys."
        )
    return next(iter(lengths.values()), 0)


def warn_if_endless(drafted: Draft) -> None:
    """Says so where the input has no end, and prediction therefore none either."""
    graph = drafted.graph
    if drafted.inputs.initializers or graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        return
    if not any(op.type == "IteratorGetNext" for op in graph.get_operations()):
        logger.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
            "This is probably a mistake."
        )
