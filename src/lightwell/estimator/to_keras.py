"""The verb `to_keras`: a trained model as a Keras model with the weights of a checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from lightwell.callables import name_of
from lightwell.engine.build import build
from lightwell.engine.fetches import Fetches
from lightwell.engine.held import HeldSession
from lightwell.estimator.verbs import Model, fed_inputs, predict
from lightwell.export.keras_model.check import check_model, feature_paths
from lightwell.export.keras_model.convert import Source, check_keras, keras_model
from lightwell.export.keras_model.marks import marked
from lightwell.export.keras_model.tables import readable_tables
from lightwell.keys import ModeKeys


def to_keras(model: Model, inputs: Any, checkpoint_path: Any) -> Any:
    """A Keras model with the weights of a checkpoint; where `inputs` is an `input_fn`, compared with `predict`."""
    check_keras()
    source = fed_inputs(model, inputs, "to_keras")
    checkpoint = model.checkpoint_for(checkpoint_path, "convert it to Keras")
    recipe = model.recipe(ModeKeys.PREDICT, source.input_fn, untrained=checkpoint is None)
    program = build(dataclasses.replace(recipe, edits=(marked,)))
    tables = readable_tables(program.graph)
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    with contextlib.closing(HeldSession(program, plan)) as held:

        def read(asked: Any) -> Any:
            return held.run(Fetches(program.graph, {"asked": asked}), (), ())["asked"]

        made = keras_model(Source(program, source.feeds, tables, read), name_of(model.model_fn))
    if callable(inputs) and not source.is_received and checkpoint is not None:
        batches = predict(model, inputs, None, (), checkpoint, False, taps=feature_paths(made.input))
        check_model(made, next(batches, None))
    return made
