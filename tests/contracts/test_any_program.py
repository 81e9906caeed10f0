"""Of programs and schedules drawn at random, fused and single steps agree in all bits, compiled ones but for the last
digits, and looking changes nothing."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from tests.conftest import LogLines
from tests.contracts.programs import UNDRAWN, Drawn, Schedule, programs, schedules, trained
from tests.faces import COMPILED, FUSED, SINGLE

FEW = hypothesis.settings(
    max_examples=4,  # some seconds each
    deadline=None,
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)

MANY = hypothesis.settings(FEW, max_examples=40)
FEWER = hypothesis.settings(FEW, max_examples=2, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])


def _trained(face: Any, drawn: Drawn, schedule: Schedule) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return trained(face, Path(folder) / "model_dir", drawn, schedule)


@FEW
@hypothesis.given(drawn=programs(), schedule=schedules())
@hypothesis.example(
    drawn=Drawn(("one function called twice",), "plain", "gradient descent"),
    schedule=Schedule(watches=(2,), hook=0, checkpoints=9, summaries=7, calls=(40,)),
)
def test_fused_and_single_agree_and_looking_changes_nothing(drawn: Drawn, schedule: Schedule) -> None:
    _check_agreement(drawn, schedule)


@pytest.mark.slow
@MANY
@hypothesis.given(drawn=programs(), schedule=schedules())
def test_many_more_agree(drawn: Drawn, schedule: Schedule) -> None:
    _check_agreement(drawn, schedule)


def _check_agreement(drawn: Drawn, schedule: Schedule) -> None:
    fused, single = _trained(FUSED, drawn, schedule), _trained(SINGLE, drawn, schedule)
    for what in single:
        assert fused[what] == single[what], what
    if schedule.watches or schedule.hook:
        alone = _trained(FUSED, drawn, dataclasses.replace(schedule, watches=(), hook=0))
        assert alone["weights"] == single["weights"]
        assert alone["losses"] == single["losses"]


@FEWER
@hypothesis.given(drawn=programs(UNDRAWN), schedule=schedules(4, 40))
@hypothesis.example(
    drawn=Drawn(("batch normalization",), "shuffled", "Adam"),
    schedule=Schedule(watches=(25,), hook=0, checkpoints=30, summaries=28, calls=(90, 40)),
)
def test_compiled_and_fused_agree_but_for_the_last_digits(drawn: Drawn, schedule: Schedule, log: LogLines) -> None:
    log.lines.clear()
    compiled = _trained(COMPILED, drawn, schedule)
    if schedule.calls == (90, 40):
        assert log.having("into one computation")
    # Adam divides gradients by their size: the last digits of a small one are more than last digits of a step.
    _check_close(compiled, _trained(FUSED, drawn, schedule), 1e-5 if drawn.optimizer == "Adam" else 1e-6)


def _check_close(ours: Any, others: Any, within: float, where: str = "") -> None:
    """Everything equal; numbers with fractions nearly."""
    assert type(ours) is type(others), where
    if isinstance(ours, dict):
        assert list(ours) == list(others), where
        for key in ours:
            _check_close(ours[key], others[key], within, f"{where}/{key}")
    elif isinstance(ours, tuple) and len(ours) == 3 and ours[0] == "float32":  # type, shape and bits
        assert ours[:2] == others[:2], where
        np.testing.assert_allclose(
            *(np.frombuffer(bits, np.float32) for bits in (ours[2], others[2])), rtol=within, atol=within, err_msg=where
        )
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(others), where
        for place, (one, other) in enumerate(zip(ours, others, strict=True)):
            _check_close(one, other, within, f"{where}[{place}]")
    elif isinstance(ours, float):
        np.testing.assert_allclose(ours, others, rtol=within, atol=within, err_msg=where)
    else:
        assert ours == others, where
