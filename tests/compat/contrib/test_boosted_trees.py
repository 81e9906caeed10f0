"""Trees in memory by one call, with the numbers of 1.15.5, which is given the data once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import forests

import lightwell as lw
from lightwell import tf1

ORIGINAL = json.loads((Path(__file__).parents[2] / "data" / "oracle-1.15.5" / "boosted_trees.json").read_text())
CASES = {
    "in memory": ("classifier", ("age", "income", "city", "pair"), {"n_trees": 3, "max_depth": 3}),
    "in memory, pruned and centered": (
        "regressor",
        ("age", "income", "city", "pair"),
        {"n_trees": 3, "max_depth": 3, "center_bias": True, "pruning_mode": "post", "tree_complexity": 0.3},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_call_trains_on_data_given_once(name: str, tmp_path: Path) -> None:
    kind, columns, arguments = CASES[name]
    losses = forests.Losses()

    def once(params: Any) -> Any:
        assert params == {}
        return tf.data.Dataset.from_tensors((dict(forests.FEATURES), forests.LABELS[forests.CASES[name]["labels"]]))

    train = getattr(tf1.contrib.estimator, f"boosted_trees_{kind}_train_in_memory")
    model = train(once, forests.columns(*columns), str(tmp_path), train_hooks=[losses], **arguments)
    assert isinstance(model, getattr(lw, f"BoostedTrees{kind.title()}"))
    recorded = ORIGINAL["cases"][name]
    np.testing.assert_allclose(losses.seen, recorded["losses"], rtol=1e-5)
    assert len(model.trees) == 4  # the last one has a root only
    key = "logits" if kind == "classifier" else "predictions"
    ours = [row[key] for row in model.predict(forests.all_rows(name))]
    np.testing.assert_allclose(ours, recorded["predictions"], rtol=1e-5, atol=1e-5)
