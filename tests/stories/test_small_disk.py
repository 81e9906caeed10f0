"""A disk that is full, or cannot be written: what is told, what is safe, and what goes on all the same."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import children
from tests.contracts.sources import ROOT

IN_A_NAMESPACE = ["unshare", "--map-root-user", "--mount"]
FULL = {errno.ENOSPC, errno.EFBIG}


@pytest.fixture(scope="module")
def told(tmp_path_factory: Any) -> dict[str, dict[str, Any]]:
    probe = [*IN_A_NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        can_mount = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        can_mount = False
    base = tmp_path_factory.mktemp("disks")
    script = [sys.executable, "-m", "tests.stories.small_disk", str(base), "can-mount" if can_mount else "cannot"]
    done = subprocess.run(
        [*(IN_A_NAMESPACE if can_mount else []), *script],
        cwd=ROOT,
        env=children.environment(ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def litter(files: list[str]) -> list[str]:
    return [name for name in files if "temp" in name or "tmp" in name or "writing" in name]


@pytest.mark.parametrize("name", ["nothing can be written", "no room for the graph"])
def test_a_training_that_cannot_begin_says_that_nothing_is_lost(told: Any, name: str) -> None:
    one = told[name]
    assert (one["kind"], one["errno"] in FULL) == ("ModelDirError", True), one
    assert "No checkpoint can be written to model_dir " in one["text"], one
    assert "Nothing has been trained yet; choose another model_dir, or mend its rights or space." in one["text"]
    assert litter(one["files"]) == []
    assert "description.json" not in one["files"]


@pytest.mark.parametrize(
    ("name", "what", "last"),
    [
        ("a checkpoint", "The checkpoint of step 4 could not be written to ", 2),
        ("the graph of a second run", "The graph could not be written to ", 2),
        ("the first checkpoint of a second run", "The checkpoint of step 2 could not be written to ", 2),
    ],
)
def test_the_last_complete_checkpoint_is_told_also_one_of_an_earlier_run(
    told: Any, name: str, what: str, last: int
) -> None:
    one = told[name]
    assert (one["kind"], one["errno"] in FULL) == ("ModelDirError", True), one
    assert what in one["text"]
    assert f"is of step {last}. Free space or mend the rights, then start the same training again" in one["text"]
    assert litter(one["files"]) == []
    assert {"model.ckpt-2.index", "model.ckpt-2.data-00000-of-00001"} <= set(one["files"])


def test_with_room_again_the_training_goes_on(told: Any) -> None:
    one = told["there is room again"]
    assert "kind" not in one, one
    assert "model.ckpt-6.index" in one["files"]
    assert told["evaluate again"]["result"]["global_step"] == 6


def test_an_evaluation_returns_its_metrics_though_they_cannot_be_written(told: Any) -> None:
    one = told["evaluate"]
    assert one["result"]["global_step"] == 2
    assert set(one["result"]) == {"loss", "mae", "global_step"}
    assert any(line.startswith("evaluate: Events for TensorBoard cannot be written to ") for line in one["logged"])
    assert any(name.startswith("events.out") for name in told["evaluate again"]["files"])
    assert told["evaluate again"]["logged"] == []


@pytest.mark.parametrize("name", ["read-only evaluate", "read-only evaluate, hooks"])
def test_nor_does_it_need_to_write_at_all(told: Any, name: str) -> None:
    one = told[name]
    assert one["result"]["global_step"] == 6, one
    (line,) = one["logged"]
    assert line.startswith("evaluate: Events for TensorBoard cannot be written to ")
    assert line.endswith("mend the rights of the directory. The metrics are returned all the same.")


def test_what_only_reads_needs_no_rights_and_what_writes_says_so(told: Any) -> None:
    assert told["read-only predict"]["result"] == "8"
    assert told["read-only train"]["kind"] == "ModelDirError"
    assert "cannot be written" in told["read-only train"]["text"]


def test_a_file_in_the_place_of_the_directory_for_events(tmp_path: Path) -> None:
    from tests import tiny

    made = tiny.trained(tmp_path)
    (tmp_path / "eval").write_text("in the way")
    assert made.evaluate(tiny.once)["global_step"] == 2
