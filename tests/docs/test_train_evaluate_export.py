"""The page "Train, evaluate, export": its code runs in order, its commands too, and shows what the text says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from tests import children
from tests.docs.page import DOCS, read

PAGE = read("train-evaluate-export.md")
EXAMPLES = DOCS.parent / "examples"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the page's code defined, all blocks in order, in a directory of its own (`here`)."""
    here = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.syspath_prepend(str(EXAMPLES))
        space: dict[str, Any] = {"here": here}
        for block in PAGE.snippets():
            exec(compile(block, "docs/train-evaluate-export.md", "exec"), space)
        yield space


def test_training_and_evaluation(ran: dict[str, Any]) -> None:
    assert ran["metrics"]["global_step"] == 400
    assert ran["stopping"].best.value > 0.95
    assert len(ran["keeping"].kept) == 2
    assert Path(ran["keeping"].best_path + ".index").exists()
    assert (ran["here"] / "runs/digits/training_finished.json").exists()
    assert list((ran["here"] / "runs/digits/eval_live").glob("events.out.*"))


def test_what_was_exported(ran: dict[str, Any]) -> None:
    classes = ran["served"]["classes"].numpy()
    assert np.mean(classes == ran["test"]["y"][:5]) > 0.7
    assert ran["inside"]["layers/dense"].shape == (5, 64)
    assert ran["lite"].largest_difference < 1e-5
    assert keras.saving.load_model(ran["here"] / "digits.keras").count_params() == ran["model"].count_params()


def test_the_way_back(ran: dict[str, Any]) -> None:
    rows = ran["again"].predict(lambda: ran["tf"].data.Dataset.from_tensors({"images": ran["test"]["x"][:5]}))
    np.testing.assert_array_equal([row["classes"] for row in rows], ran["served"]["classes"])
    assert ran["of_keras"].evaluate(ran["test_fn"])["accuracy"] > 0.8


def test_its_command_runs(ran: dict[str, Any]) -> None:
    (command,) = PAGE.commands()
    newest = max((ran["here"] / "exported").iterdir())
    np.savez(ran["here"] / "rows.npz", images=ran["test"]["x"][:20])
    words = [str(newest) if word == "exported" else word for word in command.words[1:]]
    done = subprocess.run(
        [sys.executable, "-m", "lightwell", *words],
        cwd=ran["here"],
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert command.comment in done.stdout


def test_its_links_lead_somewhere() -> None:
    prose = re.sub(r"^```.*?^```$", "", PAGE.text, flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", prose)
    assert links
    assert [link for link in links if not (DOCS / link).exists()] == []
