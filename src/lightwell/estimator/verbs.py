"""The verbs of `Estimator`: train, evaluate, predict and the rest, over the line build -> open -> run.

Each takes checked arguments and a `ModelDefinition`. This module loads the engine, so `core` imports it with the first
verb: a program that only defines a model or prints its help does not pay for it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.estimator.export.inferred import inferred_receiver_fn
from lightwell.estimator.export.saved_model import ExportOptions, write_saved_model
from lightwell.estimator.input_warnings import warn_of_missing_batches, warn_of_short_training
from lightwell.estimator.model_dir import ensure_writable, warn_untrained
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.inside.edits.base import Edit
from lightwell.inside.edits.changes import Changes
from lightwell.inside.edits.changes import checked_edits as checked_edits
from lightwell.inside.edits.edit_numbers import EditVariables
from lightwell.inside.edits.predictor_edits import PredictorEdits
from lightwell.inside.edits.start_from_layer import LayerStart, replacements
from lightwell.inside.paths.describe import Description
from lightwell.inside.paths.describe import describe as describe_program
from lightwell.inside.paths.request import is_plain, key_of
from lightwell.inside.paths.stored_description import WriteDescription, read_description
from lightwell.inside.watches.fed_inputs import FedInputs, specs_from_description
from lightwell.inside.watches.hook_paths import with_paths
from lightwell.inside.watches.over_data import WHERE, EvalResult, OverData, over_data
from lightwell.inside.watches.predictor import Predictor
from lightwell.inside.watches.rows import RowTaps
from lightwell.inside.watches.watch import Watch, here
from lightwell.inside.weights.freezing import FreezePlan
from lightwell.inside.weights.freezing import checked_freeze_plan as checked_freeze_plan
from lightwell.model.interop.completion import completed
from lightwell.model.interop.keras_scope import keras_in_model_fn, keras_replaced
from lightwell.model.interop.trace import active_trace
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.directory_locks import lock_as_chief, lock_for_training
from lightwell.run.checkpoints.finished import remove_mark
from lightwell.run.checkpoints.index import checked_path, newest_usable
from lightwell.run.checkpoints.restore import Source
from lightwell.run.checkpoints.warm_start import WarmStartSettings, warm_start
from lightwell.run.config import RunConfig
from lightwell.run.devices.gpus import with_gpu_settings
from lightwell.run.devices.member import Member, join_cluster
from lightwell.run.devices.strategies import add_strategy_devices, input_context, local_strategy, replicated
from lightwell.run.engine.build import Recipe, build, call_model_fn, draft, finish
from lightwell.run.engine.build import create_global_step as create_global_step
from lightwell.run.engine.evaluate import evaluate as run_evaluation
from lightwell.run.engine.evaluate import read_metrics, task_of_evaluation
from lightwell.run.engine.op_devices import op_devices
from lightwell.run.engine.predict import predict as run_prediction
from lightwell.run.engine.predict import task_of_prediction, warn_if_endless
from lightwell.run.engine.program import Program
from lightwell.run.engine.program_key import digest_of_files, program_key
from lightwell.run.engine.runner import Runner
from lightwell.run.engine.session import SessionPlan
from lightwell.run.engine.session_pool import SessionPool
from lightwell.run.engine.session_reuse import input_restarts
from lightwell.run.engine.session_source import ColdSource, SessionSource, WarmSource
from lightwell.run.engine.train import Goal, TrainOutcome
from lightwell.run.engine.train import train as run_training
from lightwell.run.hooks.defaults import evaluation_hooks
from lightwell.run.hooks.read_metrics import ReadMetrics
from lightwell.run.inputs.call import in_scope
from lightwell.run.inputs.unpack import Inputs
from lightwell.run.loops.task import StepSettings


@dataclass(frozen=True, eq=False)
class ModelDefinition:
    """The functions and settings of an Estimator, which every verb starts from.

    Attributes:
        model_fn: the model function.
        params: handed to `model_fn` and `input_fn`.
        config: how to run.
        model_dir: the directory of checkpoints and events.
        session_config: a `tf.compat.v1.ConfigProto`.
        warm_start: the source of initial weights, or None.
        sessions: the session pool; None where each call opens a new session.
        newest: returns the path of the newest checkpoint, or None.
        make_global_step: creates the step counter in a graph.
        input_scope: a name scope for the ops of `input_fn`, for a model whose op names must not change; "" for none.
    """

    model_fn: Callable[..., Any]
    params: Any
    config: RunConfig
    model_dir: str
    session_config: Any
    warm_start: WarmStartSettings | None
    sessions: SessionPool | None
    newest: Callable[[], str | None]
    make_global_step: Callable[[Any], Any]
    input_scope: str = ""

    def recipe(self, mode: str, input_fn: Any, untrained: bool, gate: Sequence[Any] = ()) -> Recipe:
        """How to build a program of one mode on one device; without a checkpoint, weights may come from elsewhere."""
        settings = self.warm_start if untrained else None
        start = None if settings is None else lambda: warm_start(settings)
        input_fn = in_scope(input_fn, self.input_scope) if self.input_scope else input_fn
        return Recipe(self.model_fn, input_fn, mode, self.params, self.config, start, self.make_global_step, gate)

    def on_all_devices(self, recipe: Recipe) -> Recipe:
        """A recipe for all replicas of the strategy of its mode, where there is one."""
        strategy = self.strategy(recipe.mode)
        context = input_context(strategy, self.config)
        return dataclasses.replace(recipe, strategy=replicated(strategy), input_context=context)

    def strategy(self, mode: str) -> Any:
        """The distribution strategy of a mode; predictions are made on one device, evaluations by one process."""
        if mode == ModeKeys.TRAIN:
            return self.config.train_distribute
        return local_strategy(self.config.eval_distribute) if mode == ModeKeys.EVAL else None

    def plan(
        self,
        find_checkpoint: Callable[[], Source | None],
        target: str,
        exact: bool = False,
        member: Member | None = None,
    ) -> SessionPlan:
        """How to open a session."""
        strategies = [self.strategy(mode) for mode in (ModeKeys.TRAIN, ModeKeys.EVAL)]
        strategies = strategies if target else [local_strategy(strategy) for strategy in strategies]
        settings = with_gpu_settings(self.session_config, self.config.gpu_memory)
        return SessionPlan(find_checkpoint, target, add_strategy_devices(strategies, settings), exact, member)

    def checkpoint_for(self, path: Any, doing: str) -> str | None:
        """The checkpoint at `path`, else the newest; None, with a warning, if there is none."""
        if path:
            return checked_path(path)
        checkpoint = self.newest()
        if checkpoint is None and self.warm_start is None and getattr(self.model_fn, "starts_at_random", True):
            warn_untrained(self.model_dir, doing)
        return checkpoint


def train(
    model: ModelDefinition,
    input_fn: Any,
    goal: Goal,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
    freeze_plan: FreezePlan | None = None,
    edits: Sequence[Edit] = (),
) -> TrainOutcome:
    """Trains to a goal, starting from the newest checkpoint."""
    changes = Changes(edits, ModeKeys.TRAIN, "train(edits=...)", EditVariables())
    ensure_writable(model.model_dir)
    member = join_cluster(model.config, model.model_dir)
    with lock_for_training(model.model_dir), lock_as_chief(model.model_dir, member is not None and member.is_chief):
        outcome = _train(model, input_fn, goal, hooks, listeners, freeze_plan, changes, member)
    warn_of_short_training(goal, outcome)
    return outcome


def _train(
    model: ModelDefinition,
    input_fn: Any,
    goal: Goal,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
    freeze_plan: FreezePlan | None,
    changes: Changes,
    member: Member | None,
) -> TrainOutcome:
    if model.config.is_chief:
        remove_mark(model.model_dir)
    resumed = newest_usable(model.model_dir)
    untrained = resumed is None
    if model.warm_start is not None and resumed is not None:
        logger.info("train: warm_start_from is left aside: training goes on from %s.", resumed)
    recipe = model.on_all_devices(model.recipe(ModeKeys.TRAIN, input_fn, untrained, changes.gate))
    program = changes.finished(build(dataclasses.replace(recipe, hold=freeze_plan)))
    with program.graph.as_default():  # where a spec is checked
        spec = program.spec._replace(training_hooks=here(program.spec.training_hooks, model.config))
    hooks, program = here(hooks, model.config), dataclasses.replace(program, spec=spec)
    description = [WriteDescription(program, model.model_dir)] if model.config.is_chief else []
    plan = model.plan(lambda: newest_usable(model.model_dir), model.config.master, member=member)
    return run_training(
        with_paths(program, [*hooks, *spec.training_hooks, *spec.training_chief_hooks], model.model_dir),
        goal=goal,
        hooks=[*hooks, *description, *changes.observers(program)],
        listeners=listeners,
        model_dir=model.model_dir,
        config=model.config,
        plan=dataclasses.replace(plan, saves_to=model.model_dir),
    )


def evaluate(
    model: ModelDefinition,
    input_fn: Any,
    steps: int | None,
    hooks: Sequence[Any],
    checkpoint_path: Any,
    events_dir: str,
    taps: Any,
    edits: Sequence[Edit] = (),
) -> dict[str, Any]:
    """Evaluates a checkpoint; statistics of the taps are part of the result."""
    changes = Changes(edits, ModeKeys.EVAL, "evaluate(edits=...)", EditVariables())
    checkpoint = model.checkpoint_for(checkpoint_path, "evaluate")
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    recipe = model.on_all_devices(model.recipe(ModeKeys.EVAL, input_fn, checkpoint is None, changes.gate))
    statistics = OverData()
    tapped = [] if taps is None else [Watch(over_data(taps), every=1, to=statistics, name=WHERE)]
    program, source = _build_or_reuse(
        model, recipe, checkpoint is not None, [*hooks, *tapped], None, lambda program: None, changes
    )
    tapped += changes.observers(program)
    program = with_paths(program, [*hooks, *tapped, *program.spec.evaluation_hooks], events_dir)
    final = ReadMetrics(lambda: read_metrics(run, program))
    run = Runner(
        program,
        task_of_evaluation(program),
        evaluation_hooks(program.spec, [*hooks, *tapped], steps, final),
        plan,
        model.config.fuse_steps,
        jit_compile=model.config.jit_compile,
        source=source,
    )
    metrics = run_evaluation(run, program, final, events_dir)
    warn_of_missing_batches("evaluate", run.count, steps)
    return metrics if taps is None else EvalResult(metrics, statistics.result())


@with_short_traceback
def predict(
    model: ModelDefinition,
    input_fn: Any,
    predict_keys: Any,
    hooks: Sequence[Any],
    checkpoint_path: Any,
    by_example: bool,
    taps: Any,
    edits: Sequence[Edit] = (),
    from_: Any = None,
) -> Iterator[Any]:
    """Yields predictions together with the tapped values."""
    layer_start = None
    if from_ is not None:
        replaced = replacements(from_)
        layer_start = None if input_fn is not None else LayerStart(replaced, fed_inputs(model, None, "predict"))
        edits = (*(replaced if layer_start is None else layer_start.edits), *edits)
        input_fn = input_fn if layer_start is None else layer_start.input_fn
    where = "predict(edits=...)" if from_ is None else "predict"
    changes = Changes(edits, ModeKeys.PREDICT, where, EditVariables())
    checkpoint = model.checkpoint_for(checkpoint_path, "predict")
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    recipe = model.recipe(ModeKeys.PREDICT, input_fn, checkpoint is None, changes.gate)

    def attach(program: Program) -> RowTaps | None:
        size = None if layer_start is None else layer_start.batch_size(program)
        return None if taps is None else RowTaps(program, taps, size)

    program, source = _build_or_reuse(model, recipe, checkpoint is not None, hooks, taps, attach, changes)
    observers = changes.observers(program) if from_ is None else []
    all_hooks = [*hooks, *program.spec.prediction_hooks, *observers]
    program = with_paths(program, all_hooks, os.path.join(model.model_dir, "predict"))
    task = task_of_prediction(program, predict_keys)
    if layer_start is not None:
        layer_start.check(program, task.outputs)
    run = Runner(
        program,
        task,
        all_hooks,
        plan,
        model.config.fuse_steps,
        jit_compile=model.config.jit_compile,
        source=source,
    )
    yield from run_prediction(run, by_example, program.taps)
    warn_of_missing_batches("predict", run.count)


def describe(model: ModelDefinition, input_fn: Any, mode: str, devices: bool = False) -> Description:
    """Describes the layers of the model in one mode, and where its ops run if asked for."""
    program = build(model.on_all_devices(model.recipe(mode, input_fn, untrained=False)))
    description = describe_program(program)
    if not devices:
        return description
    targets = {
        ModeKeys.TRAIN: [program.spec.train_op, program.spec.loss],
        ModeKeys.EVAL: [] if program.evaluation is None else [program.evaluation.update],
        ModeKeys.PREDICT: tf.nest.flatten(program.spec.predictions, expand_composites=True),
    }
    with program.graph.as_default():
        placed = op_devices(program, model.plan(lambda: None, ""), targets[mode])
    return dataclasses.replace(description, devices=placed)


def predictor(model: ModelDefinition, inputs: Any, checkpoint_path: Any) -> Predictor:
    """A handle with a pinned session."""
    source = fed_inputs(model, inputs, "predictor")
    checkpoint = model.checkpoint_for(checkpoint_path, "predict")

    def build_edited(gate: Sequence[Any] = ()) -> tuple[Program, Any]:
        program = build(model.recipe(ModeKeys.PREDICT, source.input_fn, checkpoint is None, gate))
        return program, source.feeds

    program, feeds = build_edited()
    newest = (lambda: checkpoint) if checkpoint_path is not None else model.newest
    plan = model.plan(newest, model.config.evaluation_master, exact=bool(checkpoint_path))
    return Predictor(program, feeds, plan, PredictorEdits(build_edited))


def export(
    model: ModelDefinition,
    base: str | bytes,
    receiver_fns: Mapping[str, Any],
    checkpoint_path: Any,
    verb: str,
    options: Mapping[str, Any],
) -> str:
    """Writes a SavedModel; a mode without a receiver function gets one like the input of the last training."""
    checkpoint = checked_path(checkpoint_path) if checkpoint_path else model.newest()
    if checkpoint is None:
        raise UsageError(
            f"{verb}: Couldn't find trained model at {model.model_dir}. Train it first, or check the path."
        )

    def recipe_of(mode: str, input_fn: Any) -> Recipe:
        return dataclasses.replace(model.recipe(mode, input_fn, untrained=False), is_export=True)

    receivers = {mode: fn or inferred_receiver_fn(model.model_dir, verb) for mode, fn in receiver_fns.items()}
    plan = model.plan(lambda: checkpoint, "", exact=bool(checkpoint_path))
    return write_saved_model(tf.compat.as_str(base), receivers, recipe_of, plan, ExportOptions(verb, **options))


def call_in_default_graph(
    model_fn: Callable[..., Any], params: Any, features: Any, labels: Any, mode: str, config: RunConfig
) -> EstimatorSpec:
    """Calls `model_fn` in the default graph, on the caller's tensors."""
    recipe, inputs = Recipe(model_fn, lambda: None, mode, params, config), Inputs(features, labels)
    if active_trace() is not None:  # the enclosing model_fn has prepared Keras
        return call_model_fn(recipe, inputs)
    with keras_in_model_fn(mode) as keras:
        return completed(call_model_fn(recipe, inputs), keras)


