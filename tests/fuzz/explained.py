"""Differences that are known and right, each with the reason a user would be given.

A row is a name, the reason, and a test of the program and the difference. It needs proof by running, in its comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.compare import Difference
from tests.fuzz.spec import Spec


@dataclass(frozen=True)
class Explained:
    """A difference that is known.

    Attributes:
        name: a short name, for the table at the end.
        reason: why it is right.
        fits: whether a difference of a program, in a way, is this one.
    """

    name: str
    reason: str
    fits: Callable[[Spec, str, Difference], bool]


TABLE: tuple[Explained, ...] = (
    Explained(
        "no queue",
        "numpy_input_fn hands arrays over without a queue, so no summary tells how full one is.",
        lambda spec, way, difference: (
            "queue" in spec.tags() and difference.kind == "value:events" and "fraction_over" in difference.where
        ),
    ),
    Explained(
        "one-shot iterator of a table",
        "The original refuses a one-shot iterator over a dataset with a lookup table; Lightwell runs it.",
        lambda spec, way, difference: (
            spec.handed.kind == "by_one_shot_iterator" and "Cannot capture a stateful node" in difference.other
        ),
    ),
    Explained(
        # Seed 199: a CheckpointSaverHook for another folder shares the model's Saver, and removes its checkpoints.
        "checkpoints that are gone",
        "Where all checkpoints that the state file names are gone, the original trains on with an error, but evaluates "
        "weights that were never trained. Lightwell refuses both.",
        lambda spec, way, difference: "names are all gone" in difference.ours,
    ),
    Explained(
        # Seed 4009. The original's error is an accident (a path that is None), and another one in `evaluate`.
        "warm start from nothing",
        "A warm start from a folder without a checkpoint raises one error that says so, in every verb.",
        lambda spec, way, difference: (
            "has no checkpoint. Expected the model_dir" in difference.ours and "got None" in difference.other
        ),
    ),
    Explained(
        # Seed 644: the initial value of `baseline/bias` waits for IteratorGetNext in the original's graph.
        "a baseline that loses a batch",
        "The first value of a BaselineRegressor's bias depends on a batch in the original: of a one-shot iterator the "
        "first batch is lost, and training ends a step early.",
        lambda spec, way, difference: (
            any(model.kind.startswith("baseline") for model in spec.canned)
            and spec.handed.kind == "by_one_shot_iterator"
        ),
    ),
    Explained(
        "a baseline that cannot start",
        "The original makes slots of a BaselineRegressor that read a batch before the iterator is there, and fails.",
        lambda spec, way, difference: (
            any(model.kind.startswith("baseline") for model in spec.canned)
            and "FailedPreconditionError" in difference.other
            and "IteratorGetNext" in difference.other
        ),
    ),
    Explained(
        # Seed 50883: the original stands still in the run of its init op (`SessionManager.prepare_session`, by
        # faulthandler after 20, 30 and 60 s, in each of six runs). In its graph `baseline/bias/Assign` waits for
        # `baseline/zeros`, that for the checks that all features have as many rows, and these for
        # `fifo_queue_DequeueUpTo`; the threads that fill the queue start after the init op. Two features, four rows and
        # SGD are enough, for both baselines. With one feature there is no check, and the v1 face has an initial value
        # that waits for none: the original trains there, to Lightwell's numbers. Seeds 51233 and 51342, which this row
        # takes in as well, stand still in the same place.
        "a baseline that waits for its queue",
        "The first value of a baseline's bias waits in the original for a batch of a queue that nothing fills yet.",
        lambda spec, way, difference: (
            difference.kind == "hang"
            and difference.ours == "False"
            and spec.handed.kind == "numpy_inputs"
            and bool(spec.data["extras"])
            and any(model.kind.startswith("baseline") and model.args["face"] == "v2" for model in spec.canned)
        ),
    ),
    Explained(
        # Seed 50207 reaches 1e10 in its fifth step and infinity in its sixth. The original by itself, with and without
        # its oneDNN kernels (TF_ENABLE_ONEDNN_OPTS), differs there by 2e-4; Lightwell differs from it by 3e-5.
        "a training that diverges",
        "Where numbers grow beyond a million, so does the rounding of another TensorFlow's kernels.",
        lambda spec, way, difference: (
            way in ("single", "mirrored") and difference.kind.startswith("value:") and _diverges(difference)
        ),
    ),
)


def _diverges(difference: Difference) -> bool:
    """Whether both sides of a difference have a number beyond a million."""
    return all(
        any(abs(float(number)) > 1e6 for number in re.findall(r"-?\d+\.\d*(?:e[+-]\d+)?", side))
        for side in (difference.ours, difference.other)
    )


def explained(spec: Spec, way: str, difference: Difference) -> Explained | None:
    """The row that a difference falls under."""
    return next((row for row in TABLE if row.fits(spec, way, difference)), None)
