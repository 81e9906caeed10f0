"""`Watch` and `stop_when`, in train, evaluate and predict."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models
from tests.inside.paths.models import AGES, CITIES, IMAGES

import lightwell as lw

v1 = tf.compat.v1
BOTH_WAYS = pytest.mark.parametrize("fuse_steps", ["auto", False])


class Seen(list[Any]):
    """Keeps what a watch saw: pairs of step and values."""

    def __call__(self, step: Any) -> None:
        self.append((step.global_step, dict(step)))

    @property
    def steps(self) -> list[int]:
        return [step for step, _ in self]


@BOTH_WAYS
def test_cadences_in_training(fuse_steps: Any, tmp_path: Path) -> None:
    every, at, each_second, always = Seen(), Seen(), Seen(), Seen()
    hooks = [
        lw.Watch("loss", every=4, do=every),
        lw.Watch("loss", at=[2, 3, 11], do=at),
        lw.Watch("loss", every_secs=1e-6, do=each_second),
        lw.Watch("loss", every_secs=3600, do=always),
    ]
    made = tiny.estimator(tmp_path, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=9, hooks=hooks)
    assert every.steps == [4, 8]
    assert at.steps == [2, 3]
    assert each_second.steps == list(range(1, 10))
    assert always.steps == []
    made.train(tiny.data, steps=4, hooks=hooks)
    assert every.steps == [4, 8, 12]
    assert at.steps == [2, 3, 11]


@BOTH_WAYS
def test_a_counter_that_moves_by_two(fuse_steps: Any, tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        spec = tiny.linear(features, labels, mode, params)
        with tf.control_dependencies([spec.train_op]):
            return spec._replace(train_op=v1.assign_add(v1.train.get_global_step(), 1).op)

    seen: list[tuple[int, int]] = []
    watch = lw.Watch("loss", every=5, do=lambda step: seen.append((step.global_step, step.batch)))
    tiny.estimator(tmp_path, model_fn, params={}, fuse_steps=fuse_steps).train(tiny.data, max_steps=20, hooks=[watch])
    assert seen == [(6, 3), (10, 5), (16, 8), (20, 10)]


def test_batches_are_counted_in_evaluation_and_prediction(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=3)
    seen: list[Any] = []

    def look(step: Any) -> None:
        seen.append((step.mode, step.batch, step.global_step, step["features/x"].tolist()))

    made.evaluate(tiny.once, hooks=[lw.Watch("features/x", every=2, do=look)])
    list(made.predict(tiny.once, hooks=[lw.Watch("features/x", at=[1], do=look)]))
    assert seen == [("eval", 2, 3, [5, 6, 7, 8]), ("infer", 1, 3, [1, 2, 3, 4])]


def test_metrics_so_far_include_the_batch(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1)
    w, b = made.weights["w"], made.weights["b"]
    errors = np.abs(w * tiny.X + b - tiny.Y)
    seen = Seen()
    result = made.evaluate(tiny.once, hooks=[lw.Watch("metrics/*", "loss", every=1, do=seen)])
    assert [values["metrics/mae"] for _, values in seen] == pytest.approx([errors[:4].mean(), errors.mean()], rel=1e-5)
    assert seen[-1][1]["metrics/mae"] == result["mae"]
    assert seen[-1][1]["metrics/loss"] == result["loss"]
    assert seen[0][1]["loss"] == pytest.approx(np.mean(errors[:4] ** 2), rel=1e-5)


def test_stop_ends_the_run_after_the_step_and_saves(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=50, hooks=[lw.Watch("loss", at=[7], do=lambda step: step.stop())])
    assert made.get_variable_value("global_step") == 7
    rows = made.predict(
        lambda: tiny.data(repeat=9), hooks=[lw.Watch("features/x", at=[2], do=lambda step: step.stop())]
    )
    assert len(list(rows)) == 8


def test_stop_when(tmp_path: Path, log: Any) -> None:
    made = tiny.estimator(tmp_path)
    losses: list[float] = []

    def is_low(loss: float) -> bool:
        losses.append(loss)
        return loss < 5

    made.train(tiny.data, steps=500, hooks=[lw.stop_when("loss", is_low)])
    assert len(losses) == made.get_variable_value("global_step")
    assert losses[-1] < 5 <= min(losses[:-1])
    assert log.having(f"stop_when('loss'): the condition holds at step {len(losses)}.")
    # Several values: the predicate is given the step.
    made.train(tiny.data, steps=500, hooks=[lw.stop_when(["weights/*"], lambda step: step["w"] > step["b"], every=10)])
    assert made.get_variable_value("global_step") % 10 == 0
    with pytest.raises(lw.errors.UsageError, match=r"stop_when\('loss'\): the predicate must be a function"):
        lw.stop_when("loss", 0.1)


def _nan_in_the_sixth_batch() -> Any:
    x = np.ones([20], np.float32)
    x[5] = np.nan
    return tf.data.Dataset.from_tensor_slices(({"x": x}, np.ones([20], np.float32))).batch(1)


@pytest.mark.parametrize("fuse_steps", ["auto", False])
@pytest.mark.parametrize(
    "hook",
    [
        lambda: lw.stop_when("loss", np.isnan),
        lambda: lw.stop_when("loss", np.isnan, every=100),
        lambda: lw.stop_when("features/x", lambda x: np.isnan(x).any()),
        lambda: lw.stop_when(lw.stats("features/x"), lambda x: np.isnan(x.mean)),
        lambda: lw.Watch("loss", every=1, do=lambda step: step.stop() if np.isnan(step["loss"]) else None),
    ],
)
def test_a_run_that_is_stopped_because_of_a_nan_ends_without_an_error(
    hook: Any, fuse_steps: Any, tmp_path: Path
) -> None:
    made = tiny.estimator(tmp_path, fuse_steps=fuse_steps)
    made.train(_nan_in_the_sixth_batch, hooks=[hook()])
    assert made.get_variable_value("global_step") == 6


@pytest.mark.parametrize(
    "hook",
    [
        lambda: lw.stop_when("loss", lambda loss: loss < 0),
        lambda: lw.stop_when("global_step", lambda step: step == 6),
        lambda: lw.Watch("loss", every=1, do=lambda step: None),
    ],
)
def test_a_nan_that_nobody_stops_for_is_an_error(hook: Any, tmp_path: Path) -> None:
    with pytest.raises(v1.train.NanLossDuringTrainingError, match="at step 6"):
        tiny.estimator(tmp_path).train(_nan_in_the_sixth_batch, hooks=[hook()])


def test_an_error_in_its_function_names_the_watch_the_step_and_the_cause(tmp_path: Path) -> None:
    def look(step: Any) -> None:
        raise StopIteration("no more")  # of all exceptions the one that would end a training silently

    with pytest.raises(lw.errors.WatchError) as caught:
        tiny.estimator(tmp_path).train(tiny.data, steps=9, hooks=[lw.Watch("loss", every=3, do=look)])
    assert str(caught.value) == "Watch('loss'): its function look raised StopIteration at step 3: no more"
    assert isinstance(caught.value.__cause__, StopIteration)
    watch = lw.Watch("loss", at=[1], do=lambda step: step["los"], name="mine")
    with pytest.raises(
        lw.errors.WatchError, match=r"mine: its function <lambda> raised PathError.*no 'los'; it reads 'loss'"
    ):
        tiny.estimator(tmp_path / "b").train(tiny.data, steps=9, hooks=[watch])


def test_a_path_that_names_nothing_is_an_error_before_the_first_step(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    with pytest.raises(lw.errors.PathError, match=r"Watch\('features/y'\): 'features/y' names nothing.*'features/x'"):
        made.train(tiny.data, steps=9, hooks=[lw.Watch("features/y", every=1000, do=print)])
    assert made.latest_checkpoint() is None


def test_a_watch_made_in_model_fn_works(tmp_path: Path) -> None:
    seen = Seen()

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        watch = lw.Watch("features/x", every=1, do=seen)
        spec = tiny.linear(features, labels, mode, params)
        return spec._replace(training_hooks=[watch], evaluation_hooks=[watch], prediction_hooks=[watch])

    made = tiny.estimator(tmp_path, model_fn, params={})
    made.train(tiny.data, steps=2)
    made.evaluate(tiny.once)
    list(made.predict(tiny.once))
    assert len(seen) == 6


def test_without_a_function_the_values_are_logged(tmp_path: Path, log: Any) -> None:
    tiny.estimator(tmp_path).train(tiny.data, steps=2, hooks=[lw.Watch("features/x", "weights/w", at=[2])])
    (line,) = log.having("Watch(")
    assert line.startswith(
        "INFO Watch('features/x', 'weights/w') at step 2: features/x = float32[4] mean 6.5, weights/w"
    )


@BOTH_WAYS
def test_off_cadence_nothing_is_fetched(fuse_steps: Any, tmp_path: Path) -> None:
    fetched: list[Any] = []
    watch = lw.Watch("features/x", "gradients/weights/w", "updates/weights/w", every=10, do=lambda step: None)
    original = watch.before_run

    def before_run(context: Any) -> Any:
        args = original(context)
        fetched.append((context.global_step, None if args is None else sorted(args.fetches)))
        return args

    watch.before_run = before_run
    tiny.estimator(tmp_path, fuse_steps=fuse_steps).train(tiny.data, steps=25, hooks=[watch])
    paths = ["features/x", "gradients/weights/w", "updates/weights/w"]
    assert [entry for entry in fetched if entry[1] is not None] == [(9, paths), (19, paths)]


def test_sparse_ragged_and_string_features(tmp_path: Path) -> None:
    def input_fn() -> Any:
        sparse = tf.sparse.from_dense([[1, 0], [0, 2], [0, 0], [3, 4]])
        ragged = tf.ragged.constant([[1.0], [], [2.0, 3.0], [4.0]])
        features = {"sparse": sparse, "ragged": ragged, "city": CITIES[:4], "x": np.ones([4], np.float32)}
        return tf.data.Dataset.from_tensor_slices((features, np.ones([4], np.float32))).batch(2).repeat()

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        return tiny.linear({"x": features["x"]}, labels, mode, params)

    seen, reduced = Seen(), Seen()
    hooks = [
        lw.Watch("features", every=1, do=seen),
        lw.Watch(lw.stats("features"), every=1, do=reduced),
        lw.Watch("features", every=1, to="tensorboard"),
    ]
    tiny.estimator(tmp_path, model_fn, params={}).train(input_fn, steps=2, hooks=hooks)
    second = seen[1][1]
    assert second["features/sparse"].values.tolist() == [3, 4]
    assert second["features/sparse"].dense_shape.tolist() == [2, 2]
    assert second["features/ragged"].to_list() == [[2.0, 3.0], [4.0]]
    assert second["features/city"].tolist() == [b"Kiel", b"Ulm"]
    # Strings have no statistics: of a set they are left out, by name they are refused.
    assert sorted(reduced[1][1]) == ["features/ragged", "features/sparse", "features/x"]
    assert reduced[1][1]["features/ragged"].mean == 3
    with pytest.raises(lw.errors.UsageError, match=r"stats\(\.\.\.\) needs numbers, and 'features/city' holds string"):
        tiny.estimator(tmp_path, model_fn, params={}).train(
            input_fn, steps=9, hooks=[lw.Watch(lw.stats("features/city"), every=1, do=print)]
        )


@BOTH_WAYS
def test_reductions_are_those_of_the_raw_values(fuse_steps: Any, tmp_path: Path) -> None:
    raw, stats, spread = Seen(), Seen(), Seen()
    paths = ["layers/*", "gradients/weights/*", "weights/*", "updates/weights/*"]
    hooks = [
        lw.Watch(*paths, at=[3], do=raw),
        lw.Watch(lw.stats(*paths), at=[3], do=stats),
        lw.Watch(lw.histogram(*paths, bins=7), at=[3], do=spread),
    ]
    models.estimator(models.mlp, tmp_path, fuse_steps=fuse_steps).train(models.data, steps=3, hooks=hooks)
    assert raw[0][1].keys() == stats[0][1].keys() == spread[0][1].keys()
    for path, value in raw[0][1].items():
        found, x = stats[0][1][path], value.astype(np.float64)
        expected = [x.mean(), x.std(), np.sqrt(np.mean(x**2)), x.min(), x.max(), np.mean(x == 0), np.linalg.norm(x)]
        np.testing.assert_allclose(list(found.as_dict().values()), expected, rtol=1e-4, atol=1e-7)
        counts, edges = np.histogram(x, 7)
        np.testing.assert_allclose(spread[0][1][path].edges, edges, rtol=1e-5, atol=1e-9)
        assert np.abs(spread[0][1][path].counts - counts).sum() <= 0.02 * x.size + 2


def test_timing(tmp_path: Path) -> None:
    seen = Seen()
    slow = lw.Watch("loss", every=1, do=lambda step: time.sleep(0.02))
    hooks = [lw.Watch("timing/*", every=2, do=seen), slow]
    started = time.perf_counter()
    tiny.estimator(tmp_path).train(tiny.data, steps=6, hooks=hooks)
    took = time.perf_counter() - started
    assert sum(2 * values["timing/step"] for _, values in seen[1:]) < took
    for _, values in seen[1:]:
        assert values["timing/step"] >= 0.02
        rate = values["timing/examples_per_second"]
        assert rate == pytest.approx(4 / values["timing/step"], rel=1e-6)


def test_the_same_value_twice_in_different_forms_is_refused(tmp_path: Path) -> None:
    with pytest.raises(lw.errors.UsageError, match="'loss' is asked for twice, in different forms"):
        tiny.estimator(tmp_path).train(
            tiny.data, steps=1, hooks=[lw.Watch("loss", lw.stats("loss"), every=1, do=print)]
        )


def test_gradients_that_do_not_exist(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        lw.layers.dense(features["x"][:, tf.newaxis], 1, name="idle")
        return tiny.linear(features, labels, mode, params)

    made, seen = tiny.estimator(tmp_path, model_fn, params={}), Seen()
    with pytest.raises(
        lw.errors.PathError, match="the loss does not depend on 'layers/idle', so 'gradients/layers/idle'"
    ):
        made.train(tiny.data, steps=1, hooks=[lw.Watch("gradients/layers/idle", every=1, do=seen)])
    with pytest.raises(lw.errors.PathError, match="the loss does not depend on 'weights/idle/kernel'"):
        made.train(tiny.data, steps=1, hooks=[lw.Watch("gradients/*/idle/*", every=1, do=seen)])
    made.train(tiny.data, steps=1, hooks=[lw.Watch("gradients/*", every=1, do=seen)])
    assert sorted(seen[0][1]) == ["gradients/features/x", "gradients/weights/b", "gradients/weights/w"]


def test_a_watch_that_is_kept_does_not_keep_graphs(tmp_path: Path) -> None:
    graphs: list[Any] = []

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        graphs.append(weakref.ref(v1.get_default_graph()))
        return tiny.linear(features, labels, mode, params)

    kept = [lw.Watch("features/x", "gradients/*", "updates/*", every=1, do=lambda step: None)]
    kept.append(lw.Watch(lw.stats("weights/*"), every=1, do=lambda step: None))
    made = tiny.estimator(tmp_path, model_fn, params={})
    for _ in range(2):
        made.train(tiny.data, steps=2, hooks=kept)
    made.evaluate(tiny.once, hooks=[lw.Watch("features/x", every=1, do=lambda step: None)])
    del made
    gc.collect()
    assert [graph for graph in graphs if graph() is not None] == []


@pytest.mark.parametrize(
    ("given", "named", "text"),
    [
        ((), {}, r"Watch: nothing to read; give it paths, as in Watch\("),
        (("loss",), {"do": "print"}, r"Watch\('loss'\): do must be a function of one argument, the step; got 'print'"),
        (("loss",), {"to": "wandb"}, r'to can be "tensorboard", got \'wandb\'. For all else give a function'),
    ],
)
def test_a_watch_that_makes_no_sense(given: Any, named: dict[str, Any], text: str) -> None:
    with pytest.raises(lw.errors.UsageError, match=text):
        lw.Watch(*given, **named)


def test_names_are_short() -> None:
    assert lw.Watch("a", "b", "c", "d", "e").name == "Watch('a', 'b', 'c', 'd', …)"
    assert lw.Watch(lw.stats("layers/*", "loss"), lw.layers.Dense).name == "Watch(stats('layers/*', 'loss'), Dense)"


def test_features_are_what_input_fn_gave(tmp_path: Path) -> None:
    seen = Seen()
    models.estimator(models.mlp, tmp_path).train(
        models.data, steps=4, hooks=[lw.Watch("features/x", "features/age", "labels", every=1, do=seen)]
    )
    np.testing.assert_array_equal(seen[1][1]["features/x"], IMAGES[8:16])
    np.testing.assert_array_equal(seen[3][1]["features/age"], AGES[:8])


def test_watches_that_ask_for_the_same_share_it(tmp_path: Path) -> None:
    ops: list[int] = []

    class Counts(v1.train.SessionRunHook):
        def begin(self) -> None:
            ops.append(len(v1.get_default_graph().get_operations()))

    for number in (1, 20):
        seen = Seen()
        watches = [lw.Watch(lw.stats("layers/*"), every=2, do=seen) for _ in range(number)]
        models.estimator(models.mlp, tmp_path / str(number)).train(models.data, hooks=[*watches, Counts()], steps=2)
        assert len(seen) == number
        assert all(values == seen[0][1] for _, values in seen)
    assert ops[0] == ops[1]
