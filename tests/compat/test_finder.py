"""Every spelling that programs import resolves, and what is missing says what to use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf
from tests import children

import lightwell.compat.v1.estimator
import lightwell.estimator
import lightwell.feature_columns
import lightwell.layers
import lightwell.rnn_cell
from lightwell.compat.finder import make_private_module
from lightwell.compat.install import install


@pytest.fixture(scope="module", autouse=True)
def doors() -> Iterator[None]:
    with install():
        yield


V1, V2 = lightwell.compat.v1.estimator, lightwell.estimator

SPELLINGS: dict[str, Any] = {
    "from tensorflow import estimator as found": V2,
    "import tensorflow.estimator as found": V2,
    "from tensorflow.estimator import ModeKeys as found": V2.ModeKeys,
    "from tensorflow.estimator.export import PredictOutput as found": V2.export.PredictOutput,
    "from tensorflow.compat.v1 import estimator as found": V1,
    "import tensorflow.compat.v1.estimator as found": V1,
    "from tensorflow.compat.v1.estimator import Estimator as found": V1.Estimator,
    "from tensorflow.compat.v1.estimator import tpu as found": V1.tpu,
    "import tensorflow.compat.v1.estimator.tpu.experimental as found": V1.tpu.experimental,
    "from tensorflow.compat.v2 import estimator as found": V2,
    "import tensorflow.compat.v1 as tf; found = tf.layers": lightwell.layers,
    "import tensorflow.compat.v1 as tf; found = tf.estimator": V1,
    "import tensorflow.compat.v1 as tf; found = tf.nn.rnn_cell": lightwell.rnn_cell,
    "from tensorflow.compat.v1 import layers as found": lightwell.layers,
    "import tensorflow.compat.v1.layers as found": lightwell.layers,
    "from tensorflow.compat.v1.layers import dense as found": lightwell.layers.dense,
    "from tensorflow.compat.v1.nn import rnn_cell as found": lightwell.rnn_cell,
    "import tensorflow_estimator; found = tensorflow_estimator.estimator": V1,
    "from tensorflow_estimator import estimator as found": V1,
    "import tensorflow_estimator.compat.v1; found = tensorflow_estimator.compat.v1.estimator": V1,
    "from tensorflow_estimator.compat.v2 import estimator as found": V2,
    "from tensorflow_estimator._api.v1 import estimator as found": V1,
    "from tensorflow_estimator._api.v2.v2 import estimator as found": V2,
    "from tensorflow_estimator.python.estimator.api._v1 import estimator as found": V1,
    "import tensorflow_estimator.python.estimator.api._v2.estimator as found": V2,
    "import tensorflow_estimator.python.estimator.estimator as e; found = e.EstimatorV2": V2.Estimator,
    "from tensorflow_estimator.python.estimator import model_fn; found = model_fn.EstimatorSpec": V1.EstimatorSpec,
    "from tensorflow_estimator.python.estimator.mode_keys import ModeKeys as found": V1.ModeKeys,
    "from tensorflow_estimator.python.estimator.estimator_lib import RunConfig as found": V1.RunConfig,
    "from tensorflow_estimator.python.estimator.run_config import RunConfig as found": V1.RunConfig,
    "from tensorflow_estimator.python.estimator.hooks.session_run_hook import SessionRunHook as found": (
        tf.compat.v1.train.SessionRunHook
    ),
    "from tensorflow.python.estimator.estimator import WarmStartSettings as found": V1.WarmStartSettings,
    "from tensorflow.python.estimator.export.export_output import PredictOutput as found": V1.export.PredictOutput,
    "from tensorflow_estimator.python.estimator.exporter import Exporter as found": V1.Exporter,
    "from tensorflow.python.estimator import gc, util; found = gc.Path._fields": ("path", "export_version"),
    "from tensorflow.python.estimator.canned import metric_keys; found = metric_keys.MetricKeys.AUC": "auc",
    "from tensorflow.keras.layers import DenseFeatures as found": lightwell.feature_columns.DenseFeatures,
    "import tensorflow as tf; found = tf.keras.layers.DenseFeatures": lightwell.feature_columns.DenseFeatures,
    "import tensorflow.compat.v1 as tf; found = tf.keras.layers.DenseFeatures": lightwell.feature_columns.DenseFeatures,
    "from tensorflow.keras.experimental import SequenceFeatures as found": lightwell.feature_columns.SequenceFeatures,
    "import tensorflow as tf; found = tf.keras.experimental.CosineDecay": tf.keras.optimizers.schedules.CosineDecay,
    "import tensorflow as tf; found = tf.estimator.SessionRunHook": tf.compat.v1.train.SessionRunHook,
}


@pytest.mark.parametrize("statement", SPELLINGS)
def test_a_spelling_leads_to_the_same_object(statement: str) -> None:
    space: dict[str, Any] = {}
    exec(statement, space)
    found = space["found"]
    assert found == SPELLINGS[statement] if isinstance(found, str | tuple) else found is SPELLINGS[statement]


def test_a_page_keeps_its_own_spec_under_every_spelling() -> None:
    exec("import tensorflow.estimator, tensorflow.compat.v1.layers", {})
    assert lightwell.estimator.__spec__.name == lightwell.estimator.__name__
    assert lightwell.layers.__spec__.name == lightwell.layers.__name__


REFUSED = {
    "from tensorflow.compat.v1.estimator.tpu.experimental import EmbeddingConfigSpec": (
        "tf.estimator.tpu.experimental.EmbeddingConfigSpec does not exist in Lightwell. It configures embedding"
    ),
    "from tensorflow_estimator.python.estimator.model_fn import verify_model_fn_args": (
        "tensorflow_estimator.python.estimator.model_fn.verify_model_fn_args does not exist in Lightwell. The Estimator"
    ),
    "from tensorflow.python.estimator.training import _TrainingExecutor": "Use train_and_evaluate(..., observers",
    "from tensorflow_estimator.python.estimator import nothing_like_it": "has no attribute 'nothing_like_it'",
    "from tensorflow_estimator.python.estimator.estimator import Estimater": "Nearest names: Estimator",
    "from tensorflow_estimator.python.estimator.training import TrainSpecs": "has no attribute 'TrainSpecs'.",
    "import tensorflow_estimator.python.estimator.canned.timeseries": (
        "tensorflow_estimator.python.estimator.canned.timeseries is a private module of the removed package "
        "tensorflow_estimator, and Lightwell has none of that name. Use the public names"
    ),
    "import tensorflow_estimator.nothing": "private module of the removed package",
    "import tensorflow.contrib.slim": "TensorFlow removed tf.contrib in 2.0. `from lightwell import tf1 as tf`",
    "from tensorflow.keras.layers import DenseFeature": "Nearest names: DenseFeatures",
    "from tensorflow.keras.experimental import WideDeepModel": "Add the outputs of a linear and a deep part",
    "from tensorflow.keras.estimator import model_to_estimators": "Nearest names: model_to_estimator",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_a_missing_name_says_what_to_use(statement: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    assert REFUSED[statement] in str(caught.value)


def test_missing_attributes_do_not_exist_for_hasattr() -> None:
    assert not hasattr(tf.keras.layers, "NoSuchLayer")
    assert not hasattr(tf.estimator, "tpu")
    with pytest.raises(AttributeError, match=r"tf\.keras\.layers' has no attribute 'NoSuchLayer'"):
        _ = tf.keras.layers.NoSuchLayer


def test_a_module_that_looks_up_names_itself_still_does() -> None:
    from lightwell.compat.finder import open_door
    from lightwell.compat.journal import Journal
    from lightwell.compat.names import doors_of

    (door,) = doors_of("tensorflow.keras.layers")
    module = type(sys)("tensorflow.keras.layers")
    vars(module)["__getattr__"] = lambda name: f"their {name}"
    journal = Journal()
    open_door(module, door, journal)
    assert module.Dense == "their Dense"
    assert module.DenseFeatures is lightwell.feature_columns.DenseFeatures
    journal.restore()
    assert module.DenseFeatures == "their DenseFeatures"


def test_private_modules_list_what_they_have() -> None:
    module = make_private_module("tensorflow.python.estimator.canned")
    assert {"dnn", "head", "metric_keys"} <= set(dir(module))


_FRESH = """
import sys
from lightwell.compat.install import install
handle = install()
assert "tensorflow" not in sys.modules, "install() must not load TensorFlow"
import tensorflow_estimator
assert "tensorflow" not in sys.modules, "an import alone must not load TensorFlow"
from tensorflow.compat.v1 import estimator as v1_estimator, layers
import tensorflow as tf
import tensorflow.compat.v1 as v1
assert tf.compat.v1.estimator is v1.estimator is v1_estimator
assert tf.compat.v1.layers is v1.layers is layers
assert tf.estimator.ModeKeys.TRAIN == "train"
assert v1.nn.rnn_cell is sys.modules["lightwell.rnn_cell"]
from tensorflow.keras.layers import Dense
assert tf.__spec__.loader.get_source("tensorflow"), "TensorFlow keeps its own loader"
handle.uninstall()
assert not hasattr(tf, "estimator") and not hasattr(v1, "estimator")
try:
    v1.layers.dense
except AttributeError as error:
    assert "Keras 3" in str(error)
else:
    raise AssertionError("tf.compat.v1.layers is not TensorFlow's own again")
print("fine")
"""


def test_doors_that_were_open_before_tensorflow_was_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FRESH],
        env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "fine", done.stderr
