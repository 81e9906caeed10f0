"""`train_and_evaluate` beyond what tests/parity holds: numbers, several specs, cadences, observers, marks."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.estimator.workflow.runs import Noting, Watching, estimator, evaluation, slice_of_data, steps_of, train
from tests.parity.run_configs import environment

import lightwell as lw
from lightwell.errors import NotEvaluated, UsageError

v1 = tf.compat.v1
FINISHED = "training_finished.json"


@pytest.mark.parametrize("pure", [False, True], ids=["default", "vouched"])
def test_numbers_are_those_of_evaluate(tmp_path: Path, pure: bool) -> None:
    made = estimator(tmp_path, pure_model_fn=pure, keep_checkpoint_max=None)
    result = lw.train_and_evaluate(made, train(8), evaluation())
    assert steps_of(result) == [2, 4, 6, 8]
    for one in result.evaluations:
        alone = estimator(tmp_path).evaluate(tiny.once, checkpoint_path=one.checkpoint_path)
        assert alone == one.metrics, "to the last bit"
        assert one.checkpoint_path == str(tmp_path / f"model.ckpt-{one.global_step}")


def test_the_weights_are_those_of_a_training_alone(tmp_path: Path) -> None:
    """Shuffled data, and steps that draw random numbers: an evaluation between them disturbs nothing."""

    def shuffled() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": tiny.X}, tiny.Y)).shuffle(8, seed=3).repeat().batch(2)

    def noisy(features: Any, labels: Any, mode: str) -> Any:
        noise = tf.random.uniform(tf.shape(features["x"]), seed=5) if mode == "train" else 0.0
        return tiny.linear({"x": features["x"] + noise}, labels, mode, {})

    settings: dict[str, Any] = {"model_fn": noisy, "save_checkpoints_steps": 3, "tf_random_seed": 1}
    alone = tiny.estimator(tmp_path / "alone", **settings).train(shuffled, max_steps=12)
    beside = tiny.estimator(tmp_path / "beside", **settings)
    lw.train_and_evaluate(beside, train(12, shuffled), evaluation())
    for name in ("w", "b"):
        assert beside.get_variable_value(name) == alone.get_variable_value(name)


def test_the_input_of_the_training_is_begun_once(tmp_path: Path) -> None:
    begun: list[str] = []

    def counted() -> Any:
        begun.append("built")

        def rows() -> Any:
            begun.append("run")
            yield from zip(tiny.X, tiny.Y, strict=True)

        signature = (tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
        rows_once = tf.data.Dataset.from_generator(rows, output_signature=signature)
        return rows_once.map(lambda x, y: ({"x": x}, y)).batch(1)

    result = lw.train_and_evaluate(estimator(tmp_path), train(None, counted), evaluation())
    assert begun == ["built", "run"]
    assert steps_of(result) == [2, 4, 6, 8]


def test_evaluation_keeps_its_session_between_rounds(tmp_path: Path) -> None:
    called: list[str] = []

    def counting(features: Any, labels: Any, mode: str) -> Any:
        called.append(mode)
        return tiny.linear(features, labels, mode, {})

    made = tiny.estimator(tmp_path, counting, save_checkpoints_steps=2, pure_model_fn=True)
    specs = [evaluation("all"), lw.EvalSpec(slice_of_data, None, "part", every_checkpoints=1)]
    result = lw.train_and_evaluate(made, train(10), specs)
    assert steps_of(result, "all") == steps_of(result, "part") == [2, 4, 6, 8, 10]
    assert called == ["train", "eval", "eval"], "each evaluation is built once"


def test_the_vouched_form_follows_the_weights(tmp_path: Path) -> None:
    made = estimator(tmp_path, pure_model_fn=True)
    losses = [one.metrics["loss"] for one in lw.train_and_evaluate(made, train(8), evaluation()).evaluations]
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == 4


def test_the_vouched_form_writes_its_graph_once(tmp_path: Path) -> None:
    lw.train_and_evaluate(estimator(tmp_path, pure_model_fn=True), train(8), evaluation())
    (file,) = (tmp_path / "eval").glob("events*")
    kinds = [event.WhichOneof("what") for event in v1.train.summary_iterator(str(file))]
    assert kinds.count("summary") >= 4
    assert "graph_def" not in kinds[kinds.index("summary") :], "with the first evaluation alone"


# Several specs


def test_several_specs_by_name(tmp_path: Path) -> None:
    calls: list[Any] = []
    specs = [
        evaluation("all", exporters=Noting("best", calls)),
        lw.EvalSpec(slice_of_data, None, "part", exporters=Noting("last", calls), every_steps=4),
    ]
    made = estimator(tmp_path)
    result = lw.train_and_evaluate(made, train(6), specs)
    assert steps_of(result, "all") == [2, 4, 6]
    assert steps_of(result, "part") == [4, 6]
    assert list(result.metrics) == ["all", "part"]
    assert result.metrics["all"] == made.evaluate(tiny.once)
    assert result.metrics["part"] == made.evaluate(slice_of_data)
    assert result[0] == result.metrics["all"], "as a pair, it is of the first"
    assert result[1] == [f"{tmp_path}/export/best/6"]
    assert result.exports == {"best": f"{tmp_path}/export/best/6", "last": f"{tmp_path}/export/last/6"}
    assert [call[0] for call in calls] == ["best", "best", "last", "best", "last"]
    assert {"eval_all", "eval_part"} <= set(os.listdir(tmp_path))


@pytest.mark.parametrize("names", [("a", "a"), (None, None), (None, "")])
def test_specs_of_one_name_are_refused(tmp_path: Path, names: tuple[Any, Any]) -> None:
    with pytest.raises(
        UsageError, match=r"several EvalSpecs must have names of their own, got \[.*another name in one"
    ):
        lw.train_and_evaluate(estimator(tmp_path), train(), [evaluation(name) for name in names])


def test_exporters_of_one_name_in_two_specs_are_refused(tmp_path: Path) -> None:
    specs = [evaluation(name, exporters=Noting("best")) for name in "ab"]
    with pytest.raises(UsageError, match=r"`exporters` must have unique names.*\['best', 'best'\].*export/<name>"):
        lw.train_and_evaluate(estimator(tmp_path), train(), specs)


# Cadence


def test_by_steps_a_checkpoint_is_saved_where_it_is_needed(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=3600)
    result = lw.train_and_evaluate(made, train(10), evaluation(every_steps=4))
    assert steps_of(result) == [4, 8, 10]


def test_by_steps_after_a_restart_the_steps_are_the_same(tmp_path: Path) -> None:
    spec = evaluation(every_steps=4)
    first = lw.train_and_evaluate(tiny.estimator(tmp_path), train(5), spec)
    second = lw.train_and_evaluate(tiny.estimator(tmp_path), train(13), spec)
    assert steps_of(first) == [4, 5]
    assert steps_of(second) == [8, 12, 13]


def test_by_steps_with_a_saver_of_ones_own_at_its_checkpoints(tmp_path: Path) -> None:
    saver = v1.train.CheckpointSaverHook(str(tmp_path), save_steps=3)
    result = lw.train_and_evaluate(tiny.estimator(tmp_path), train(10, hooks=[saver]), evaluation(every_steps=4))
    assert steps_of(result)[-1] == 10
    assert all(
        step // 4 > before // 4 for before, step in zip([0, *steps_of(result)], steps_of(result)[:-1], strict=False)
    )


def test_steps_that_count_by_two(tmp_path: Path) -> None:
    def by_two(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        more = v1.assign_add(v1.train.get_global_step(), 1) if mode == "train" else tf.no_op()
        return spec._replace(train_op=tf.group(spec.train_op, more))

    made = tiny.estimator(tmp_path, by_two)
    result = lw.train_and_evaluate(made, train(13), evaluation(every_steps=5))
    assert steps_of(result) == [6, 10, 14]


def test_by_checkpoints(tmp_path: Path, log: Any) -> None:
    result = lw.train_and_evaluate(estimator(tmp_path), train(14), evaluation(every_checkpoints=3))
    assert steps_of(result) == [6, 12, 14]
    assert log.having("as it comes every 3 checkpoints, 2 to go. Step 2.")


def test_each_skipped_evaluation_says_why(tmp_path: Path, log: Any) -> None:
    specs = [evaluation("often"), evaluation("steps", every_steps=4), evaluation("secs", throttle_secs=600)]
    lw.train_and_evaluate(estimator(tmp_path), train(6), specs)
    skipped = [line.removeprefix("INFO Skip the current checkpoint eval ") for line in log.having("Skip the current")]
    assert skipped[:3] == [
        f"as the training has yet to make its first step. Step 0, evaluation {name!r}."
        for name in ("often", "steps", "secs")
    ]
    rest = [re.sub(r"began \d+ secs ago", "began 0 secs ago", line) for line in skipped[3:]]
    assert rest == [
        "as it comes every 4 steps, next at 4. Step 2, evaluation 'steps'.",
        "due to throttle secs (600 secs), the last began 0 secs ago. Step 4, evaluation 'secs'.",
        "as it comes every 4 steps, next at 8. Step 6, evaluation 'steps'.",
        "due to throttle secs (600 secs), the last began 0 secs ago. Step 6, evaluation 'secs'.",
    ]


# Observers


def test_observers_are_told_in_order_and_may_stop(tmp_path: Path, log: Any) -> None:
    calls: list[Any] = []
    exporter = Noting("x", calls)
    observers = [Watching(calls), Watching(calls, stop_at=4)]
    result = lw.train_and_evaluate(
        estimator(tmp_path), train(100), evaluation("e", exporters=exporter), observers=observers
    )
    first, second = [("e", 2, "model.ckpt-2")] * 2, [("e", 4, "model.ckpt-4")] * 2
    exports = [("x", "model.ckpt-2", 2, False), ("x", "model.ckpt-4", 4, True)]
    # The final export comes once observers have seen the end.
    assert calls == ["begin", "begin", *first, exports[0], *second, "end", "end", exports[1]]
    assert result.stopped == "Step 4 is enough."
    assert result.global_step == 4
    assert log.having("Training stops at step 4: Step 4 is enough.")


def test_what_an_observer_puts_back_is_what_is_exported(tmp_path: Path) -> None:
    calls: list[Any] = []

    class PutsBack(Watching):
        def end(self, estimator: Any) -> None:
            v1.train.update_checkpoint_state(estimator.model_dir, str(tmp_path / "model.ckpt-2"))

    spec = evaluation(exporters=Noting("x", calls))
    lw.train_and_evaluate(estimator(tmp_path), train(100), spec, observers=PutsBack([], stop_at=6))
    assert calls == [
        ("x", "model.ckpt-2", 2, False),
        ("x", "model.ckpt-4", 4, False),
        ("x", "model.ckpt-2", 2, True),
    ]


def test_a_spec_that_was_not_due_is_evaluated_when_an_observer_stops(tmp_path: Path) -> None:
    specs = [evaluation("often"), evaluation("seldom", every_steps=50)]
    result = lw.train_and_evaluate(estimator(tmp_path), train(100), specs, observers=[Watching([], stop_at=4)])
    assert steps_of(result, "seldom") == [4]


def test_observers_do_not_see_the_end_of_a_run_that_failed(tmp_path: Path) -> None:
    calls: list[Any] = []

    class Fails(Watching):
        def after_evaluation(self, evaluation: Any) -> str | None:
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        lw.train_and_evaluate(estimator(tmp_path), train(), evaluation(), observers=[Fails(calls)])
    assert calls == ["begin"]
    assert FINISHED not in os.listdir(tmp_path)


# What stays behind


def test_a_mark_says_that_the_training_is_finished(tmp_path: Path) -> None:
    seen: list[bool] = []

    class Looks(Watching):
        def after_evaluation(self, evaluation: Any) -> str | None:
            seen.append(FINISHED in os.listdir(tmp_path))
            return None

    made = estimator(tmp_path)
    lw.train_and_evaluate(made, train(4), evaluation(), observers=[Looks([])])
    told = json.loads((tmp_path / FINISHED).read_text())
    assert (told["global_step"], told["stopped"]) == (4, "max_steps=4 was reached.")
    lw.train_and_evaluate(made, train(8), evaluation(), observers=[Looks([])])
    assert seen == [False] * 4
    assert json.loads((tmp_path / FINISHED).read_text())["global_step"] == 8
    made.train(tiny.data, steps=1)
    assert FINISHED not in os.listdir(tmp_path), "training goes on"


def test_a_last_evaluation_that_was_cut_short_is_made_up_for(tmp_path: Path, log: Any) -> None:
    calls: list[Any] = []

    class Dies(Noting):
        def export(self, **given: Any) -> str:
            super().export(**given)
            if given["is_the_final_export"]:
                raise MemoryError
            return ""

    with pytest.raises(MemoryError):
        lw.train_and_evaluate(estimator(tmp_path), train(4), evaluation(exporters=Dies("x")))
    result = lw.train_and_evaluate(estimator(tmp_path), train(4), evaluation(exporters=Noting("x", calls)))
    assert calls == [("x", "model.ckpt-4", 4, True)]
    assert result.eval_result == estimator(tmp_path).evaluate(tiny.once)
    assert log.having("An earlier train_and_evaluate did not come to its end: the checkpoint of step 4 is evaluated.")
    again = lw.train_and_evaluate(estimator(tmp_path), train(4), evaluation(exporters=Noting("x", calls)))
    assert again == (None, None), "which is done once"
    assert again.stopped == "Nothing was trained: max_steps=4 was reached before."


def test_no_final_export_is_told(tmp_path: Path, log: Any) -> None:
    spec = evaluation(exporters=[Noting("final"), Noting("other")])
    lw.train_and_evaluate(estimator(tmp_path / "a"), train(None, tiny.once), spec)
    lw.train_and_evaluate(estimator(tmp_path / "b"), train(50, tiny.once), spec)
    lw.train_and_evaluate(estimator(tmp_path / "c"), train(2), spec)
    first, second = log.having("never called with is_the_final_export=True")
    assert "['final', 'other']" in first
    assert "because TrainSpec has no max_steps" in first
    assert "because the training ended before max_steps=50" in second
    assert "Set TrainSpec(max_steps=...)" in second


def test_without_max_steps_it_says_what_will_happen(tmp_path: Path, log: Any) -> None:
    result = lw.train_and_evaluate(estimator(tmp_path), train(None, tiny.once), evaluation())
    assert log.having("TrainSpec has no max_steps: training goes on until the data of input_fn ends")
    assert result.stopped == "The training data ended, or a hook or listener asked to stop, at step 2."


def test_an_interrupt_does_not_begin_an_evaluation(tmp_path: Path) -> None:
    class Interrupts(lw.SessionRunHook):  # type: ignore[misc]
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise KeyboardInterrupt

    made = estimator(tmp_path)
    made.evaluate = None  # type: ignore[assignment, method-assign]
    with pytest.raises(KeyboardInterrupt):
        lw.train_and_evaluate(made, train(hooks=[Interrupts()]), evaluation())
    assert os.path.basename(made.latest_checkpoint() or "") == "model.ckpt-1"


def test_an_evaluation_that_runs_out_of_data_does_not_end_the_training_in_silence(tmp_path: Path) -> None:
    class Ends(Noting):
        def export(self, **given: Any) -> str:
            raise tf.errors.OutOfRangeError(None, None, "the end of something")

    with pytest.raises(NotEvaluated, match=r"at step 2 failed with OutOfRangeError: the end of something.*by hand"):
        lw.train_and_evaluate(estimator(tmp_path), train(), evaluation(exporters=Ends("x")))


def test_verbs_that_were_replaced_are_the_ones_called(tmp_path: Path) -> None:
    made, evaluated = estimator(tmp_path), []
    original = made.evaluate

    def evaluate(**given: Any) -> Any:
        evaluated.append(given["checkpoint_path"])
        return {**original(**given), "extra": 1.0}

    made.evaluate = evaluate  # type: ignore[method-assign]
    result = lw.train_and_evaluate(made, train(4), evaluation())
    assert len(evaluated) == 2
    assert result.eval_result is not None
    assert result.eval_result["extra"] == 1.0


# Places


CHIEF = {"cluster": {"chief": ["h0:1"]}, "task": {"type": "chief", "index": 0}}
MASTER = {"cluster": {"master": ["h0:1"]}, "task": {"type": "master", "index": 0}}


def test_a_chief_alone_trains_and_leaves_evaluation_to_the_evaluator(tmp_path: Path) -> None:
    """As recorded from the original by hand: no evaluation, no listener, nothing in the result."""
    with environment(CHIEF):
        made = estimator(tmp_path)
        result = lw.train_and_evaluate(made, train(4), evaluation())
    assert result == (None, None)
    assert int(made.get_variable_value("global_step")) == 4
    assert "eval" not in os.listdir(tmp_path)


def test_a_master_alone_trains_and_evaluates(tmp_path: Path) -> None:
    with environment(MASTER):
        result = lw.train_and_evaluate(estimator(tmp_path), train(4), evaluation())
    assert steps_of(result) == [2, 4]


def test_a_strategy_that_cannot_be_used_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    made = estimator(tmp_path, eval_distribute="mirrored")
    with pytest.raises(TypeError, match=r"evaluate: RunConfig's strategy must be a tf\.distribute\.Strategy"):
        lw.train_and_evaluate(made, train(), evaluation())
    assert not tmp_path.joinpath("checkpoint").exists()


def test_metrics_of_many_values(tmp_path: Path) -> None:
    def with_vector(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(eval_metric_ops={"per": v1.metrics.mean_tensor(tf.reshape(features["x"], [4]))})

    result = lw.train_and_evaluate(tiny.estimator(tmp_path, with_vector), train(2), evaluation())
    assert result.eval_result is not None
    assert np.array_equal(result.eval_result["per"], [3.0, 4.0, 5.0, 6.0])
