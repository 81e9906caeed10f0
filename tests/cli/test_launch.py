"""`lightwell launch`: real processes, their lines, their ends, the exit code."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import children

from lightwell.cli import main as command

# Tasks that need no TensorFlow: the launcher knows nothing of it either.
_SAYS = """
import json, os, sys, time
place = json.loads(os.environ["TF_CONFIG"])["task"]
print("I am", place["type"], place["index"], sys.argv[1:], flush=True)
"""
_FALLS = (
    _SAYS
    + """
mark = os.path.join(os.path.dirname(__file__), "fell")
if place["type"] == "worker" and not os.path.exists(mark):
    open(mark, "w").close()
    sys.exit("no luck")
"""
)
_STAYS = (
    _SAYS
    + """
import signal
def leave(number, frame):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
if place["type"] == "chief" and "fall" in sys.argv:
    time.sleep(1)
    sys.exit(7)
time.sleep(300)
"""
)


def program(folder: Path, text: str) -> str:
    folder.joinpath("program.py").write_text(text)
    return str(folder / "program.py")


def launched(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lightwell", "launch", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
    )


def test_dry_run_prints_the_place_of_each_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [program(tmp_path, _SAYS), "--workers", "2", "--ps", "1", "--evaluator", "--dry-run", "--", "--steps", "9"]
    assert command.main(["launch", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[::2] == ["# ps 0", "# chief", "# worker 0", "# worker 1", "# evaluator"]
    places = []
    for line in lines[1::2]:
        setting, *rest = shlex.split(line)
        assert rest == ["lightwell", "run", words[0], "--steps", "9"]
        places.append(json.loads(setting.removeprefix("TF_CONFIG=")))
    assert [tuple(place["task"].values()) for place in places] == [
        ("ps", 0),
        ("chief", 0),
        ("worker", 0),
        ("worker", 1),
        ("evaluator", 0),
    ]
    cluster = places[0]["cluster"]
    assert all(place["cluster"] == cluster for place in places)
    addresses = [address for job in cluster.values() for address in job]
    assert {kind: len(job) for kind, job in cluster.items()} == {"ps": 1, "chief": 1, "worker": 2}
    assert len(set(addresses)) == 4
    assert all(re.fullmatch(r"localhost:\d+", address) for address in addresses)


def test_without_servers_the_evaluator_stands_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [program(tmp_path, _SAYS), "--workers", "1", "--ps", "0", "--evaluator", "--dry-run"]
    assert command.main(["launch", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[::2] == ["# chief", "# worker 0", "# evaluator"]
    jobs = [list(json.loads(shlex.split(line)[0].removeprefix("TF_CONFIG="))["cluster"]) for line in lines[1::2]]
    assert jobs == [["chief", "worker"], ["chief", "worker"], ["evaluator"]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "name one program: a script, or a module with -m"),
        (["x.py", "--workers", "-1"], "must be a whole number of at least 0, got '-1'"),
        (["x.py", "--workers", "two"], "must be a whole number of at least 0, got 'two'"),
        (["x.py", "--steps", "5"], "unrecognized arguments: --steps 5; what is meant for the program goes after --"),
    ],
)
def test_mistakes_are_told(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        command.main(["launch", *words])
    assert leaving.value.code == 2
    assert text in capsys.readouterr().err


def test_a_program_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["launch", str(tmp_path / "none.py"), "--workers", "1"]) == 2
    assert "lightwell launch: there is no file" in capsys.readouterr().err


def test_every_line_has_its_task_and_a_task_that_dies_is_started_again(tmp_path: Path) -> None:
    process = launched(program(tmp_path, _FALLS), "--workers", "1", "--restart", "--", "--steps", "9")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert sorted(line for line in out.splitlines() if "I am" in line) == [
        "chief    | I am chief 0 ['--steps', '9']",
        "ps 0     | I am ps 0 ['--steps', '9']",
        "worker 0 | I am worker 0 ['--steps', '9']",
        "worker 0 | I am worker 0 ['--steps', '9']",
    ]
    assert "worker 0 | no luck" in err
    assert "launch   | worker 0 died (exit code 1); started again, 1 of 3. At most the steps since" in err
    assert "launch   | all tasks have ended\n" in err


def test_the_death_of_the_chief_ends_all_and_its_code_is_told(tmp_path: Path) -> None:
    process = launched(program(tmp_path, _STAYS), "--ps", "1", "--", "fall")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 7, err
    assert "chief died (exit code 7); --restart would start it again" in err
    assert "nothing can go on without chief: ending ps 0" in err
    assert "all tasks have ended; exit code 7" in err


def test_an_interrupt_ends_all(tmp_path: Path) -> None:
    process = launched(program(tmp_path, _STAYS), "--ps", "0")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == "chief | I am chief 0 []\n"
        assert process.stdout.readline() == "chief | ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "chief | saved\n"
        assert process.wait(timeout=300) == 130
        assert "interrupted: ending chief" in process.stderr.read()
