"""What a hook can see of the model behind a step."""

from __future__ import annotations

from types import SimpleNamespace

import tensorflow as tf

from lightwell.hooks.context import ModelView, RunContext

v1 = tf.compat.v1


def test_it_is_tensorflows_context_with_a_view_of_the_model() -> None:
    spec = SimpleNamespace(predictions={"out": 1}, loss="loss")
    view = ModelView("train", {"x": 2}, "labels", spec, {"dense": 3})
    args = v1.train.SessionRunArgs("fetches")
    context = RunContext(args, "session", view, 4)
    assert isinstance(context, v1.train.SessionRunContext)
    assert (context.original_args, context.session) == (args, "session")
    assert (context.mode, context.features, context.labels) == ("train", {"x": 2}, "labels")
    assert (context.spec, context.predictions, context.loss) == (spec, {"out": 1}, "loss")
    assert context.layers == {"dense": 3}
    assert (context.global_step, context.loss_value) == (4, None)


def test_a_stop_can_be_asked_for() -> None:
    context = RunContext(None, None, ModelView("train", None, None, None), 0)
    assert not context.stop_requested
    context.request_stop()
    assert context.stop_requested
