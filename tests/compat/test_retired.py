"""The graveyard: every cell either leads somewhere or says what to use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lightwell.base.lazy import resolve
from lightwell.compat.retired import CONTRIB, contrib_hint
from lightwell.compat.retired.released_names import released_names

ORIGINAL = json.loads((Path(__file__).parents[1] / "data/oracle-1.15.5/namespace.json").read_text())
RETIRED_BEFORE = {"boosted_trees", "gan", "hparam", "lite", "tensorrt"}  # in 1.13, not in 1.15
# In 1.4 to 1.12; what else `tf.contrib` has there is in all of them.
RETIRED_EARLY = {
    path.partition(".")[2]
    for path, had in released_names().items()
    if path.startswith("contrib.") and path.count(".") == 1
} - {"python"}


def test_every_namespace_of_contrib_is_there() -> None:
    assert len(RETIRED_EARLY) > 90
    assert set(CONTRIB) == set(ORIGINAL["contrib"]) | RETIRED_BEFORE | RETIRED_EARLY


def test_hints_are_sentences_and_targets_lead_somewhere() -> None:
    for namespace, cells in CONTRIB.items():
        for name, cell in cells.items():
            if cell[0] in "!?":
                assert cell.endswith((".", ")")), (namespace, name)
            elif not cell.startswith("lightwell.compat.v1"):  # those are here when their row says so
                assert resolve(cell) is not None, (namespace, name)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("contrib", "offers the parts of tf.contrib that live on"),
        (
            "contrib.slim",
            "tf.contrib.slim is gone: TensorFlow removed tf.contrib in 2.0. The package tf_slim carries it on",
        ),
        ("contrib.layers.instance_norm", "The package tf_slim carries it on, with the same variable names"),
        ("contrib.rnn.GridLSTMCell", "Write the cell over tf.compat.v1.nn.rnn_cell.RNNCell"),
        (
            "contrib.cluster_resolver.NoSuchResolver",
            "Of tf.contrib.cluster_resolver there is: ClusterResolver, GCEClusterResolver",
        ),
        ("contrib.layers.python.layers.layers.instance_norm", "pip install 'lightwell[contrib]'"),
        ("contrib.losses.focal", "Or use tf.compat.v1.losses"),
        ("contrib.metrics.streaming_covariance", "pip install 'lightwell[contrib]'"),
        ("contrib.factorization.WALSModel", "there is KMeansClustering; compute other factors in a model_fn"),
        ("contrib.estimator.RNNEstimator", "Use tf.estimator.experimental.RNNEstimator, with units for num_units"),
        ("contrib.layers.real_valued_column", "`from lightwell import tf1 as tf` has it"),
        ("contrib.layers.sequence_input_from_feature_columns", "Use the sequence columns of tf.feature_column"),
        ("contrib.layers.optimise_loss", "Did you mean tf.contrib.layers.optimize_loss?"),
        ("contrib.solvers", "Nothing under tf.contrib.solvers has a successor"),
    ],
)
def test_what_is_said_of_a_name(path: str, text: str) -> None:
    assert text in contrib_hint(path)
