"""Prediction: a generator over examples, or over batches.

An ordinary generator: between two items it holds a session, but no graph or session is entered, so the caller's eager
code works, two generators interleave, and one that is dropped closes its session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from lightwell.engine.build import Draft
from lightwell.engine.hooked_session import END_OF_INPUT, HookedSession
from lightwell.engine.pool import WarmRun
from lightwell.engine.program import Program
from lightwell.errors import ModelFnError, UsageError
from lightwell.log import logger


class Taps(Protocol):
    """Values to read beside the predictions."""

    fetches: dict[str, Any]

    def rows(self, predictions: Any, fetched: Mapping[str, Any], by_example: bool) -> Iterator[Any]:
        """What to yield for one batch."""


def predict(
    run: HookedSession | WarmRun,
    program: Program,
    *,
    predict_keys: Sequence[str] | str | None,
    by_example: bool,
    taps: Taps | None = None,
) -> Iterator[Any]:
    """Yields predictions, example by example or batch by batch, in the order of the data.

    With taps, `predict_keys=[]` asks for no predictions at all: nothing past the last tap is computed.
    """
    try:
        only_taps = taps is not None and predict_keys is not None and not predict_keys
        predictions = {} if only_taps else _chosen(program.spec.predictions, predict_keys)
        fetches = predictions if taps is None else {"predictions": predictions, "taps": taps.fetches}
        run.start()
        try:
            for batch in _batches(run, fetches, may_join=by_example and taps is None):
                if taps is not None:
                    yield from taps.rows(batch["predictions"], batch["taps"], by_example)
                elif by_example:
                    yield from _examples(batch)
                else:
                    yield batch
        except END_OF_INPUT:
            pass
    except BaseException as error:
        run.finish(error)
        raise
    run.finish()


def _batches(run: HookedSession | WarmRun, fetches: Any, may_join: bool) -> Iterator[Any]:
    """What each batch gives for the fetches; if they may be joined, for several batches in one."""
    chunks = run.chunks(fetches) if isinstance(run, WarmRun) else None
    if chunks is None:
        while not run.should_stop:
            yield run.step(fetches)
        return
    for chunk in chunks:
        if may_join and chunk.is_even:
            yield chunk.joined()
        else:
            yield from chunk.batches()


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
        yield from batch
        return
    for row in range(batch_length(batch)):
        yield {key: value[row] for key, value in batch.items()}


def batch_length(batch: Mapping[str, Any]) -> int:
    """The number of examples in a batch of predictions.

    Raises:
        ModelFnError: one has no batch dimension, or they differ in it.
    """
    lengths = {}
    for key, value in batch.items():
        if not np.ndim(value):
            raise ModelFnError(
                f"predict: predictions[{key!r}] has no batch dimension (it is {value!r}), so it cannot be given out "
                "example by example. Pass yield_single_examples=False, or leave it out with predict_keys."
            )
        lengths[key] = len(value)
    if len(set(lengths.values())) > 1:
        raise ModelFnError(
            f"predict: Batch length of predictions should be same; the first dimensions are {lengths}. "
            "Pass yield_single_examples=False to get whole batches, or choose some with predict_keys."
        )
    return next(iter(lengths.values()), 0)


def warn_if_endless(draft: Draft) -> None:
    """Says so where the input has no end, and prediction therefore none either."""
    if draft.inputs.initializers or draft.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        return
    if not any(op.type == "IteratorGetNext" for op in draft.graph.get_operations()):
        logger.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
            "This is probably a mistake."
        )
