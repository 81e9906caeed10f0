"""Kinds of hooks: TensorFlow's, and some that users write. Each function gives a hook."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.fuzz.parts import Whole, one_of, part

v1 = tf.compat.v1


class Seeing(v1.train.SessionRunHook):
    """Tells all that happens to it, and looks at a tensor every few calls."""

    def __init__(self, lab: Any, name: str, fetch: str, every: int) -> None:
        self.lab, self.name, self.fetch, self.every, self.calls = lab, name, fetch, every, 0

    def begin(self) -> None:
        self.lab.see(f"{self.name}/begin", 0)

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.lab.see(f"{self.name}/created", int(session.run(v1.train.get_global_step())))

    def before_run(self, context: Any) -> Any:
        self.calls += 1
        if self.calls % self.every:
            return None
        return v1.train.SessionRunArgs(context.session.graph.get_tensor_by_name(self.fetch))

    def after_run(self, context: Any, values: Any) -> None:
        if values.results is not None:
            self.lab.see(f"{self.name}/run", np.asarray(values.results))

    def end(self, session: Any) -> None:
        self.lab.see(f"{self.name}/end", [self.calls, int(session.run(v1.train.get_global_step()))])


class Reading(v1.train.SessionRunHook):
    """Runs the session itself after each step: the global step, and a weight."""

    def __init__(self, lab: Any, every: int) -> None:
        self.lab, self.every, self.calls = lab, every, 0

    def begin(self) -> None:
        self.step = v1.train.get_global_step()
        self.weights = v1.trainable_variables()[:1]

    def after_run(self, context: Any, values: Any) -> None:
        self.calls += 1
        if self.calls % self.every == 0:
            read = context.session.run([self.step, *self.weights])
            self.lab.see("reading", [np.asarray(value) for value in read])


class Stopping(v1.train.SessionRunHook):
    """Asks for an end after so many calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def after_run(self, context: Any, values: Any) -> None:
        self.left -= 1
        if self.left == 0:
            context.request_stop()


class Feeding(v1.train.SessionRunHook):
    """Feeds a placeholder in some steps."""

    def __init__(self, name: str, every: int) -> None:
        self.name, self.every, self.calls = name, every, 0

    def before_run(self, context: Any) -> Any:
        self.calls += 1
        if self.calls % self.every:
            return None
        return v1.train.SessionRunArgs(None, {context.session.graph.get_tensor_by_name(self.name): 0.25})


class Changing(v1.train.SessionRunHook):
    """Changes a weight every few steps, by an op that it made in `begin`."""

    def __init__(self, every: int) -> None:
        self.every, self.calls = every, 0

    def begin(self) -> None:
        self.change = v1.trainable_variables()[0].assign(v1.trainable_variables()[0] * 0.5).op

    def after_run(self, context: Any, values: Any) -> None:
        self.calls += 1
        if self.calls % self.every == 0:
            context.session.run(self.change)


class Listening(v1.train.CheckpointSaverListener):
    """Tells of checkpoints."""

    def __init__(self, lab: Any) -> None:
        self.lab = lab

    def begin(self) -> None:
        self.lab.see("listener/begin", 0)

    def before_save(self, session: Any, step: Any) -> None:
        self.lab.see("listener/before_save", int(step))

    def after_save(self, session: Any, step: Any) -> None:
        self.lab.see("listener/after_save", int(step))

    def end(self, session: Any, step: Any) -> None:
        self.lab.see("listener/end", int(step))


@part("hook", weight=3, fetch=one_of("seen_loss:0", "seen_h:0"), every=Whole(1, 5), uses=(Seeing,))
def seeing(lab: Any, fetch: str, every: int) -> Any:
    return Seeing(lab, "seeing", fetch, every)


@part("hook", every=Whole(1, 5), uses=(Reading,))
def reading(lab: Any, every: int) -> Any:
    return Reading(lab, every)


