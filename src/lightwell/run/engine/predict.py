"""Prediction: a generator over examples, or over batches.

Between two items the generator has an open session, but no graph or session is entered: the caller's eager code works,
two generators interleave, and one that is dropped closes its session.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import ModelFnError, NoRows, UsageError
from lightwell.run.engine.build import Draft
from lightwell.run.engine.program import Program, TapReader
from lightwell.run.engine.runner import END_OF_INPUT, Runner
from lightwell.run.loops.task import Task


def task_of_prediction(program: Program, predict_keys: Sequence[str] | str | None) -> Task:
    """The outputs of each batch: the requested predictions and, if there are taps, the tapped values.

    With taps, `predict_keys=[]` computes no predictions at all, and nothing past the last tap.
    """
    only_taps = program.taps is not None and predict_keys is not None and not predict_keys
    predictions = {} if only_taps else _chosen(program.spec.predictions, predict_keys)
    return Task(
        (),
        predictions,
        outputs={"predictions": predictions, "taps": {} if program.taps is None else program.taps.fetches},
        possible_outputs=program.spec.predictions,
    )


def predict(run: Runner, by_example: bool, taps: TapReader | None) -> Iterator[Any]:
    """Yields predictions, example by example or batch by batch, in the order of the data.

    Args:
        run: a run of a task of prediction.
        by_example: whether to yield examples, rather than batches.
        taps: makes rows of a batch's predictions and tapped values; None where there are no taps.
    """
    try:
        run.start()
        try:
            while not run.should_stop:
                outputs = run.advance()
                if by_example and taps is None and outputs.is_even:
                    yield from _examples(run.output_structure(outputs.joined())["predictions"])
                    continue
                for step in range(outputs.steps):
                    batch = run.output_structure(outputs.of_step(step))
                    if taps is not None:
                        yield from taps.rows(batch["predictions"], batch["taps"], by_example)
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
    """The requested predictions.

    Raises:
        UsageError: the predictions have no keys, or none of these.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise UsageError(
            f"predict: predict_keys={keys!r} was given, but model_fn's predictions are a single tensor without keys; "
            "predict_keys argument is not valid in case of non-dict predictions. Leave predict_keys out."
        )
    names = [keys] if isinstance(keys, str) else list(keys)
    chosen = {key: value for key, value in predictions.items() if key in names}
    if not chosen:
        raise UsageError(
            f"predict: Expected to run at least one output from {sorted(predictions)}, provided predict_keys={names}."
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
