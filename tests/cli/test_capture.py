"""`lightwell capture` and `lightwell inspect` of what it wrote, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.inside.captures import models

import lightwell as lw
from lightwell.cli.main import main

PROGRAM = """
import os
from tests.inside.captures import models
import lightwell as lw

input_fn, model_fn = models.data, models.pictures


def make_estimator():
    return lw.Estimator(models.pictures, os.environ["MODEL_DIR"])


def wrong():
    return 3
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    models.trained(folder / "model")
    (folder / "the_program.py").write_text(PROGRAM)
    return folder


def test_a_program_is_captured_and_looked_at(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("MODEL_DIR", str(place / "model"))
    words: list[Any] = ["capture", "the_program.py:make_estimator", "--input", "the_program.py:input_fn"]
    words += ["--tap", "layers/*", "--tap", "labels", "--key", "id", "--to", "acts"]
    assert main(words) == 0
    assert "100 rows, of model.ckpt-20" in capsys.readouterr().out
    store = lw.open_capture(place / "acts")
    np.testing.assert_array_equal(store["labels"], models.Y)

    assert main(["inspect", "acts"]) == 0
    assert "layers/conv2d   float32  4×4×2" in capsys.readouterr().out
    assert main(["inspect", "acts", "layers/dense"]) == 0
    assert "layers/dense: 5 units over 100 values" in capsys.readouterr().out
    assert main(["inspect", "acts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 100
    assert main(["inspect", "acts", "layers/dens"]) == 2
    assert "has no 'layers/dens'" in capsys.readouterr().err

    by_function = ["capture", "the_program:model_fn", "--input", "the_program:input_fn", "--tap", "dense", "--to", "b"]
    assert main([*by_function, "--model-dir", "model", "--steps", "2"]) == 0
    assert len(lw.open_capture(place / "b")) == 16
    capsys.readouterr()
    assert main(by_function) == 2
    assert "is a model_fn, and its directory is not told: add --model-dir" in capsys.readouterr().err
    assert main(["capture", "the_program:wrong", "--input", "the_program:input_fn", "--tap", "a", "--to", "c"]) == 2
    assert "expected a model_fn, an Estimator, or a function that makes one, got int" in capsys.readouterr().err
