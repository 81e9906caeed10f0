"""GPUs: their settings reach sessions, and change nothing where there are none. The GPUs here are pretended."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.run.devices import gpus
from lightwell.run.devices.gpus import compile_setting, device_summary, with_gpu_settings

v1 = tf.compat.v1
TWO = [SimpleNamespace(name=f"/physical_device:GPU:{number}", device_type="GPU") for number in range(2)]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine with two GPUs: `visible` ones, and whether memory `grows`."""
    here = SimpleNamespace(visible=TWO, grows=False)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: TWO)
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind=None: here.visible)
    monkeypatch.setattr(tf.config.experimental, "get_memory_growth", lambda device: here.grows)
    monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda device: {"device_name": "NVIDIA H200"})
    gpus._first_setting().clear()
    return here


def settings(gpu_memory: Any = None, **own: Any) -> Any:
    return with_gpu_settings(v1.ConfigProto(**own), gpu_memory)


def test_memory(machine: SimpleNamespace) -> None:
    assert settings("growth").gpu_options.allow_growth
    assert settings(0.25).gpu_options.per_process_gpu_memory_fraction == 0.25
    assert not settings().gpu_options.allow_growth
    machine.grows = True
    assert settings().gpu_options.allow_growth


def test_visible_gpus(machine: SimpleNamespace) -> None:
    assert settings().gpu_options.visible_device_list == ""
    machine.visible = TWO[1:]
    assert settings().gpu_options.visible_device_list == "1"
    own = v1.GPUOptions(visible_device_list="0")
    assert settings(gpu_options=own).gpu_options.visible_device_list == "0"
    machine.visible = []
    assert settings().device_count["GPU"] == 0


def test_a_later_setting_is_told_to_have_no_effect(machine: SimpleNamespace, log: LogLines) -> None:
    settings("growth")
    settings(None)
    settings("growth")
    assert not log.having("gpu_memory")
    settings(0.5)
    (line,) = log.having("gpu_memory=0.5 has no effect")
    assert "Set it in the first RunConfig" in line


def test_steps_are_compiled_by_default_on_gpus_alone(machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_setting(None, None) == gpus.AUTO_BY_DEFAULT
    assert [compile_setting(asked, None) for asked in (True, False, "auto")] == [True, False, "auto"]
    assert compile_setting(None, v1.ConfigProto(device_count={"GPU": 0})) is False
    monkeypatch.setenv("TF_DETERMINISTIC_OPS", "1")
    monkeypatch.setattr(gpus.private_tf, "is_deterministic", lambda: True)
    assert compile_setting(None, None) is False
    machine.visible = []
    assert compile_setting(None, None) is False


def test_devices_in_words(machine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_summary(None) == "GPU:0 (NVIDIA H200), GPU:1 (NVIDIA H200)"
    machine.visible = []
    assert device_summary(None) is None or "hide the GPUs" in device_summary(None)
    monkeypatch.setattr(tf.test, "is_built_with_cuda", lambda: True)
    assert device_summary(None) == "the CPU: its settings hide the GPUs"


def test_without_gpus_nothing_changes(tmp_path: Path, log: LogLines) -> None:
    if tf.config.list_physical_devices("GPU"):
        pytest.skip("this machine has a GPU")
    own = v1.ConfigProto()
    assert with_gpu_settings(own, "growth") is own
    est = tiny.estimator(tmp_path, gpu_memory=0.5)
    est.train(tiny.data, steps=1)
    assert not log.having("Training on")


@pytest.mark.parametrize("wrong", ["all", 0, 1.5, True])
def test_a_wrong_setting(wrong: Any) -> None:
    with pytest.raises(lw.errors.UsageError, match='gpu_memory should be "growth" or the share of a GPU'):
        lw.RunConfig(gpu_memory=wrong)
