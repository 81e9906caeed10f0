"""Taps in serving: a signature that returns values by path beside the predictions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import UsageError
from lightwell.outputs import PredictOutput
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import as_list, make_request

SIGNATURE = "taps"


def tapped_output(program: Program, taps: Any, doing: str) -> PredictOutput:
    """The predictions and the values of some paths, by name.

    Args:
        program: a prediction program whose graph may still grow.
        taps: selections, as in `predict(taps=...)`.
        doing: the verb, for errors.

    Raises:
        PathError: a selection means nothing in this program.
        UsageError: one cannot be returned by a server.
    """
    where, asked = f"{doing}(taps=...)", as_list(taps)
    reduced = next((one for one in asked if isinstance(one, Reduction)), None)
    if reduced is not None:
        raise UsageError(
            f"{where}: {reduced.spelled} is read in Python, and a signature gives tensors. Name the path itself."
        )
    if SIGNATURE in (program.spec.export_outputs or {}):
        raise UsageError(
            f"{where}: the model's export_outputs has a signature {SIGNATURE!r} already. Rename that, or leave "
            "taps out."
        )
    tapped = make_request(program, asked, where, as_taps=True).fetches
    with program.graph.as_default(), tf.name_scope("lightwell/taps"):
        # A signature is no place for a variable, and two names in it cannot be one tensor for every reader.
        values = {path: tf.identity(value) for path, value in tapped.items()}
    return PredictOutput({**PredictOutput(program.spec.predictions).outputs, **values})
