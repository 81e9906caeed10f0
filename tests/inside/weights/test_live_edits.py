"""`step.edit`: a watch changes weights between two steps, also of a training whose steps are fused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import tiny

import lightwell as lw


def test_the_next_step_computes_with_it_and_the_next_checkpoint_tells(tmp_path: Path) -> None:
    seen: dict[int, tuple[float, float]] = {}

    def clear(step: Any) -> None:
        step.edit("weights/w", 0.0)
        step.edit("b", lambda present: present + 1)

    def look(step: Any) -> None:
        seen[step.global_step] = float(step["weights/w"]), float(step["updates/weights/w"])

    est = tiny.estimator(tmp_path, save_checkpoints_steps=5)
    hooks = [
        lw.Watch("loss", at=[3, 8, 10], do=clear),
        lw.Watch("weights/w", "updates/weights/w", at=[3, 4, 9], do=look),
    ]
    est.train(tiny.data, steps=10, hooks=hooks)
    assert seen[3][0] > 1
    for step in (4, 9):
        assert seen[step][0] == pytest.approx(seen[step][1]) != 0, "what the step changed, from the edited weight on"
    rows = {row.checkpoint: [str(edit) for edit in row.edits] for row in est.lineage()}
    assert rows["model.ckpt-5"][0].startswith("weights/w set at step 3: 1 of 1 numbers, by 1.")
    assert [edit.partition(":")[0] for edit in rows["model.ckpt-10"]] == [
        "weights/w set at step 8",
        "weights/b set at step 8",
    ]
    # The last edit came after the checkpoint of its step was saved: that one stays, and another has it.
    assert [edit.partition(":")[0] for edit in rows["model.ckpt-edit1-10"]] == [
        "weights/w set at step 10",
        "weights/b set at step 10",
    ]
    assert float(est.weights["w"]) == 0.0
    assert est.lineage().newest == "model.ckpt-edit1-10"
    est.train(tiny.data, steps=1)
    assert est.lineage()[-1].parent == "model.ckpt-edit1-10"


def test_what_is_wrong(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)
    kept: list[Any] = []
    wrong: list[tuple[Any, str]] = [
        (lambda step: step.edit("weights/v", 0), r"PathError.*no weight 'weights/v' in this model. The nearest are"),
        (
            lambda step: step.edit("w", np.zeros(2)),
            r"UsageError.*edit of weights/w: expected the shape \[\], got \[2\]",
        ),
        (lambda step: step.edit("w", 1j), r"UsageError.*expected values of type float32, got complex128"),
    ]
    for do, text in wrong:
        with pytest.raises(lw.errors.WatchError, match=text):
            est.train(tiny.data, steps=2, hooks=[lw.Watch("loss", every=1, do=do)])
    with pytest.raises(lw.errors.WatchError, match=r"weights are changed while they are trained; this is 'eval'"):
        est.evaluate(tiny.once, hooks=[lw.Watch("loss", every=1, do=lambda step: step.edit("w", 0))])
    est.train(tiny.data, steps=1, hooks=[lw.Watch("loss", every=1, do=kept.append)])
    with pytest.raises(lw.errors.UsageError, match="is over, and its weights are saved"):
        kept[0].edit("w", 0)
