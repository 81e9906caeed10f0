"""What each task of a cluster does: real processes, killed and started again; and the texts of what goes wrong."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.estimator.workflow.cluster_program import Slow, data, model_fn
from tests.estimator.workflow.clusters import Cluster
from tests.estimator.workflow.runs import Watching, estimator, evaluation
from tests.estimator.workflow.runs import train as train_spec
from tests.parity.run_configs import environment

import lightwell as lw
from lightwell.cli.launch import free_ports
from lightwell.errors import ModelInUse, UsageError, WrongType


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Chief, worker, two parameter servers and an evaluator, each killed in turn and started again."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), ["main", 200, 0.02, False], ps=2, chief=1, worker=1)
    try:
        cluster.start()
        cluster.until(lambda: cluster.step() >= 20, "a checkpoint")
        cluster.until(lambda: "step = " in cluster.log("worker"), "a step of the worker")
        for victim in (("worker", 0), ("ps", 1), ("chief", 0), ("evaluator", 0)):
            step = cluster.step()
            cluster.kill_and_start(*victim)
            cluster.until(lambda before=step: cluster.step() > before, f"a checkpoint after {victim} was killed")
        for kind, index in (("chief", 0), ("worker", 0), ("evaluator", 0), ("ps", 0), ("ps", 1)):
            cluster.until(lambda task=(kind, index): 0 in cluster.ended(*task), f"the end of {kind} {index}")
        yield cluster
    finally:
        cluster.close()


def result_of(cluster: Cluster, kind: str) -> Any:
    return json.loads(re.findall(r"^RESULT (.*)$", cluster.log(kind), re.MULTILINE)[-1])


def test_the_kill_of_each_task_is_survived(trained: Cluster) -> None:
    assert trained.codes == {
        "worker 0": [-9, 0],
        "ps 1": [-9, 0],
        "ps 0": [0],
        "chief 0": [-9, 0],
        "evaluator 0": [-9, 0],
    }


def test_the_last_checkpoint_is_that_of_the_goal(trained: Cluster) -> None:
    newest = tf.train.latest_checkpoint(trained.model_dir)
    values = tf.train.load_checkpoint(newest)
    assert 200 <= trained.step() <= 203
    assert values.get_tensor("weights").ravel().tolist() == pytest.approx([1.0, 2.0, -1.0], abs=1e-3)
    assert json.loads(Path(trained.model_dir, "training_finished.json").read_text())["global_step"] == trained.step()


def test_each_checkpoint_is_named_by_the_step_that_it_holds(trained: Cluster) -> None:
    """Though the worker takes steps while the chief is about to write it."""
    named = sorted(int(path.stem.rpartition("-")[2]) for path in Path(trained.model_dir).glob("model.ckpt-*.index"))
    held = [int(tf.train.load_variable(f"{trained.model_dir}/model.ckpt-{step}", "global_step")) for step in named]
    assert held == named
    assert len(named) > 5
    state = tf.train.get_checkpoint_state(trained.model_dir)
    assert state.model_checkpoint_path == f"{trained.model_dir}/model.ckpt-{named[-1]}"
    lineage = [json.loads(line) for line in Path(trained.model_dir, "lineage.jsonl").read_text().splitlines()]
    assert {f"model.ckpt-{step}" for step in named} <= {line["checkpoint"] for line in lineage}


def test_variables_stand_on_both_servers(trained: Cluster) -> None:
    files = sorted(
        os.path.basename(path) for path in os.listdir(trained.model_dir) if f"-{trained.step()}.data" in path
    )
    assert files == [f"model.ckpt-{trained.step()}.data-0000{shard}-of-00002" for shard in (0, 1)]


def test_the_evaluator_has_seen_the_last_checkpoint(trained: Cluster) -> None:
    kind, index, metrics, stopped = result_of(trained, "evaluator")
    assert (kind, index, metrics["global_step"] >= trained.step()) == ("evaluator", 0, True)
    assert metrics["loss"] < 1e-5
    assert stopped == "max_steps=200 was reached." or stopped.startswith("The goal is reached")


def test_those_who_train_evaluate_nothing(trained: Cluster) -> None:
    for kind in ("chief", "worker"):
        assert result_of(trained, kind)[2] is None
        assert "Saving dict for global step" not in trained.log(kind)


def test_what_comes_after_training_does_not_happen_in_a_server(trained: Cluster) -> None:
    assert "RESULT" not in trained.log("ps")
    assert "and so does ps 0" in trained.log("ps")


def test_a_watch_runs_in_the_chief(trained: Cluster) -> None:
    watched = [int(step) for step in re.findall(r"^WATCHED (\d+)$", trained.log("chief"), re.MULTILINE)]
    assert len(watched) >= 7
    assert len(set(watched)) == len(watched) or watched != sorted(watched)  # a chief that was killed goes back
    assert "WATCHED" not in trained.log("worker")
    assert "Watch('loss') runs in the chief, and not in this worker 0." in trained.log("worker")


def test_only_the_chief_saves(trained: Cluster) -> None:
    assert "Saving checkpoints for" in trained.log("chief")
    assert "Saving checkpoints for" not in trained.log("worker")


def test_steps_that_all_take_together_are_those_of_one_process(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["main", 12, 0.0, True], ps=1, chief=1, worker=1)
    try:
        cluster.start(evaluator=False)
        for kind in ("chief", "worker", "ps"):
            cluster.until(lambda kind=kind: 0 in cluster.ended(kind), f"the end of {kind}")
    finally:
        cluster.close()
    newest = tf.train.latest_checkpoint(cluster.model_dir)
    values = tf.train.load_checkpoint(newest)
    alone = lw.Estimator(model_fn, str(tmp_path / "alone"), params={"together": False})
    alone.train(lambda: data().repeat().batch(64), steps=int(values.get_tensor("global_step")))
    for name in ("weights", "bias"):
        assert values.get_tensor(name).ravel().tolist() == pytest.approx(
            alone.get_variable_value(name).ravel(), abs=1e-5
        )


def test_the_strategy_of_tensorflow_1_for_servers_trains_as_a_cluster_without_one(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["main", 60, 0.01, False, True], ps=1, chief=1, worker=1)
    try:
        cluster.start()
        cluster.until_ended(("chief", 0), ("worker", 0), ("evaluator", 0), ("ps", 0))
    finally:
        cluster.close()
    # As 2.15.1 tells each of its processes who reads beside it.
    assert {kind: context(cluster.log(kind)) for kind in ("chief", "worker")} == {
        "chief": ["(2, 0, 1)"],
        "worker": ["(2, 1, 1)"],
    }
    assert 60 <= cluster.variables()["global_step"] <= 63
    assert result_of(cluster, "evaluator")[2]["loss"] < 1e-3
    assert "Loss for final step" in cluster.log("worker")
    assert "Saving checkpoints for" not in cluster.log("worker")


def context(log: str) -> list[str]:
    return re.findall(r"^CONTEXT (.*)$", log, re.MULTILINE)


def test_the_strategy_of_tensorflow_1_for_servers_without_any(tmp_path: Path) -> None:
    strategy = tf.compat.v1.distribute.experimental.ParameterServerStrategy()
    told: list[Any] = []

    def read(input_context: Any) -> Any:
        told.append((input_context.num_input_pipelines, input_context.input_pipeline_id))
        return tiny.data()

    plain, under = (
        estimator(tmp_path / name, train_distribute=given) for name, given in (("a", None), ("b", strategy))
    )
    plain.train(tiny.data, steps=3)
    under.train(read, steps=3)
    assert told == [(1, 0)]
    for name in plain.get_variable_names():
        assert (plain.get_variable_value(name) == under.get_variable_value(name)).all()
    assert under.evaluate(tiny.data, steps=2) == plain.evaluate(tiny.data, steps=2)


def test_an_observer_of_the_evaluator_ends_the_training_of_the_chief(tmp_path: Path) -> None:
    with environment(task("chief", chief=["localhost:1"])):
        chief = estimator(tmp_path)
    with environment(task("evaluator", chief=["localhost:1"])):
        evaluator = estimator(tmp_path)
    calls: list[Any] = []
    endless = train_spec(10**6, lambda: tiny.data().repeat(), hooks=[Slow(0.01)])
    trains = threading.Thread(target=lw.train_and_evaluate, args=(chief, endless, evaluation()))
    trains.start()
    result = lw.train_and_evaluate(
        evaluator, endless, evaluation(start_delay_secs=0), observers=Watching(calls, stop_at=6)
    )
    trains.join(timeout=300)
    assert not trains.is_alive()
    assert result.stopped == "Step 6 is enough."
    assert result.eval_result is not None
    assert int(chief.get_variable_value("global_step")) == result.eval_result["global_step"] < 10**6
    assert (calls[0], calls[-1]) == ("begin", "end")


# Texts


def task(kind: str, index: int = 0, **cluster: list[str]) -> dict[str, Any]:
    return {"cluster": cluster, "task": {"type": kind, "index": index}}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (
            task("foo", chief=["h0:1"], foo=["h1:1"]),
            r"Task type foo is not supported\. Supported task types are \['chi",
        ),
        (task("local", chief=["h0:1"], local=["h1:1"]), r"`task\.type` in TF_CONFIG cannot be `local`\. Leaving `clus"),
        (task("evaluator", 1, chief=["h0:1"]), r"there can only be one `evaluator` task .*Given task id 1\. For sever"),
    ],
)
def test_parts_that_there_are_not(tmp_path: Path, place: dict[str, Any], text: str) -> None:
    with environment(place):
        made = estimator(tmp_path)
        with pytest.raises(UsageError, match=f"train_and_evaluate: .*{text}"):
            lw.train_and_evaluate(made, train_spec(), evaluation())


@pytest.mark.parametrize("kind", ["chief", "ps"])
def test_a_port_in_use(tmp_path: Path, kind: str) -> None:
    with socket.socket() as held:
        held.bind(("", 0))
        held.listen()
        address = f"localhost:{held.getsockname()[1]}"
        with environment(task(kind, **{"chief": ["h0:1"], "ps": ["h1:1"], kind: [address]})):
            made = estimator(tmp_path)
            with pytest.raises(
                UsageError, match=f"this process is to be {kind}.* at {address}, and the port is in use"
            ):
                lw.train_and_evaluate(made, train_spec(), evaluation())


def test_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    own, other = free_ports(2)
    with environment(task("chief", chief=[f"localhost:{own}"], ps=[f"localhost:{other}"])):
        made = estimator(tmp_path, session_creation_timeout_secs=0.3)
        with pytest.raises(tf.errors.DeadlineExceededError) as told:
            lw.train_and_evaluate(made, train_spec(), evaluation())
    text = str(told.value)
    assert "Session was not ready after waiting 0.3 secs (RunConfig.session_creation_timeout_secs)" in text
    assert f"This process, chief, waits. Not reachable: ps 0 at localhost:{other}." in text
    assert "mend its address in TF_CONFIG" in text


def test_two_chiefs_in_one_directory(tmp_path: Path) -> None:
    with environment(task("chief", chief=[f"localhost:{free_ports(1)[0]}"], worker=["localhost:1"])):
        first, second = estimator(tmp_path), estimator(tmp_path)
    refused: list[str] = []

    class Second(tf.compat.v1.train.SessionRunHook):
        """Starts another training as chief while one runs."""

        def after_run(self, run_context: Any, run_values: Any) -> None:
            with pytest.raises(ModelInUse) as told:
                second.train(lambda: tiny.data().repeat(), steps=1)
            refused.append(str(told.value))

    first.train(lambda: tiny.data().repeat(), hooks=[Second()], steps=1)
    (text,) = refused
    assert "this process is the chief of a cluster, and so is this process (since 2" in text
    assert f"in the same model_dir {tmp_path}" in text
    assert "give each cluster a model_dir of its own, or end the other one first." in text


def test_the_strategy_for_a_coordinator(tmp_path: Path) -> None:
    strategy = object.__new__(tf.distribute.experimental.ParameterServerStrategy)  # to make one, servers must be there
    made = estimator(tmp_path, train_distribute=strategy)
    with pytest.raises(UsageError) as told:
        made.train(tiny.data, steps=1)
    assert "train: RunConfig has the distribution strategy ParameterServerStrategyV2, which is for Keras" in str(
        told.value
    )
    assert "TF_CONFIG with ps tasks is all it takes; tf.compat.v1.distribute.experimental.ParameterS" in str(told.value)


def test_a_strategy_that_is_none_of_this_tensorflow(tmp_path: Path) -> None:
    class MirroredStrategy:
        """What a program has left over from another TensorFlow."""

    made = estimator(tmp_path, train_distribute=MirroredStrategy())
    with pytest.raises(WrongType) as told:
        made.train(tiny.data, steps=1)
    assert (
        f"must be a tf.distribute.Strategy of this TensorFlow ({tf.__version__}), got tests.estimator.workflow."
        in str(told.value)
    )
    assert "Make it with tf.distribute, for example tf.distribute.MirroredStrategy()." in str(told.value)
