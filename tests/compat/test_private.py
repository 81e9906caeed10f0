"""The private modules that projects import: the tables name only what the original had."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.base.lazy import resolve
from lightwell.compat.private import PRIVATE_MODULES, children_of, private_page

RECORD = json.loads((Path(__file__).parents[1] / "data/oracle-2.15.1/estimator_names.json").read_text())
# 2.15.1 had none of them any more; 2.8 and 1.15 had. By running both: the module, and its classes.
OLDER = {"canned.boosted_trees": {"BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"}}
# `keras` was an alias that TensorFlow kept for `keras_lib`; `_api` names it no more.
ALIASES = {"keras": "keras_lib"}


def test_every_module_was_a_module_of_the_original() -> None:
    assert {ALIASES.get(path, path) for path in PRIVATE_MODULES} <= set(RECORD["private"]) | set(OLDER)


def test_every_name_was_a_name_of_the_original() -> None:
    public = {name for face in ("v1", "v2") for names in RECORD[face].values() for name in names}
    imported = {"TrainOutput", "fn_args", "estimator_export", "VocabInfo", "ModeKeys"}
    for path, names in PRIVATE_MODULES.items():
        defined = {name for module in RECORD["private"].values() for name in module}
        assert set(names) <= public | imported | defined | OLDER["canned.boosted_trees"], path


def test_names_here_resolve_and_the_others_say_what_to_use() -> None:
    for path in PRIVATE_MODULES:
        page = private_page(path)
        assert page is not None
        assert all(hint.endswith((".", ")")) for hint in page.absent.values()), path
        for name, target in page.targets.items():
            assert resolve(target) is not None, (path, name)


def test_the_modules_that_surveyed_projects_import_are_here() -> None:
    for path in (
        "canned.dnn canned.head canned.metric_keys canned.optimizers canned.prediction_keys early_stopping estimator "
        "export.export export.export_output exporter gc head.base_head head.multi_label_head mode_keys model_fn "
        "run_config training util estimator_export"
    ).split():
        assert private_page(path) is not None, path
    assert private_page("canned.timeseries") is None


def test_packages_know_what_is_below_them() -> None:
    assert {"canned", "head", "tpu", "training"} <= set(children_of(""))
    assert children_of("hooks") == ["basic_session_run_hooks", "hooks", "session_run_hook"]


@pytest.fixture
def installed() -> Iterator[None]:
    with lw.install():
        yield


def test_evaluations_are_read_back(installed: None, tmp_path: Path) -> None:
    from tensorflow_estimator.python.estimator import early_stopping

    made = tiny.trained(tmp_path, steps=1)
    first = made.evaluate(tiny.once)
    second = made.train(tiny.data, steps=2).evaluate(tiny.once)
    found = early_stopping.read_eval_metrics(made.eval_dir())
    assert list(found) == [1, 3]
    for step, result in ((1, first), (3, second)):
        assert found[step] == pytest.approx({name: result[name] for name in ("loss", "mae")})


def test_the_config_that_an_estimator_runs_with(installed: None, tmp_path: Path) -> None:
    from tensorflow_estimator.python.estimator import estimator

    settle = estimator.maybe_overwrite_model_dir_and_session_config
    given = lw.RunConfig(tf_random_seed=3)
    settled = settle(given, str(tmp_path))
    assert (settled.model_dir, settled.tf_random_seed, given.model_dir) == (str(tmp_path), 3, None)
    assert settled.session_config.allow_soft_placement
    own = tf.compat.v1.ConfigProto(log_device_placement=True)
    assert settle(lw.RunConfig(session_config=own), "m").session_config == own
    assert Path(settle(None, None).model_dir).is_dir()
    with pytest.raises(ValueError, match="are set both in constructor and `RunConfig`, but with different values"):
        settle(lw.RunConfig(model_dir="a"), "b")
    with pytest.raises(ValueError, match=r"config must be an instance of `RunConfig`, but provided {}"):
        settle({}, "b")


def test_the_receivers_of_the_private_module(installed: None) -> None:
    from tensorflow_estimator.python.estimator.export import export

    assert export.ServingInputReceiver is lw.estimator.export.ServingInputReceiver
    made = export.build_supervised_input_receiver_fn_from_input_fn(tiny.data, batch=3)
    with tf.Graph().as_default():
        receiver = made()
    assert isinstance(receiver, export.SupervisedInputReceiver)
    assert {name: tensor.shape.as_list() for name, tensor in receiver.receiver_tensors.items()} == {
        "x": [None],
        "label": [None],
    }
