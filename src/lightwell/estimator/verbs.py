"""The verbs of `Estimator`: train, evaluate, predict and the rest, over the line build -> open -> run.

Takes checked arguments and a `Model`, all that an Estimator knows; gives results. It loads the engine and all that
reads by path, which a program that defines a model, prints its help or builds an `input_fn` needs none of: `core`
imports it with the first verb that is used.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.finished import remove_mark
from lightwell.checkpoints.index import checked_path, newest_usable
from lightwell.checkpoints.restore import Source
from lightwell.checkpoints.turns import chief_in, training_in
from lightwell.checkpoints.warm_start import WarmStartSettings, warm_start
from lightwell.config import RunConfig
from lightwell.devices.member import Member, joined
from lightwell.devices.strategies import input_context, of_this_process, replicated, with_devices_of
from lightwell.edits.base import Edit
from lightwell.edits.changes import Changes
from lightwell.edits.changes import checked_edits as checked_edits
from lightwell.edits.held import InVariables
from lightwell.edits.middle import FromMiddle, replacements
from lightwell.edits.predicting import Editing
from lightwell.engine.build import Recipe, build, call_model_fn, draft, finish
from lightwell.engine.build import create_global_step as create_global_step
from lightwell.engine.evaluate import evaluate as run_evaluation
from lightwell.engine.evaluate import read_metrics, task_of_evaluation
from lightwell.engine.freshness import digest_of_files, input_restarts, program_key
from lightwell.engine.predict import predict as run_prediction
from lightwell.engine.predict import task_of_prediction, warn_if_endless
from lightwell.engine.program import Program
from lightwell.engine.runner import Runner
from lightwell.engine.session import SessionPlan
from lightwell.engine.sessions import Prepared, Sessions
from lightwell.engine.train import Goal, TrainOutcome
from lightwell.engine.train import train as run_training
from lightwell.errors import UsageError
from lightwell.estimator.endings import tell_of_batches, tell_of_training
from lightwell.estimator.model_dir import ensure_writable, warn_untrained
from lightwell.estimator.tracebacks import brief
from lightwell.export.inferred import inferred_receiver_fn
from lightwell.export.saved_model import Form, write_saved_model
from lightwell.hooks.defaults import evaluation_hooks
from lightwell.hooks.read_metrics import ReadMetrics
from lightwell.inputs.call import in_scope
from lightwell.inputs.unpack import Inputs
from lightwell.interop.completion import completed
from lightwell.interop.keras_scope import keras_in_model_fn, keras_replaced
from lightwell.interop.trace import active_trace
from lightwell.keys import ModeKeys
from lightwell.log import logger
from lightwell.sight.describe import Description
from lightwell.sight.describe import describe as describe_program
from lightwell.sight.fed_inputs import FedInputs, specs_from_description
from lightwell.sight.finding import with_sight
from lightwell.sight.holding import Holding
from lightwell.sight.holding import checked_holding as checked_holding
from lightwell.sight.kept_description import KeepDescription, read_description
from lightwell.sight.over_data import WHERE, EvalResult, OverData, over_data
from lightwell.sight.predictor import Predictor
from lightwell.sight.request import is_plain, key_of
from lightwell.sight.rows import RowTaps
from lightwell.sight.watch import Watch, here
from lightwell.spec import EstimatorSpec


@dataclass(frozen=True, eq=False)
class Model:
    """What an Estimator is: the functions and settings that every verb starts from.

    Attributes:
        model_fn: the model function.
        params: handed to `model_fn` and `input_fn`.
        config: how to run.
        model_dir: where the model lives.
        session_config: a `tf.compat.v1.ConfigProto`.
        warm_start: where initial weights come from, if anywhere.
        sessions: sessions that wait to be used again; None where each call opens a new one.
        newest: the newest checkpoint, or None.
        make_global_step: makes the step counter in a graph.
        input_scope: a name scope for what `input_fn` makes; for a model whose names are not to be shifted by it.
    """

    model_fn: Callable[..., Any]
    params: Any
    config: RunConfig
    model_dir: str
    session_config: Any
    warm_start: WarmStartSettings | None
    sessions: Sessions | None
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
        return of_this_process(self.config.eval_distribute) if mode == ModeKeys.EVAL else None

    def plan(
        self,
        find_checkpoint: Callable[[], Source | None],
        target: str,
        exact: bool = False,
        member: Member | None = None,
    ) -> SessionPlan:
        """How to open a session."""
        given = [self.strategy(mode) for mode in (ModeKeys.TRAIN, ModeKeys.EVAL)]
        strategies = given if target else [of_this_process(one) for one in given]
        return SessionPlan(find_checkpoint, target, with_devices_of(strategies, self.session_config), exact, member)

    def checkpoint_for(self, given: Any, doing: str) -> str | None:
        """The checkpoint that was named, else the newest; None, after a loud warning, where there is none."""
        if given:
            return checked_path(given)
        checkpoint = self.newest()
        if checkpoint is None and self.warm_start is None and getattr(self.model_fn, "starts_at_random", True):
            warn_untrained(self.model_dir, doing)
        return checkpoint


def train(
    model: Model,
    input_fn: Any,
    goal: Goal,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
    holding: Holding | None = None,
    edits: Sequence[Edit] = (),
) -> TrainOutcome:
    """Trains to a goal, starting from the newest checkpoint."""
    changes = Changes(edits, ModeKeys.TRAIN, "train(edits=...)", InVariables())
    ensure_writable(model.model_dir)
    member = joined(model.config, model.model_dir)
    with training_in(model.model_dir), chief_in(model.model_dir, member is not None and member.is_chief):
        outcome = _train(model, input_fn, goal, hooks, listeners, holding, changes, member)
    tell_of_training(goal, outcome)
    return outcome


def _train(
    model: Model,
    input_fn: Any,
    goal: Goal,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
    holding: Holding | None,
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
    program = changes.finished(build(dataclasses.replace(recipe, hold=holding)))
    with program.graph.as_default():  # where a spec is checked
        spec = program.spec._replace(training_hooks=here(program.spec.training_hooks, model.config))
    hooks, program = here(hooks, model.config), dataclasses.replace(program, spec=spec)
    description = [KeepDescription(program, model.model_dir)] if model.config.is_chief else []
    plan = model.plan(lambda: newest_usable(model.model_dir), model.config.master, member=member)
    return run_training(
        with_sight(program, [*hooks, *spec.training_hooks, *spec.training_chief_hooks], model.model_dir),
        goal=goal,
        hooks=[*hooks, *description, *changes.observers(program)],
        listeners=listeners,
        model_dir=model.model_dir,
        config=model.config,
        plan=dataclasses.replace(plan, saves_to=model.model_dir),
    )


def evaluate(
    model: Model,
    input_fn: Any,
    steps: int | None,
    hooks: Sequence[Any],
    checkpoint_path: Any,
    events_dir: str,
    taps: Any,
    edits: Sequence[Edit] = (),
) -> dict[str, Any]:
    """Evaluates a checkpoint; what taps saw comes with the result."""
    changes = Changes(edits, ModeKeys.EVAL, "evaluate(edits=...)", InVariables())
    checkpoint = model.checkpoint_for(checkpoint_path, "evaluate")
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    recipe = model.on_all_devices(model.recipe(ModeKeys.EVAL, input_fn, checkpoint is None, changes.gate))
    statistics = OverData()
    tapped = [] if taps is None else [Watch(over_data(taps), every=1, to=statistics, name=WHERE)]
    prepared = _prepared(model, recipe, checkpoint is not None, [*hooks, *tapped], None, lambda program: None, changes)
    tapped += changes.observers(prepared.program)
    program = with_sight(prepared.program, [*hooks, *tapped, *prepared.program.spec.evaluation_hooks], events_dir)
    final = ReadMetrics(lambda: read_metrics(run, program))
    run = Runner(
        program,
        task_of_evaluation(program),
        evaluation_hooks(program.spec, [*hooks, *tapped], steps, final),
        plan,
        model.config.fuse_steps,
        jit_compile=model.config.jit_compile,
        sessions=model.sessions,
        prepared=prepared,
    )
    metrics = run_evaluation(run, program, final, events_dir)
    tell_of_batches("evaluate", run.count, steps)
    return metrics if taps is None else EvalResult(metrics, statistics.result())


@brief
def predict(
    model: Model,
    input_fn: Any,
    predict_keys: Any,
    hooks: Sequence[Any],
    checkpoint_path: Any,
    by_example: bool,
    taps: Any,
    edits: Sequence[Edit] = (),
    from_: Any = None,
) -> Iterator[Any]:
    """Yields predictions, with what is tapped beside them."""
    middle = None
    if from_ is not None:
        given = replacements(from_)
        middle = None if input_fn is not None else FromMiddle(given, fed_inputs(model, None, "predict"))
        edits = (*(given if middle is None else middle.edits), *edits)
        input_fn = input_fn if middle is None else middle.input_fn
    where = "predict(edits=...)" if from_ is None else "predict"
    changes = Changes(edits, ModeKeys.PREDICT, where, InVariables())
    checkpoint = model.checkpoint_for(checkpoint_path, "predict")
    plan = model.plan(lambda: checkpoint, model.config.evaluation_master, exact=bool(checkpoint_path))
    recipe = model.recipe(ModeKeys.PREDICT, input_fn, checkpoint is None, changes.gate)

    def attach(program: Program) -> RowTaps | None:
        size = None if middle is None else middle.batch_size(program)
        return None if taps is None else RowTaps(program, taps, size)

    prepared = _prepared(model, recipe, checkpoint is not None, hooks, taps, attach, changes)
    observers = changes.observers(prepared.program) if from_ is None else []
    everybody = [*hooks, *prepared.program.spec.prediction_hooks, *observers]
    program = with_sight(prepared.program, everybody, os.path.join(model.model_dir, "predict"))
    row_taps: RowTaps | None = prepared.seen
    task = task_of_prediction(program, predict_keys, None if row_taps is None else row_taps.fetches)
    if middle is not None:
        middle.check(program, task.keep)
    run = Runner(
        program,
        task,
        everybody,
        plan,
        model.config.fuse_steps,
        jit_compile=model.config.jit_compile,
        sessions=model.sessions,
        prepared=prepared,
    )
    yield from run_prediction(run, by_example, None if row_taps is None else row_taps.rows)
    tell_of_batches("predict", run.count)


def describe(model: Model, input_fn: Any, mode: str) -> Description:
    """What the model is made of in one mode."""
    return describe_program(build(model.on_all_devices(model.recipe(mode, input_fn, untrained=False))))


def predictor(model: Model, inputs: Any, checkpoint_path: Any) -> Predictor:
    """A handle that holds a session open."""
    source = fed_inputs(model, inputs, "predictor")
    checkpoint = model.checkpoint_for(checkpoint_path, "predict")

    def built(gate: Sequence[Any] = ()) -> tuple[Program, Any]:
        program = build(model.recipe(ModeKeys.PREDICT, source.input_fn, checkpoint is None, gate))
        return program, source.feeds

    program, feeds = built()
    newest = (lambda: checkpoint) if checkpoint_path is not None else model.newest
    plan = model.plan(newest, model.config.evaluation_master, exact=bool(checkpoint_path))
    return Predictor(program, feeds, plan, Editing(built))


def export(
    model: Model,
    base: str | bytes,
    receiver_fns: Mapping[str, Any],
    checkpoint_path: Any,
    verb: str,
    form: Mapping[str, Any],
) -> str:
    """Writes a SavedModel; a mode without a receiver function gets one like the input of the last training."""
    checkpoint = checked_path(checkpoint_path) if checkpoint_path else model.newest()
    if checkpoint is None:
        raise UsageError(
            f"{verb}: Couldn't find trained model at {model.model_dir}. Train it first, or check the path."
        )

    def recipe_of(mode: str, input_fn: Any) -> Recipe:
        return dataclasses.replace(model.recipe(mode, input_fn, untrained=False), is_export=True)

    known = {mode: given or inferred_receiver_fn(model.model_dir, verb) for mode, given in receiver_fns.items()}
    plan = model.plan(lambda: checkpoint, "", exact=bool(checkpoint_path))
    return write_saved_model(tf.compat.as_str(base), known, recipe_of, plan, Form(verb, **form))


def call_alone(
    model_fn: Callable[..., Any], params: Any, features: Any, labels: Any, mode: str, config: RunConfig
) -> EstimatorSpec:
    """Calls `model_fn` in the default graph, with tensors that the caller has."""
    recipe, inputs = Recipe(model_fn, lambda: None, mode, params, config), Inputs(features, labels)
    if active_trace() is not None:  # inside another model_fn, which takes care of Keras
        return call_model_fn(recipe, inputs)
    with keras_in_model_fn(mode) as keras:
        return completed(call_model_fn(recipe, inputs), keras)


def fed_inputs(model: Model, inputs: Any, verb: str) -> FedInputs:
    """Placeholders for the model's input; where it is not told, as the last training saw it."""
    if inputs is None:
        instead = f"est.{verb}(input_fn), or est.{verb}({{'x': tf.TensorSpec([None, 784], tf.float32)}})"
        inputs = specs_from_description(read_description(model.model_dir), verb, instead)
    return FedInputs(inputs, model.params, model.config, verb)