@part("hook", calls=Whole(1, 9), uses=(Stopping,))
def stopping(lab: Any, calls: int) -> Any:
    return Stopping(calls)


@part("hook", every=Whole(2, 5), uses=(Changing,), tags=("train",), weight=0.7)
def changing(lab: Any, every: int) -> Any:
    return Changing(every)


@part("hook", weight=2, tensor=one_of("seen_loss", "seen_h"), every=Whole(1, 7))
def logging_tensors(lab: Any, tensor: str, every: int) -> Any:
    return v1.train.LoggingTensorHook({"seen_value": tensor + ":0"}, every_n_iter=every)


@part("hook", tensor=one_of("seen_loss", "seen_h"))
def logging_at_end(lab: Any, tensor: str) -> Any:
    return v1.train.LoggingTensorHook({"seen_last": tensor + ":0"}, at_end=True)


@part("hook", tensor=one_of("seen_loss", "seen_h"), every=Whole(1, 5))
def logging_by_formatter(lab: Any, tensor: str, every: int) -> Any:
    def told(values: Any) -> str:
        lab.see("formatter", np.asarray(values["value"]))
        return "formatted"

    return v1.train.LoggingTensorHook({"value": tensor + ":0"}, every_n_iter=every, formatter=told)


@part("hook", every=Whole(1, 9), tags=("train",), weight=1.5)
def step_counter(lab: Any, every: int) -> Any:
    with tf.Graph().as_default():  # its writer of events asks for a graph
        return v1.train.StepCounterHook(every_n_steps=every, output_dir=lab.path("counted"))


@part("hook", steps=Whole(1, 12), tags=("train",), weight=1.5)
def stop_after(lab: Any, steps: int) -> Any:
    return v1.train.StopAtStepHook(num_steps=steps)


@part("hook", last=Whole(1, 30), tags=("train",))
def stop_at(lab: Any, last: int) -> Any:
    return v1.train.StopAtStepHook(last_step=last)


@part("hook", every=Whole(2, 9), tags=("train",), uses=(Listening,), weight=1.5)
def saver(lab: Any, every: int) -> Any:
    return v1.train.CheckpointSaverHook(lab.path("saved"), save_steps=every, listeners=[Listening(lab)])


@part("hook", every=Whole(1, 9), tags=("train", "model"))
def summary_saver(lab: Any, every: int) -> Any:
    summary = v1.summary.scalar("of_hook", v1.get_default_graph().get_tensor_by_name("seen_loss:0"))
    return v1.train.SummarySaverHook(save_steps=every, output_dir=lab.path("summaries"), summary_op=summary)


@part("hook")
def nan_guard(lab: Any) -> Any:
    return v1.train.NanTensorHook("seen_loss:0", fail_on_nan_loss=False)


@part("hook")
def final_ops(lab: Any) -> Any:
    class Final(v1.train.FinalOpsHook):
        def end(self, session: Any) -> None:
            super().end(session)
            lab.see("final", np.asarray(self.final_ops_values))

    class Late(v1.train.SessionRunHook):
        def begin(self) -> None:
            self.hook = Final([v1.train.get_global_step().read_value()])

        def end(self, session: Any) -> None:
            self.hook.end(session)

    return Late()


@part("hook", every=Whole(1, 4), uses=(Feeding,), tags=("keep",))
def feeding(lab: Any, every: int) -> Any:
    return Feeding("keep:0", every)


@part("hook", tags=("keep",), weight=0.7)
def feed_function(lab: Any) -> Any:
    return v1.train.FeedFnHook(lambda: {"keep:0": 0.75})


@part("hook", tags=("train",), weight=0.5)
def step_waiter(lab: Any) -> Any:
    return v1.train.GlobalStepWaiterHook(0)


@part("hook", tags=("train",), every=Whole(2, 9), weight=0.3)
def profiler(lab: Any, every: int) -> Any:
    with tf.Graph().as_default():
        return v1.train.ProfilerHook(save_steps=every, output_dir=lab.path("profile"))
