"""What `lightwell inspect` prints arrives whatever the reader can take, and shows names for what they are."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.cli.main import main

v1 = tf.compat.v1
EVIL = "red\x1b[31m\x07"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: Any) -> str:
    """A checkpoint with names that no graph allows, and a history."""
    directory = tmp_path_factory.mktemp("odd")
    with tf.Graph().as_default(), v1.Session() as session:
        names = (EVIL, "two\nlines", "dense/größe")
        variables = {name: v1.get_variable(f"w{i}", initializer=np.float32([1, i])) for i, name in enumerate(names)}
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(variables)
        for step in (1, 2):
            saver.save(session, str(directory / "model.ckpt"), global_step=step)
            session.run([variable.assign_add([0.5, 0.0]) for variable in variables.values()])
    return str(directory)


def _printed_in(encoding: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding))
    assert main(["inspect", *words]) == 0
    return raw.getvalue().decode(encoding)


def test_names_with_terminal_escapes_are_written_out(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", odd]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("red\\x1b[31m\\x07  ") for line in lines)
    assert any(line.startswith("two\\nlines  ") for line in lines)
    assert max(map(len, lines)) == 80
    assert main(["inspect", odd, EVIL]) == 0
    assert capsys.readouterr().out.startswith("weights/red\\x1b[31m\\x07\n  2 float32\n")
    assert main(["inspect", odd, "red"]) == 2
    assert "weights/red\\x1b[31m\\x07" in capsys.readouterr().err
    assert main(["inspect", odd, "--json"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_ascii_gets_ascii(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _printed_in("ascii", monkeypatch, odd)
    assert "\n" + "-" * 80 + "\n" in shown
    assert "dense/gr\\xf6\\xdfe " in shown
    detail = _printed_in("ascii", monkeypatch, odd, "dense/größe").splitlines()
    assert detail[0] == "weights/dense/gr\\xf6\\xdfe, of layers/dense"
    assert "|-" in detail[-3]
    assert "o" in detail[-3]
    assert detail[-1] == "    norm .#"
    assert "größe" in _printed_in("latin-1", monkeypatch, odd)


def test_a_reader_that_has_seen_enough(
    odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", closed)
        assert main(["inspect", odd]) == 0
    assert capsys.readouterr().err == ""


def test_a_full_disk_is_told(odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with open("/dev/full", "w") as full, monkeypatch.context() as patched:
        patched.setattr("sys.stdout", full)
        assert main(["inspect", odd]) == 1
    assert capsys.readouterr().err == "lightwell inspect: cannot write the output: No space left on device\n"


def test_ctrl_c_is_left_to_python_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.excepthook", None)
    monkeypatch.setattr("lightwell.cli.inspect_data.open_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(["inspect", "anywhere"])
    assert sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None) is None
