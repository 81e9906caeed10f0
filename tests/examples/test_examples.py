"""Every example runs, and shows what it promises."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports an example by name, as its own directory would."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name: str) -> Any:
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


def test_demo(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = example("demo")
    monkeypatch.setattr(demo, "STEPS", 300)
    demo.main(str(tmp_path))
    shown = capsys.readouterr().out
    assert (tmp_path / "inside.png").stat().st_size > 20_000
    assert "conv2d_1" in shown
    accuracy = float(shown.split("accuracy ")[1].split(" ")[0])
    assert accuracy > 0.85


def test_hooks_see_features(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("hooks_see_features").main(str(tmp_path), steps=100)
    shown = capsys.readouterr().out
    assert "old hook:   mean age" in shown
    assert "path hook:  {'age': (32, 1), 'hidden': (32, 8)}" in shown
    assert "watch:      step 50" in shown


def test_values_out(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("values_out").main(str(tmp_path), steps=20)
    shown = capsys.readouterr().out
    assert "declared:   (10,)" in shown
    assert "tapped:     (10,)" in shown
    assert "weights:    (4, 10) is an ndarray" in shown
    assert "a layer over all the data: (128, 10)" in shown


def test_probe_a_capture(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = example("probe_a_capture")
    monkeypatch.setattr(program, "STEPS", 120)
    program.main(str(tmp_path))
    shown = capsys.readouterr().out
    assert "1,500 rows, of model.ckpt-120" in shown
    probes = [float(line.split()[-1]) for line in shown.splitlines() if line.startswith("a linear probe")]
    assert len(probes) == 3
    assert min(probes) > 0.8
    assert "they are the digits" in shown


def test_keras_layers(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("keras_layers").main(str(tmp_path), steps=300)
    shown = capsys.readouterr().out
    assert "'layers/conv2d': (6, 6, 16), 'layers/lstm': (6, 32)" in shown
    assert float(shown.split("accuracy: ")[1].split("\n")[0]) > 0.7


def test_boosted_trees(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("boosted_trees").main(str(tmp_path), n_trees=5)
    shown = capsys.readouterr().out
    assert float(shown.split("accuracy: ")[1].split("\n")[0]) > 0.95
    assert "6 trees, 15 layers tried" in shown  # the last one has a root only
    assert "importance of age" in shown
    sums = shown.split("the first passenger: ")[1].split("\n")[0]
    whole, _, parts = sums.partition(" = ")
    added = [float(part) for part in parts.split() if not part.startswith("(")]
    assert sum(added) == pytest.approx(float(whole), abs=0.03)


def test_train_evaluate_export(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("train_evaluate_export").main(str(tmp_path / "run"), max_steps=600)
    shown = capsys.readouterr().out
    assert "training:  " in shown
    assert float(shown.split("served:    ")[1].split(" ")[0]) > 0.9
    assert float(shown.split("largest difference ")[1].split(" ")[0]) < 1e-4
    assert float(shown.split("keras:     accuracy ")[1].split(" ")[0]) > 0.9


def test_ready_made(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "hidden.png"
    example("ready_made").main(str(tmp_path / "run"), str(picture), steps=200)
    assert float(capsys.readouterr().out.split("accuracy ")[1].split("\n")[0]) > 0.8
    assert picture.stat().st_size > 10_000


def test_change_a_filter(example: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("change_a_filter").main(str(tmp_path), steps=80, more_steps=20)
    shown = capsys.readouterr().out
    figures = [float(line.split("#")[0].split()[1]) for line in shown.splitlines()[1:17]]
    assert min(figures) < max(figures), "filters differ in what they matter"
    assert f"out:  {min(figures):.3f} on 7s" in shown
    assert "is still zero" in shown
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("* model.ckpt-100")] == ["trained"]
