"""A Keras that lacks what is reached for behind its public names is left alone, and that is told once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import children

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.keras_scope import _patch_keras3

ROOT = Path(__file__).parents[3]

_TRAINING = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.renamed import rename
rename("keras.src", **json.loads(sys.argv[3]))
import numpy as np, tensorflow as tf, keras
import lightwell as lw
v1 = tf.compat.v1
keras.utils.set_random_seed(1)  # a Keras that is left alone draws its first weights by itself
lines = []
tf.get_logger().addFilter(lambda record: lines.append(record.getMessage()))
keras.layers.Dense(1)  # which takes the first name

def model_fn(features, labels, mode):
    y = keras.layers.Dense(1)(keras.layers.Dense(4, activation="relu")(features["x"]))
    if mode == "infer":
        return lw.EstimatorSpec(mode, {"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    return lw.EstimatorSpec(mode, y, loss, v1.train.AdamOptimizer(0.05).minimize(loss, v1.train.get_global_step()))

x = np.random.RandomState(0).rand(64, 3).astype("float32")
data = lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True))).batch(16).repeat()
est = lw.Estimator(model_fn, sys.argv[2], lw.RunConfig(tf_random_seed=1))
est.train(data, steps=2)
first = est.evaluate(data, steps=4)["loss"]
est.train(data, steps=150)
print(json.dumps({
    "first": float(first), "last": float(est.evaluate(data, steps=4)["loss"]), "version": keras.__version__,
    "row": next(est.predict(data))["y"].shape, "layers": list(est.layers),
    "names": [name for name in est.get_variable_names() if name.endswith("kernel")],
    "told": [line for line in lines if "which Lightwell leans on" in line],
}))
"""


def _trained(folder: Path, **renamed: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", _TRAINING, str(ROOT), str(folder), json.dumps(renamed)],
        env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_keras_whose_variables_are_made_otherwise_trains_on_its_own(tmp_path: Path) -> None:
    found = _trained(tmp_path, _initialize="_make_value", _direct_assign="_set_now")
    assert found["last"] < found["first"] / 10
    assert found["row"] == [1]
    assert found["layers"] == []
    assert found["told"] == [
        f"Keras {found['version']} has no Variable._initialize, Variable._direct_assign, which Lightwell leans on. "
        "Keras layers work in model_fn as Keras has them: variables have Keras' own names, moving statistics are not "
        "updated, losses of layers are not collected, and layers have no path. Use an older Keras, or "
        "tf.compat.v1.layers."
    ]


def test_a_keras_that_counts_names_elsewhere_keeps_everything_else(tmp_path: Path) -> None:
    found = _trained(tmp_path, object_name_uids="name_counts")
    assert found["last"] < found["first"] / 10
    assert found["layers"] == ["dense", "dense_1"]
    assert found["names"] == ["dense/kernel", "dense_1/kernel"]
    assert found["told"] == [
        f"Keras {found['version']} has no global state 'object_name_uids', which Lightwell leans on. Keras layers that "
        "model_fn names as Keras would, as in name='dense_5', are numbered anew."
    ]


def test_todays_keras_has_everything() -> None:
    keras = private_keras.keras3()
    assert keras is not None
    assert private_keras._missing_in_keras3(keras) == ()
    assert private_keras.can_restart_counters()


def test_what_is_replaced_behind_public_names_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A private method that is replaced and not asked for would be a crash where Keras no longer has it."""
    replaced: list[str] = []
    monkeypatch.setattr(Patches, "put", lambda self, owner, name, value: replaced.append(name))
    _patch_keras3(Patches())
    private = {name for name in replaced if name.startswith("_") and not name.startswith("__")}
    assert private == {private_keras.DEFERRED_INITIALIZE, private_keras.DIRECT_ASSIGN, private_keras.SUM_OVER_REPLICAS}
