"""Heads do what those of tf.estimator 2.15 did: losses, metrics, predictions, signatures and twenty training steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.model.heads import measure
from tests.model.heads.cases import CASES, KINDS, OLD_CASES
from tests.parity import recordings

import lightwell as lw

RECORDED = recordings.load_json("heads")["cases"]
OLD_RECORDED = recordings.load_json("old_heads")["cases"]


def assert_same(ours: Any, recorded: Any, place: str = "", close: float = 1e-5) -> None:
    """Equal, names and their order included, but for the last bits of numbers."""
    ours = json.loads(json.dumps(ours)) if not place else ours
    if isinstance(recorded, dict):
        assert list(ours) == list(recorded), place
        for key in recorded:
            assert_same(ours[key], recorded[key], f"{place}/{key}", close)
    elif isinstance(recorded, list):
        assert len(ours) == len(recorded), place
        for number, pair in enumerate(zip(ours, recorded, strict=True)):
            assert_same(*pair, f"{place}[{number}]", close)
    elif isinstance(recorded, float):
        assert ours == pytest.approx(recorded, rel=close, abs=close, nan_ok=True), place
    else:
        assert ours == recorded, place


def test_every_case_is_recorded() -> None:
    assert list(CASES) == list(RECORDED)
    assert list(OLD_CASES) == list(OLD_RECORDED)


@pytest.mark.parametrize("name", CASES)
def test_values_at_hand(name: str) -> None:
    found, recorded = measure.outside(lw, CASES[name]), RECORDED[name]["outside"]
    if isinstance(CASES[name].labels, dict):  # several heads: there only the last batch was in the metrics of each
        found["metrics"], recorded = found["metrics"][:2], {**recorded, "metrics": recorded["metrics"][:2]}
    assert_same(found, recorded)


@pytest.mark.parametrize("name", CASES)
def test_specs(name: str) -> None:
    found, recorded = measure.specs(lw, CASES[name]), RECORDED[name]["specs"]
    if isinstance(CASES[name].labels, dict):  # several heads: scopes of their ops are shorter here
        found, recorded = (
            {mode: {key: value for key, value in spec.items() if key != "names"} for mode, spec in specs.items()}
            for specs in (found, recorded)
        )
    assert_same(found, recorded)


@pytest.mark.parametrize(
    ("name", "optimizer"),
    [
        *((name, "adam") for name in KINDS),
        *(pytest.param(name, "sgd", marks=pytest.mark.slow) for name in CASES),
    ],
)
def test_twenty_steps(name: str, optimizer: str, tmp_path: Path) -> None:
    found, recorded = measure.trained(lw, CASES[name], optimizer, tmp_path), RECORDED[name][optimizer]
    # Adam divides a small gradient by its own size: the last bit of one shows in the weights, though not in the loss.
    close = {"rows": 1e-4, "variables": 1e-4} if optimizer == "adam" else {}
    for key in recorded:
        assert_same({key: found[key]}, {key: recorded[key]}, close=close.get(key, 1e-5))


@pytest.fixture
def old_module() -> Iterator[Any]:
    with lw.install():
        from tensorflow_estimator.python.estimator.canned import head

        yield head


@pytest.mark.parametrize("name", OLD_CASES)
def test_heads_of_tensorflow_1(name: str, old_module: Any) -> None:
    case, recorded = OLD_CASES[name], OLD_RECORDED[name]
    assert_same(measure.old_losses(old_module, case), recorded["losses"])
    found, specs = measure.specs(old_module, case), recorded["specs"]
    for spec in (found["eval"], specs["eval"]):
        spec["metrics"] = sorted(spec["metrics"])  # the results of an evaluation are sorted, too
    assert_same(found, specs)
