"""Building: (model_fn, input_fn, mode, config) becomes a `Program`.

The order is that of `tf.estimator`, because seeds of random ops depend on it: seed, global step, input, model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base import graph_garbage
from lightwell.base.callables import arguments_of, name_of
from lightwell.base.keys import GLOBAL_STEP_READ_COLLECTION, LOSS, OWN_SCOPE, ModeKeys
from lightwell.base.log import logger
from lightwell.errors import ModelFnError
from lightwell.model.feature_columns.recording import recording_columns
from lightwell.model.interop.completion import completed
from lightwell.model.interop.keras_scope import keras_in_input_fn, keras_in_model_fn, keras_in_replica, keras_replaced
from lightwell.model.interop.trace import KerasTrace
from lightwell.model.interop.v1_optimizers import v1_optimizers_in_model_fn
from lightwell.model.layers.gate import Edit
from lightwell.model.layers.record import INPUT_FN, LayerBook, pass_loss, pass_value, recording
from lightwell.model.rnn_cell.sequences import recording_rnn
from lightwell.model.spec import EstimatorSpec, returned_spec
from lightwell.run.config import RunConfig
from lightwell.run.devices.placement import device_of
from lightwell.run.devices.replicas import Replicas, build_replicas, in_scope, merged_spec
from lightwell.run.devices.strategies import replicas_here, spans_processes
from lightwell.run.engine.metrics import evaluation_ops, with_loss_metric
from lightwell.run.engine.program import Program
from lightwell.run.failures.model_fn import Call, explained_model_fn_error
from lightwell.run.inputs.array_calls import arrays_outside_graph
from lightwell.run.inputs.call import call_input_fn
from lightwell.run.inputs.replica_batches import ReplicaBatch, replica_batches_of
from lightwell.run.inputs.unpack import Inputs, unpack_inputs, with_all_initializers

_GraphKeys = tf.compat.v1.GraphKeys


def create_global_step(graph: tf.Graph) -> Any:
    """Makes the step counter in `graph`."""
    return tf.compat.v1.train.create_global_step(graph)


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a program is built from.

    Attributes:
        model_fn: the user's model function.
        input_fn: the user's input function.
        mode: a `ModeKeys` value.
        params: handed to both functions where they ask for it.
        config: likewise, and the source of seed and devices.
        warm_start: called in the finished model's graph when training starts from nothing; may change initial values.
        make_global_step: makes the step counter in a graph and gives it; None from it leaves that to `model_fn`.
        edits: what may change values on their way through the model.
        hold: in training, takes the program and returns the op to train with in place of the model's own.
        is_export: whether the graph is written, not run: `input_fn` gives features and labels that others will feed.
        strategy: a `tf.distribute` strategy, whose replicas run the model; None for one device.
        input_context: the `tf.distribute.InputContext` for `input_fn`; None without a strategy.
    """

    model_fn: Callable[..., Any]
    input_fn: Callable[..., Any]
    mode: str
    params: Any
    config: RunConfig
    warm_start: Callable[[], object] | None = None
    make_global_step: Callable[[tf.Graph], Any] = create_global_step
    edits: Sequence[Edit] = ()
    hold: Callable[[Program], Any] | None = None
    is_export: bool = False
    strategy: Any = None
    input_context: Any = None


@dataclass(frozen=True, eq=False)
class Draft:
    """A graph with its inputs, the model still to come.

    Attributes:
        recipe: what it is built from.
        graph: the graph so far.
        inputs: the batch's tensors; under a strategy, those of the first replica.
        batches: under a strategy, the batch of each replica.
        global_step: the step counter; in evaluation and prediction it is created with the model.
        device: where ops are placed; one that goes round robin goes on with the model where the input left it.
    """

    recipe: Recipe
    graph: tf.Graph
    inputs: Inputs
    batches: tuple[ReplicaBatch, ...] = ()
    global_step: Any = None
    device: Any = None


def build(recipe: Recipe) -> Program:
    """Builds the graph of one mode.

    Raises:
        InputFnError: `input_fn`, or what it returned, cannot be used.
        ModelFnError: `model_fn`, or what it returned, cannot be used.
    """
    with keras_replaced():
        return finish(draft(recipe))


