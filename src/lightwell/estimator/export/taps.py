"""The signature `taps`, which returns values by path together with the predictions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.request import as_list, make_request
from lightwell.model.outputs import PredictOutput
from lightwell.run.engine.program import Program

SIGNATURE = "taps"


def tapped_output(program: Program, taps: Any, doing: str) -> PredictOutput:
    """The predictions and the values of some paths, by name.

    Args:
        program: a prediction program whose graph may still grow.
        taps: selections, as in `predict(taps=...)`.
        doing: the verb, for errors.

    Raises:
        PathError: a selection matches nothing in this program.
        UsageError: one cannot be returned by a server.
    """
    where, selections = f"{doing}(taps=...)", as_list(taps)
    reduced = next((one for one in selections if isinstance(one, Reduction)), None)
    if reduced is not None:
        raise UsageError(
            f"{where}: {reduced.spelled} is read in Python, and a signature gives tensors. Name the path itself."
        )
    if SIGNATURE in (program.spec.export_outputs or {}):
        raise UsageError(
            f"{where}: the model's export_outputs has a signature {SIGNATURE!r} already. Rename that, or leave "
            "taps out."
        )
    tapped = make_request(program, selections, where, as_taps=True).fetches
    with program.graph.as_default(), tf.name_scope("lightwell/taps"):
        # A signature cannot hold a variable, and some readers do not allow two names of one tensor.
        values = {path: tf.identity(value) for path, value in tapped.items()}
    return PredictOutput({**PredictOutput(program.spec.predictions).outputs, **values})
