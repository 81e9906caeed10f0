"""A program of 2019 runs as it stands: TPUEstimator, tf.contrib, tf.flags, a warm-up, an optimizer of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from tests import children

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "bert_2019.py"


def run(folder: Path, *flags: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "lightwell", "run", str(PROGRAM), f"--output_dir={folder}", *flags],
        env=children.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def test_it_learns_goes_on_and_starts_from_a_checkpoint(tmp_path: Path) -> None:
    first = tmp_path / "first"
    log = run(first, "--do_train", "--do_eval", "--do_predict")
    results = dict(line.split(" = ") for line in (first / "eval_results.txt").read_text().splitlines())
    assert results["global_step"] == "300"
    assert float(results["eval_accuracy"]) > 0.9
    assert "examples/sec" in log
    rows = np.loadtxt(first / "test_results.tsv")
    assert rows.shape == (32, 2)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)

    checkpoint = str(first / "model.ckpt-300")
    names = dict(tf.train.list_variables(checkpoint))
    assert names["bert/encoder/layer_1/attention/output/LayerNorm/gamma"] == [32]
    assert names["bert/embeddings/word_embeddings/adam_m"] == [20, 32]

    second = tmp_path / "second"
    run(second, "--do_train", "--do_eval", "--train_steps=1", "--learning_rate=0", f"--init_checkpoint={checkpoint}")
    again = dict(line.split(" = ") for line in (second / "eval_results.txt").read_text().splitlines())
    assert float(again["eval_accuracy"]) == float(results["eval_accuracy"])