def draft(recipe: Recipe) -> Draft:
    """Calls `input_fn` in a new graph."""
    graph, device = tf.Graph(), device_of(recipe.config, recipe.mode)
    with graph.as_default(), graph.device(device), in_scope(recipe.strategy):
        tf.compat.v1.set_random_seed(recipe.config.tf_random_seed)
        is_first = recipe.mode == ModeKeys.TRAIN or recipe.is_export
        global_step = recipe.make_global_step(graph) if is_first else None
        if global_step is not None and not recipe.is_export:
            _prepare_global_step_read(global_step)
        return Draft(recipe, graph, *_build_inputs(recipe, graph), global_step, device)


def finish(draft: Draft) -> Program:
    """Calls `model_fn` in a draft's graph, and adds what its mode needs."""
    recipe, graph = draft.recipe, draft.graph
    graph_garbage.track(graph)
    with graph.as_default(), graph.device(draft.device), in_scope(recipe.strategy):
        is_first = recipe.mode == ModeKeys.TRAIN or recipe.is_export
        global_step = draft.global_step if is_first else recipe.make_global_step(graph)
        book = LayerBook(edits=recipe.edits, feature_source=_giver(recipe))
        with (
            recording(book),
            recording_rnn(),
            recording_columns(),
            v1_optimizers_in_model_fn(),
            keras_in_model_fn(recipe.mode) as keras,
        ):
            inputs, spec, replicas = _model(draft, book, keras)
        if recipe.warm_start is not None:
            recipe.warm_start()
        inputs = with_all_initializers(inputs, graph, spec.scaffold.local_init_op)
        global_step = _checked_global_step(global_step, graph)
        program = Program(graph, recipe.mode, inputs, spec, global_step, book, replicas, device=draft.device)
        if recipe.hold is not None:
            program = dataclasses.replace(program, spec=spec._replace(train_op=recipe.hold(program)))
        return program if recipe.is_export else _completed(program, recipe.config)


def _model(draft: Draft, book: LayerBook, keras: KerasTrace) -> tuple[Inputs, EstimatorSpec, Replicas | None]:
    """Calls `model_fn`, under a strategy for each replica; gives the inputs as they passed, and one spec for all."""
    recipe = draft.recipe

    def called(inputs: Inputs) -> tuple[Inputs, EstimatorSpec]:
        inputs = _passed_inputs(inputs)
        with keras_in_replica():
            spec = _with_passed_loss(completed(call_model_fn(recipe, inputs), keras.of_replica()))
        is_evaluated = recipe.mode == ModeKeys.EVAL and not recipe.is_export
        return inputs, with_loss_metric(spec) if is_evaluated else spec

    if recipe.strategy is None:
        return *called(draft.inputs), None

    def build_replica(batch: ReplicaBatch) -> tuple[ReplicaBatch, EstimatorSpec]:
        own_inputs = dataclasses.replace(draft.inputs, features=batch.features, labels=batch.labels)
        book.set_has_batch(batch.is_own)
        inputs, spec = called(own_inputs)
        return ReplicaBatch(inputs.features, inputs.labels, batch.is_own), spec

    replicas = build_replicas(recipe.strategy, draft.batches, build_replica)
    first = replicas.batches[0]
    inputs = dataclasses.replace(draft.inputs, features=first.features, labels=first.labels)
    return inputs, merged_spec(replicas), replicas if len(replicas.specs) > 1 else None


def _passed_inputs(inputs: Inputs) -> Inputs:
    """What `model_fn` gets in place of what `input_fn` gave."""
    features, labels = pass_value("features", inputs.features), pass_value("labels", inputs.labels)
    if features is inputs.features and labels is inputs.labels:
        return inputs
    return dataclasses.replace(inputs, features=features, labels=labels)


def _with_passed_loss(spec: EstimatorSpec) -> EstimatorSpec:
    """The spec with the loss that its optimizer took: it has passed by then; another passes for whoever reads it."""
    loss = pass_loss(spec.loss)
    return spec if loss is spec.loss else spec._replace(loss=loss)


def call_model_fn(recipe: Recipe, inputs: Inputs) -> EstimatorSpec:
    """Calls `model_fn` with what it asks for, and checks that a spec for this mode comes back."""
    function, name = recipe.model_fn, name_of(recipe.model_fn)
    takes = arguments_of(function)
    if not takes.accepts("labels") and not takes.has_kwargs and inputs.labels is not None:
        raise ModelFnError(
            f"model_fn {name!r} cannot be called: model_fn does not take labels, but input_fn returns labels. Add an "
            "argument `labels`, or let input_fn return features only."
        )
    available = {"labels": inputs.labels, "mode": recipe.mode, "params": recipe.params, "config": recipe.config}
    chosen = {key: value for key, value in available.items() if takes.accepts(key) or takes.has_kwargs}
    logger.info("Calling model_fn.")
    try:
        spec = function(features=inputs.features, **chosen)
    except Exception as error:
        call = Call(name, recipe.mode, _giver(recipe), name_of(recipe.input_fn), inputs, "labels" in chosen)
        explained = explained_model_fn_error(error, call)
        if explained is None:
            raise
        raise explained from explained.__cause__
    logger.info("Done calling model_fn.")
    return returned_spec(spec, recipe.mode, name)


