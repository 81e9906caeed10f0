"""`RunConfig` makes of settings and `TF_CONFIG`s what tf.estimator 2.15 made of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.parity import recordings, run_configs

import lightwell as lw

RECORDED = recordings.load_json("run_config")
# A setting that is text where a number belongs fails the range check like any other bad value here.
DIFFERENT: dict[str, dict[str, Any]] = {
    f"{name}='a'": {"raises": "ValueError"}
    for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max")
}


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, Any]]:
    return run_configs.all_outcomes(lw)


def test_defaults(ours: dict[str, dict[str, Any]]) -> None:
    assert ours["default"]["config"] == RECORDED["default"]


def test_every_case_is_recorded(ours: dict[str, dict[str, Any]]) -> None:
    assert [name for name in ours if name != "default"] == list(RECORDED["cases"])


@pytest.mark.parametrize("name", RECORDED["cases"])
def test_case(name: str, ours: dict[str, dict[str, Any]]) -> None:
    expected = DIFFERENT.get(name, RECORDED["cases"][name])
    if expected.get("config"):
        expected = {"config": {**RECORDED["default"], **expected["config"]}}
    elif "config" in expected and expected["config"] is not None:
        expected = {"config": RECORDED["default"]}
    assert ours[name] == expected


@pytest.fixture(scope="module")
def opened() -> dict[str, Any]:
    return run_configs.open_outcomes(lw)


def test_every_way_in_is_recorded(opened: dict[str, Any]) -> None:
    assert list(opened) == list(RECORDED["open"])


@pytest.mark.parametrize("name", RECORDED["open"])
def test_what_a_program_may_do_with_a_config(name: str, opened: dict[str, Any]) -> None:
    assert opened[name] == RECORDED["open"][name]
