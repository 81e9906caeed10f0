"""What each replica gets of the input, and what cannot be shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.parity import replica_runs as runs

import lightwell as lw
from lightwell.errors import InputFnError


def test_each_replica_takes_a_batch_of_its_own_in_order(tmp_path: Path) -> None:
    told: list[Any] = []
    made = runs.models(lw, lw.layers)["momentum"](runs.config_of(lw, 2, str(tmp_path)))
    paths = ["features/x@replica:0", "features/x@replica:1"]
    made.train(runs.batches, steps=2, hooks=[lw.Watch(paths, every=1, do=told.append)])
    expected = [features["x"].numpy() for features, _ in runs.batches().take(4)]
    seen = [step[path] for step in told for path in paths]
    np.testing.assert_array_equal(seen, expected)


def test_what_is_no_dataset_cannot_be_shared(tmp_path: Path) -> None:
    made = runs.models(lw, lw.layers)["momentum"](runs.config_of(lw, 2, str(tmp_path)))
    with pytest.raises(InputFnError, match="returned tuple; under a distribution strategy it must return"):
        made.train(lambda: ({"x": tf.zeros([4, 3])}, tf.zeros([4, 1])), steps=1)


def test_an_input_context_needs_a_strategy(tmp_path: Path) -> None:
    made = runs.models(lw, lw.layers)["momentum"](runs.config_of(lw, 1, str(tmp_path)))
    with pytest.raises(InputFnError, match="needs input_context, which is given under a distribution strategy only"):
        made.train(lambda input_context: runs.batches(), steps=1)
