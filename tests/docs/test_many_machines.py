"""The page "Many machines": its program trains on a cluster by the page's own command, its resolver code works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import children
from tests.docs.page import read

from lightwell.cli import main as command

PAGE = read("many-machines.md")


def commands(folder: Path) -> list[list[str]]:
    for name in ("train.py", "together.py", "devices.py"):
        folder.joinpath(name).write_text(PAGE.file(name))
    return [list(one.words[1:]) for one in PAGE.commands() if one.words[:2] == ("lightwell", "launch")]


def test_dry_run_tells_who_each_task_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = commands(tmp_path)[1]
    monkeypatch.chdir(tmp_path)
    assert command.main(words) == 0
    names = [line for line in capsys.readouterr().out.splitlines() if line.startswith("# ")]
    assert names == ["# ps 0", "# chief", "# worker 0", "# worker 1", "# evaluator"]


@pytest.mark.slow
def test_its_program_trains_on_a_cluster(tmp_path: Path) -> None:
    words = commands(tmp_path)[0]
    ran = subprocess.run(
        [sys.executable, "-m", "lightwell", *words],
        cwd=tmp_path,
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    finished = json.loads((tmp_path / "runs/cluster/training_finished.json").read_text())
    assert 300 <= finished["global_step"] <= 304
    assert (tmp_path / "runs/cluster/eval").is_dir()


@pytest.mark.slow
def test_its_program_trains_together(tmp_path: Path) -> None:
    (words,) = [words for words in commands(tmp_path) if "together.py" in words]
    ran = subprocess.run(
        [sys.executable, "-m", "lightwell", *words],
        cwd=tmp_path,
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    finished = json.loads((tmp_path / "runs/together/training_finished.json").read_text())
    assert finished["global_step"] == 200
    assert (tmp_path / "runs/together/eval").is_dir()


def test_its_program_trains_on_devices(tmp_path: Path) -> None:
    commands(tmp_path)
    ran = subprocess.run(
        [sys.executable, "devices.py"],
        cwd=tmp_path,
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "runs/devices/model.ckpt-20.index").exists()


def test_the_settings_of_a_task_are_json() -> None:
    (block,) = PAGE.blocks("json")
    assert json.loads(block)["task"] == {"type": "worker", "index": 1}


def test_on_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    step = {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NODELIST": "n[1-2]"}
    for name, value in {**step, "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "TF_CONFIG": ""}.items():
        monkeypatch.setenv(name, value)
    space: dict[str, Any] = {}
    exec(PAGE.file("on_slurm.py"), space)
    (call,) = [line for line in PAGE.text.splitlines() if line.startswith("Call it as `set_tf_config(")]
    exec(call.split("`")[1], space)
    place = json.loads(os.environ["TF_CONFIG"])
    assert place["task"] == {"type": "worker", "index": 1}
    assert {kind: len(job) for kind, job in place["cluster"].items()} == {"ps": 1, "chief": 1, "worker": 2}
