"""The verb `to_keras`: a trained model as a Keras model with the weights of a checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from lightwell.base.callables import name_of
from lightwell.base.keys import ModeKeys
from lightwell.estimator.export.keras_model.comparison import check_model, feature_paths
from lightwell.estimator.export.keras_model.convert import KerasSource, check_keras, keras_model
from lightwell.estimator.export.keras_model.marks import marked
from lightwell.estimator.export.keras_model.tables import readable_tables
from lightwell.estimator.verbs import ModelDefinition, fed_inputs, predict
from lightwell.run.engine.build import build
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.pinned_session import PinnedSession


def to_keras(model: ModelDefinition, inputs: Any, checkpoint_path: Any) -> Any:
    """A Keras model with the weights of a checkpoint; where `inputs` is an `input_fn`, compared with `predict`."""
    check_keras()
    inputs_fed = fed_inputs(model, inputs, "to_keras")
    checkpoint = model.checkpoint_for(checkpoint_path, "convert it to Keras")
    recipe = model.recipe(ModeKeys.PREDICT, inputs_fed.input_fn, untrained=checkpoint is None)
    program = build(dataclasses.replace(recipe, edits=(marked,)))
    tables = readable_tables(program.graph)
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    with contextlib.closing(PinnedSession(program, plan)) as session:

        def read(tensors: Any) -> Any:
            return session.run(Fetches(program.graph, {"tensors": tensors}), (), ())["tensors"]

        converted = keras_model(KerasSource(program, inputs_fed.feeds, tables, read), name_of(model.model_fn))
    if callable(inputs) and not inputs_fed.is_received and checkpoint is not None:
        batches = predict(model, inputs, None, (), checkpoint, False, taps=feature_paths(converted.input))
        check_model(converted, next(batches, None))
    return converted
