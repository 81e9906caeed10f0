"""`RunConfig`: an immutable value, checked when it is made."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.run.config import RunConfig, default_session_config


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)


@pytest.mark.parametrize(
    ("given", "steps", "secs"),
    [
        ({}, None, 600),
        ({"save_checkpoints_steps": 5}, 5, None),
        ({"save_checkpoints_secs": 5}, None, 5),
        ({"save_checkpoints_steps": None}, None, None),
        ({"save_checkpoints_secs": None}, None, None),
        ({"save_checkpoints_steps": None, "save_checkpoints_secs": 7}, None, 7),
        ({"save_checkpoints_steps": None, "save_checkpoints_secs": None}, None, None),
        ({"save_checkpoints_steps": 0}, 0, None),
    ],
)
def test_the_cadence_of_checkpoints(given: dict[str, Any], steps: Any, secs: Any) -> None:
    config = RunConfig(**given)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (steps, secs)


def test_a_setting_cannot_be_assigned_and_the_text_says_what_to_do() -> None:
    text = r"property 'model_dir' of 'RunConfig' object has no setter: .*make another with config\.replace\(model_dir"
    with pytest.raises(AttributeError, match=text):
        RunConfig().model_dir = "x"
    with pytest.raises(AttributeError, match=r"property 'task_id' .* it comes from TF_CONFIG"):
        RunConfig().task_id = 1


def test_a_derived_config_decides_what_can_be_assigned() -> None:
    class Own(RunConfig):
        def __init__(self, **settings: Any) -> None:
            self.tpu = 8
            super().__init__(**settings)

        @property
        def twice(self) -> int:
            return 2 * self.tpu

        @twice.setter
        def twice(self, value: int) -> None:
            self.tpu = value // 2

    config = Own(tf_random_seed=1)
    config.twice = 6
    assert (config.replace(model_dir="/m").tpu, config.tf_random_seed) == (3, 1)
    assert repr(config).startswith("Own(model_dir=None, tf_random_seed=1, ")


def test_replace_makes_another_and_clears_the_other_cadence() -> None:
    config = RunConfig(save_checkpoints_steps=5, tf_random_seed=1)
    other = config.replace(save_checkpoints_secs=3, model_dir="/m")
    assert (other.save_checkpoints_steps, other.save_checkpoints_secs, other.model_dir) == (None, 3, "/m")
    assert (config.save_checkpoints_steps, config.model_dir, other.tf_random_seed) == (5, None, 1)
    assert config.replace(tf_random_seed=2).save_checkpoints_steps == 5


def test_replace_refuses_what_it_does_not_know_and_what_is_out_of_range() -> None:
    with pytest.raises(UsageError, match=r"Replacing cluster is not supported\. Allowed properties are \['model_dir'"):
        RunConfig().replace(cluster=None)
    with pytest.raises(UsageError, match="save_summary_steps should be >= 0, got -1"):
        RunConfig().replace(save_summary_steps=-1)
    with pytest.raises(UsageError, match="cannot be both set; got 1 and 2"):
        RunConfig().replace(save_checkpoints_steps=1, save_checkpoints_secs=2)


@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("model_dir", "", "model_dir should be non-empty, got ''"),
        ("tf_random_seed", 1.0, "tf_random_seed must be integer, got 1.0"),
        ("save_summary_steps", -1, "save_summary_steps should be >= 0, got -1"),
        ("save_checkpoints_steps", -1, "save_checkpoints_steps should be >= 0, got -1"),
        ("save_checkpoints_secs", "a", "save_checkpoints_secs should be >= 0, got 'a'"),
        ("session_config", {}, "session_config must be instance of ConfigProto .*, got {}"),
        ("keep_checkpoint_max", -1, "keep_checkpoint_max should be >= 0, got -1"),
        ("keep_checkpoint_every_n_hours", 0, "keep_checkpoint_every_n_hours should be > 0, got 0"),
        ("log_step_count_steps", 0, "log_step_count_steps should be > 0, got 0"),
        ("device_fn", "gpu", "device_fn must be callable with exactly one argument \"op\", got 'gpu'"),
        ("device_fn", lambda node: "", 'device_fn must be callable with exactly one argument "op", got <function'),
        ("protocol", "http", "protocol should be grpc or grpc\\+verbs, got 'http'"),
        ("experimental_max_worker_delay_secs", 0.5, "must be an integer if set, got 0.5"),
        ("session_creation_timeout_secs", 0, "session_creation_timeout_secs should be > 0, got 0"),
    ],
)
def test_refusals_name_the_setting_and_the_value(setting: str, value: Any, text: str) -> None:
    with pytest.raises(UsageError, match=f"RunConfig: .*{text}"):
        RunConfig(**{setting: value})


def test_both_cadences_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set"):
        RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=2)


def test_a_path_object_is_a_model_dir(tmp_path: Path) -> None:
    assert RunConfig(model_dir=tmp_path).model_dir == tmp_path


def test_the_platforms_model_dir_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"model_dir": "/platform"}))
    assert RunConfig().model_dir == "/platform"
    assert RunConfig(model_dir="/platform").model_dir == "/platform"
    with pytest.raises(UsageError, match="must have the same value as the model_dir in TF_CONFIG; got '/mine' here"):
        RunConfig(model_dir="/mine")


def test_it_shows_its_place_in_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"chief": ["h0:1"], "worker": ["h1:1"], "ps": ["h2:1"]}
    settings = {"cluster": cluster, "task": {"type": "worker", "index": 0}, "service": {"a": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(settings))
    config = RunConfig()
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, False)
    assert (config.master, config.evaluation_master) == ("grpc://h1:1", "")
    assert (config.num_ps_replicas, config.num_worker_replicas, config.global_id_in_cluster) == (1, 2, 1)
    assert (config.service, set(config.cluster_spec.jobs)) == ({"a": 1}, {"chief", "ps", "worker"})
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:worker/task:0"]


@pytest.mark.parametrize(
    ("task", "filters"),
    [("chief", ["/job:ps", "/job:chief"]), ("ps", ["/job:ps", "/job:worker", "/job:chief", "/job:master"])],
)
def test_a_task_sees_the_devices_it_needs(monkeypatch: pytest.MonkeyPatch, task: str, filters: list[str]) -> None:
    settings = {"cluster": {"chief": ["h0:1"], "ps": ["h2:1"]}, "task": {"type": task, "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(settings))
    assert list(RunConfig().session_config.device_filters) == filters


def test_default_sessions_place_ops_where_they_can_run() -> None:
    config = default_session_config()
    assert isinstance(config, tf.compat.v1.ConfigProto)
    assert config.allow_soft_placement


def test_it_travels() -> None:
    config = RunConfig(model_dir="/m", save_checkpoints_steps=3, session_config=default_session_config())
    for again in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert again is not config
        assert (again.model_dir, again.save_checkpoints_steps, again.save_checkpoints_secs) == ("/m", 3, None)
    assert "save_checkpoints_steps=3" in repr(config)


def test_experimental_distribute_names_both_strategies() -> None:
    both = SimpleNamespace(train_distribute="one", eval_distribute="two", remote_cluster=None)
    config = RunConfig(experimental_distribute=both)
    assert (config.train_distribute, config.eval_distribute) == ("one", "two")
    assert RunConfig().replace(experimental_distribute=both).eval_distribute == "two"
    with pytest.raises(UsageError, match="Either `train_distribute` or`experimental_distribute"):
        RunConfig(train_distribute="three", experimental_distribute=both)


def test_copies_share_the_strategies() -> None:
    strategy = object()
    config = RunConfig(train_distribute=strategy)
    assert copy.deepcopy(config).train_distribute is strategy
    assert config.replace(tf_random_seed=1).train_distribute is strategy
