"""A session with hooks around it: what hooks see, and how a lost session is found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

from lightwell.errors import HookError

v1 = tf.compat.v1


class Looks(v1.train.SessionRunHook):
    """Notes what is so at each moment."""

    def __init__(self) -> None:
        self.graphs: dict[str, Any] = {}
        self.finalized: dict[str, bool] = {}

    def _note(self, moment: str) -> None:
        graph = v1.get_default_graph()
        self.graphs[moment], self.finalized[moment] = graph, graph.finalized

    def begin(self) -> None:
        self._note("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._note("after_create_session")
        self.session, self.coord = session, coord

    def before_run(self, run_context: Any) -> Any:
        self._note("before_run")
        self.original = run_context.original_args
        self.same_session = run_context.session is self.session
        return v1.train.SessionRunArgs({"loss": run_context.loss, "x": [run_context.features["x"]]})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._note("after_run")
        self.values = run_values

    def end(self, session: Any) -> None:
        self._note("end")


def test_hooks_work_in_the_models_graph_which_is_final_once_there_is_a_session(tmp_path: Path) -> None:
    hook = Looks()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert len({id(graph) for graph in hook.graphs.values()}) == 1
    assert hook.finalized == {
        "begin": False,
        "after_create_session": True,
        "before_run": True,
        "after_run": True,
        "end": True,
    }
    assert isinstance(hook.session, v1.Session)
    assert isinstance(hook.coord, tf.train.Coordinator)
    assert hook.same_session
    assert tf.executing_eagerly()


def test_what_a_hook_asks_for_comes_back_in_its_form(tmp_path: Path) -> None:
    hook = Looks()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert hook.values.results["x"][0].tolist() == [1, 2, 3, 4]
    assert hook.values.results["loss"] == np.square(tiny.X[:4]).mean()
    assert len(hook.original.fetches) == 2


def test_a_trace_comes_with_its_metadata(tmp_path: Path) -> None:
    class Traces(Looks):
        def before_run(self, run_context: Any) -> Any:
            options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            return v1.train.SessionRunArgs(run_context.loss, options=options)

    hook = Traces()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert hook.values.run_metadata.HasField("step_stats")
    assert hook.values.options.trace_level == v1.RunOptions.FULL_TRACE


def test_a_hook_may_feed(tmp_path: Path) -> None:
    class Feeds(Looks):
        def before_run(self, run_context: Any) -> Any:
            x = run_context.features["x"]
            return v1.train.SessionRunArgs(x, feed_dict={x: np.full(4, 100, np.float32)})

    hook = Feeds()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert hook.values.results.tolist() == [100] * 4


def test_a_hook_may_add_to_the_graph_in_begin_and_not_later(tmp_path: Path) -> None:
    class Adds(v1.train.SessionRunHook):
        def begin(self) -> None:
            self.twice = 2 * v1.get_default_graph().get_tensor_by_name("w/Read/ReadVariableOp:0")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen = run_context.session.run(self.twice)

    hook = Adds()
    tiny.estimator(tmp_path).train(tiny.once, hooks=[hook], steps=1)
    assert hook.seen > 2

    class AddsLate(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            tf.constant(1)

    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tiny.estimator(tmp_path / "late").train(tiny.once, hooks=[AddsLate()], steps=1)


class LosesSession(v1.train.SessionRunHook):
    """Loses the session at one moment of one step."""

    def __init__(self, moment: str, at: int, error: type = tf.errors.AbortedError) -> None:
        self.moment, self.at, self.error = moment, at, error
        self.count, self.sessions, self.begun, self.ended = 0, [], 0, 0

    def _maybe(self, moment: str) -> None:
        if moment == self.moment:
            self.count += 1
            if self.count == self.at:
                raise self.error(None, None, "the machine went away")

    def begin(self) -> None:
        self.begun += 1

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions.append(session)
        self._maybe("after_create_session")

    def before_run(self, run_context: Any) -> None:
        self._maybe("before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._maybe("after_run")

    def end(self, session: Any) -> None:
        self.ended += 1


@pytest.mark.parametrize("error", [tf.errors.AbortedError, tf.errors.UnavailableError])
@pytest.mark.parametrize("moment", ["before_run", "after_run"])
def test_a_lost_session_is_opened_again_from_the_last_checkpoint(
    tmp_path: Path, log: LogLines, moment: str, error: type
) -> None:
    hook = LosesSession(moment, at=4, error=error)
    made = tiny.estimator(tmp_path, save_checkpoints_steps=2)
    made.train(tiny.data, hooks=[hook], max_steps=6)
    assert made.evaluate(tiny.once)["global_step"] == 6
    assert (hook.begun, len(hook.sessions), hook.ended) == (1, 2, 1)
    assert hook.sessions[0] is not hook.sessions[1]
    (line,) = log.having("An error was raised")
    assert "a new session will be created" in line
    assert "the machine went away" in line
    # before_run: step 4 had not run, so 2 is the newest checkpoint; after_run: the saver had stored step 4 already.
    assert log.having("Restoring parameters")[0].endswith(f"model.ckpt-{2 if moment == 'before_run' else 4}")


def test_one_that_is_lost_while_it_is_opened_is_tried_again(tmp_path: Path, log: LogLines) -> None:
    hook = LosesSession("after_create_session", at=1)
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, hooks=[hook], steps=3)
    assert len(hook.sessions) == 2
    assert made.evaluate(tiny.once)["global_step"] == 3
    assert log.having("while a session was being created")


def test_evaluation_starts_over_in_a_new_session(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    expected = made.evaluate(tiny.once)
    hook = LosesSession("after_run", at=2)
    assert made.evaluate(tiny.once, hooks=[hook]) == expected
    assert len(hook.sessions) == 2


def test_another_error_is_not_a_lost_session(tmp_path: Path) -> None:
    hook = LosesSession("after_run", at=1, error=tf.errors.InternalError)
    with pytest.raises(tf.errors.InternalError, match="the machine went away"):
        tiny.estimator(tmp_path).train(tiny.data, hooks=[hook], steps=3)
    assert (len(hook.sessions), hook.ended) == (1, 0)


def test_a_hook_that_asks_for_nonsense_is_told(tmp_path: Path) -> None:
    class Wrong(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return run_context.loss

    with pytest.raises(HookError, match=r"Wrong\.before_run must return a SessionRunArgs or None, got SymbolicTensor"):
        tiny.estimator(tmp_path).train(tiny.data, hooks=[Wrong()], steps=1)


def test_queue_runners_feed_a_training_and_stop_with_their_data(tmp_path: Path) -> None:
    def input_fn() -> Any:
        queue = v1.train.slice_input_producer([tiny.X, tiny.Y], num_epochs=2, shuffle=False)
        x, y = v1.train.batch(queue, batch_size=4, allow_smaller_final_batch=True)
        return {"x": x}, y

    made = tiny.estimator(tmp_path)
    made.train(input_fn)
    assert made.evaluate(input_fn)["global_step"] == 4
    assert len(list(made.predict(input_fn))) == 16