def fed_inputs(model: ModelDefinition, inputs: Any, verb: str) -> FedInputs:
    """Placeholders for the model's input; `inputs=None` takes the structure of the last training."""
    if inputs is None:
        alternative = f"est.{verb}(input_fn), or est.{verb}({{'x': tf.TensorSpec([None, 784], tf.float32)}})"
        inputs = specs_from_description(read_description(model.model_dir), verb, alternative)
    return FedInputs(inputs, model.params, model.config, verb)


@keras_replaced()
def _build_or_reuse(
    model: ModelDefinition,
    recipe: Recipe,
    is_trained: bool,
    hooks: Sequence[Any],
    taps: Any,
    attach: Callable[[Program], RowTaps | None],
    changes: Changes,
) -> tuple[Program, SessionSource]:
    """A program with its taps, and its session; with `RunConfig(pure_model_fn=True)`, a warm one where possible."""
    drafted = draft(recipe)
    if recipe.mode == ModeKeys.PREDICT:
        warn_if_endless(drafted)
    key = None
    # Without a checkpoint each call draws new initial weights, so a warm session would differ.
    may_reuse = model.config.pure_model_fn and is_trained and not hooks and not recipe.edits
    if may_reuse and model.sessions is not None and is_plain(taps):
        settings = model.session_config, StepSettings(model.config.fuse_steps, model.config.jit_compile)
        key = program_key(drafted.graph, drafted.inputs, recipe.mode, key_of(taps), *settings, is_of_input=True)
        opened = None if key is None else model.sessions.take(key)
        if key is not None and opened is not None and opened.files == digest_of_files(opened.program.graph):
            return opened.program, WarmSource(model.sessions, key, opened, drafted.inputs)
        if opened is not None:
            opened.free()
        elif not input_restarts(drafted.graph, drafted.inputs):
            key = None
    program = changes.finished(finish(drafted))
    return dataclasses.replace(program, taps=attach(program)), ColdSource(model.sessions, key)