def _giver(recipe: Recipe) -> str:
    """What gives the features, for errors."""
    return "the receiver function" if recipe.is_export else INPUT_FN


def _checked_global_step(counter: Any, graph: tf.Graph) -> Any:
    """The step counter that was created before the model, or else by it."""
    global_step = tf.compat.v1.train.get_global_step(graph) if counter is None else counter
    if global_step is None:
        raise ModelFnError(
            "The graph has no global step: _create_and_assert_global_step made none, and model_fn neither. Call "
            "tf.compat.v1.train.get_or_create_global_step() in one of them."
        )
    tf.compat.v1.train.assert_global_step(global_step)
    return global_step


def _build_inputs(recipe: Recipe, graph: tf.Graph) -> tuple[Inputs, tuple[ReplicaBatch, ...]]:
    if recipe.is_export:  # arrays belong into the graph then, and no device is the right one
        with keras_in_input_fn():
            return Inputs(*recipe.input_fn()), ()
    count, context = replicas_here(recipe.strategy), recipe.input_context
    with tf.device("/cpu:0"), keras_in_input_fn(), arrays_outside_graph(graph) as state:
        result = call_input_fn(
            recipe.input_fn, mode=recipe.mode, params=recipe.params, config=recipe.config, input_context=context
        )
        # What all processes do together ends for all at once: a dataset of this one that ends must say so before.
        is_joint = recipe.mode == ModeKeys.TRAIN and spans_processes(recipe.strategy)
        announces_end = is_joint and isinstance(result, tf.data.Dataset)
        if count > 1 or announces_end:
            return replica_batches_of(result, recipe.input_fn, recipe.mode, state, count, announces_end)
        inputs = unpack_inputs(result, recipe.input_fn, recipe.mode, state)
        return inputs, (ReplicaBatch(inputs.features, inputs.labels),)


def _prepare_global_step_read(global_step: Any) -> None:
    """Makes the read of the counter that TensorFlow's hooks look for in the graph.

    They would create it later; created before the input, the numbering of ops is that of `tf.estimator`, on which the
    seeds of random ops depend.
    """
    with tf.name_scope("global_step/"):
        is_set = tf.compat.v1.is_variable_initialized(global_step)
        current = tf.cond(is_set, global_step.read_value, lambda: global_step.initial_value)
        tf.compat.v1.add_to_collection(GLOBAL_STEP_READ_COLLECTION, current + 0)


def _completed(program: Program, config: RunConfig) -> Program:
    """Adds what the mode needs beyond the model: summaries, saver and counters, or metrics."""
    spec = program.spec
    if program.mode == ModeKeys.EVAL:
        evaluation = evaluation_ops(spec, program.global_step)
        return dataclasses.replace(program, evaluation=evaluation)
    if program.mode == ModeKeys.PREDICT:
        return program
    _declare_loss(spec.loss)
    _ensure_saver(spec.scaffold, config)
    with tf.control_dependencies([spec.train_op]):
        step_after = tf.identity(program.global_step.read_value(), name=f"{OWN_SCOPE}step_after")
    return dataclasses.replace(program, step_after=step_after)


def _declare_loss(loss: Any) -> None:
    """The loss is a summary and a member of the losses collection, as programs and TensorBoard expect."""
    tf.compat.v1.add_to_collection(_GraphKeys.LOSSES, loss)
    summaries = tf.compat.v1.get_collection(_GraphKeys.SUMMARIES)
    if not any(summary.op.name == LOSS for summary in summaries):
        tf.compat.v1.summary.scalar(LOSS, loss)


def _ensure_saver(scaffold: Any, config: RunConfig) -> None:
    if scaffold.saver is not None or tf.compat.v1.get_collection(_GraphKeys.SAVERS):
        return
    saver = tf.compat.v1.train.Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    tf.compat.v1.add_to_collection(_GraphKeys.SAVERS, saver)