@keras_replaced()
def _prepared(
    model: Model,
    recipe: Recipe,
    is_trained: bool,
    hooks: Sequence[Any],
    taps: Any,
    attach: Callable[[Program], Any],
    changes: Changes,
) -> Prepared:
    """A program to run, with taps attached; where the user vouches for `model_fn`, one that was built before."""
    drafted = draft(recipe)
    if recipe.mode == ModeKeys.PREDICT:
        warn_if_endless(drafted)
    key = None
    # Without a checkpoint, initial weights are drawn anew each time: only a new session is fresh.
    is_vouched = model.config.pure_model_fn and is_trained and not hooks and not recipe.edits
    if is_vouched and model.sessions is not None and is_plain(taps):
        how = model.config.fuse_steps, model.config.jit_compile
        settings = model.session_config, how
        key = program_key(drafted.graph, drafted.inputs, recipe.mode, key_of(taps), *settings, is_of_input=True)
        opened = None if key is None else model.sessions.take(key)
        if opened is not None and opened.files == digest_of_files(opened.program.graph):
            return Prepared(opened.program, drafted.inputs, opened.seen, opened, key)
        if opened is not None:
            opened.free()
        elif not input_restarts(drafted.graph, drafted.inputs):
            key = None
    program = changes.finished(finish(drafted))
    return Prepared(program, program.inputs, attach(program), key=key)
