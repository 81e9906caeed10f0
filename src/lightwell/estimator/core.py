"""`Estimator`: train, evaluate and predict with a `model_fn`, all state in `model_dir`."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.base.callables import name_of
from lightwell.base.keys import GLOBAL_STEP, ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.estimator.ablation_verbs import AblationVerbs
from lightwell.estimator.arguments import check_model_fn, check_place, checked_goal, checked_listeners, checked_steps
from lightwell.estimator.capture_verbs import CaptureVerbs
from lightwell.estimator.edit_verbs import EditVerbs
from lightwell.estimator.export_verbs import ExportVerbs
from lightwell.estimator.model_dir import resolved_config
from lightwell.estimator.subclass_contract import OverridableMembers, check_not_overridden
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.model.spec import HOOKS_OF_VERBS, EstimatorSpec, checked_hooks
from lightwell.run.checkpoints.index import newest_usable
from lightwell.run.checkpoints.reader import variable_names, variable_value
from lightwell.run.checkpoints.warm_start import checked_settings
from lightwell.run.config import RunConfig
from lightwell.run.inputs.call import check_input_fn

if TYPE_CHECKING:
    from lightwell.estimator.verbs import ModelDefinition
    from lightwell.inside.paths.describe import Description
    from lightwell.inside.watches.predictor import Predictor
    from lightwell.inside.weights.freezing import Rates
    from lightwell.inside.weights.views import LayersView, WeightsView


class Estimator(OverridableMembers, AblationVerbs, CaptureVerbs, EditVerbs, ExportVerbs):
    """Trains, evaluates and runs a model that is described by a function.

    `model_fn(features, labels, mode, params, config)` builds the model for one mode and returns an `EstimatorSpec`; it
    may leave out any argument but `features`. All state lives in `model_dir`: each call builds what it needs, takes
    the newest checkpoint, and leaves its results there.

    Args:
        model_fn: the model function.
        model_dir: where checkpoints and TensorBoard events are kept; a temporary directory if neither this nor
            `config.model_dir` is set.
        config: a `RunConfig`.
        params: handed to `model_fn` and `input_fn`; copied.
        warm_start_from: a checkpoint, a directory, a SavedModel or `WarmStartSettings` to take initial weights from,
            when `model_dir` has no checkpoint yet.

    Raises:
        ModelFnError: `model_fn` cannot be called the way an Estimator calls it.
        UsageError: settings contradict each other.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._config = resolved_config(config, model_dir)
        self._model_dir: str = self._config.model_dir
        self._session_config = self._config.session_config
        self._device_fn = self._config.device_fn
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        self._params = copy.deepcopy(params) if params is not None else {}
        self._warm_start_settings = checked_settings(warm_start_from)
        self._lightwell_input_scope = ""
        self._lightwell_sessions: Any = None  # the session pool, created by the first verb
        self._lightwell_events: Any = None  # releases the event files
        logger.info("Using config: %s", self._config)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_not_overridden(cls)

    def __getstate__(self) -> dict[str, Any]:
        return {
            **vars(self),
            "_lightwell_sessions": None,
            "_lightwell_events": None,
        }  # both belong to one object and one process

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model_fn={name_of(self._model_fn)}, model_dir={self._model_dir!r})"

    @property
    def model_dir(self) -> str:
        """The directory in which the model lives."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """How the model is run, with `model_dir` and `session_config` filled in; a copy."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters."""
        return copy.deepcopy(self._params)

    @with_short_traceback
    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
        *,
        freeze: Sequence[str] | str | None = None,
        train_only: Sequence[str] | str | None = None,
        rates: Rates | None = None,
        edits: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains, starting from the newest checkpoint in `model_dir` if there is one.

        Args:
            input_fn: gives the training data: a `tf.data.Dataset` of `(features, labels)`, or tensors. May take any of
                `mode`, `params`, `config`.
            hooks: `SessionRunHook`s around each step.
            steps: how many more steps to train. Two calls with `steps=10` train 20.
            max_steps: up to which step to train. Two calls with `max_steps=10` train 10. Neither set: to the end of the
                data.
            saving_listeners: `CheckpointSaverListener`s, told before and after each checkpoint.
            freeze: weights or layers, by name or glob (`["conv*", "embedding"]`), that this training does not move by a
                bit, nor the optimizer's state of theirs. Moving statistics are weights of their layer. All else is
                computed as without it: a norm over all gradients counts theirs. Checkpoints are those of a training
                that froze nothing.
            train_only: the same the other way round: all weights but these are frozen.
            rates: shares of the learning rate, by pattern: `lw.rates({"embedding*": 0.1})`.
            edits: changes of values on their way: `[lw.clip("gradients/*", norm=1.0)]`, in the order in which they
                apply.

        Returns:
            The Estimator itself.

        Raises:
            UsageError: arguments contradict each other.
            ModelFnError, InputFnError: a function, or what it returned, cannot be used.
            ModelDirError: `model_dir` cannot be written.
            NanLossDuringTrainingError: the loss became NaN.
        """
        from lightwell.estimator import verbs

        goal = checked_goal(steps, max_steps)
        verb_hooks = checked_hooks(hooks, "train: hooks", HOOKS_OF_VERBS)
        listeners = checked_listeners(saving_listeners)
        freeze_plan = verbs.checked_freeze_plan(freeze, train_only, rates)
        check_input_fn(input_fn)
        check_place("train", self._config.train_distribute, self._config)
        changes = verbs.checked_edits(edits, "train(edits=...)")
        if goal.max_steps is not None and (trained := self._lightwell_steps()) >= goal.max_steps:
            logger.warning(
                "Skipping training since max_steps has already saved. train: the newest checkpoint in %s is of step "
                "%d, and max_steps=%s; to train on, raise it, or say how many more with steps=.",
                self._model_dir,
                trained,
                max_steps,
            )
            return self
        outcome = verbs.train(self._lightwell_model(), input_fn, goal, verb_hooks, listeners, freeze_plan, changes)
        logger.info("Loss for final step: %s.", outcome.loss)
        return self

    @with_short_traceback
    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
        name: str | None = None,
        taps: Sequence[Any] | str | None = None,
        *,
        edits: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Evaluates the newest checkpoint, or the one given.

        Args:
            input_fn: gives the evaluation data; see `train`.
            steps: how many batches to look at; None for all.
            hooks: `SessionRunHook`s around each batch.
            checkpoint_path: a checkpoint to use instead of the newest.
            name: keeps several evaluations apart: their events go to `eval_<name>/`.
            taps: paths whose values are summed up over the data set: the result's `.taps[path]` is a `UnitStats`, with
                mean, std, min, max and share of zeros per unit.
            edits: changes of values on their way: `[lw.zero("layers/conv2d", channel=3)]`, in the order in which they
                apply. Their events go to `eval_edited/`, unless there is a `name`: those of the model stay its own.

        Returns:
            Metric name to value, sorted, with `loss` among them and `global_step` last. The same numbers are written
            for TensorBoard under `eval_dir(name)`.
        """
        from lightwell.estimator import verbs

        batches = checked_steps("evaluate", steps)
        verb_hooks = checked_hooks(hooks, "evaluate: hooks", HOOKS_OF_VERBS)
        check_input_fn(input_fn)
        check_place("evaluate", self._config.eval_distribute, self._config)
        changes = verbs.checked_edits(edits, "evaluate(edits=...)")
        events_dir = self.eval_dir(name or ("edited" if changes else None))
        return verbs.evaluate(
            self._lightwell_model(), input_fn, batches, verb_hooks, checkpoint_path, events_dir, taps, changes
        )

    def predict(
        self,
        input_fn: Callable[..., Any] | None = None,
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
        taps: Sequence[Any] | str | None = None,
        *,
        edits: Sequence[Any] | None = None,
        from_: Mapping[str, Any] | None = None,
    ) -> Iterator[Any]:
        """Yields predictions for the data that `input_fn` gives; labels among them are dropped.

        The model is built when the first item is asked for. Between items nothing of it is entered: eager code works
        while iterating, several generators may be interleaved, and one that is dropped frees its session.

        Args:
            input_fn: gives the data; see `train`.
            predict_keys: which of the predictions to compute; None for all.
            hooks: `SessionRunHook`s around each batch.
            checkpoint_path: a checkpoint to use instead of the newest.
            yield_single_examples: yield one item per example; False for one item per batch.
            taps: paths to read beside the predictions: `row["layers/dense"]` is that example's value. What has no row
                per example (a weight, a scalar) is in `row.batch`. With `predict_keys=[]` only the taps are computed.
            edits: changes of values on their way: `[lw.scale("layers/dense", 0.5)]`, in the order in which they apply.
            from_: values of layers to start from, `{"layers/conv2d": array}` with one row per example: only what
                follows is computed. `input_fn` can be left out then, unless predictions need features beside them.

        Yields:
            A dict of NumPy values per example (per batch), or one value where predictions are a single tensor.
        """
        from lightwell.estimator import verbs

        verb_hooks = checked_hooks(hooks, "predict: hooks", HOOKS_OF_VERBS)
        if from_ is None or input_fn is not None:
            check_input_fn(input_fn)
        changes = verbs.checked_edits(edits, "predict(edits=...)")
        return verbs.predict(
            self._lightwell_model(),
            input_fn,
            predict_keys,
            verb_hooks,
            checkpoint_path,
            yield_single_examples,
            taps,
            changes,
            from_,
        )

    @with_short_traceback
    def describe(
        self, input_fn: Callable[..., Any], mode: str = ModeKeys.TRAIN, *, devices: bool = False
    ) -> Description:
        """What the model is made of: every layer with kind, shapes, parameters and path.

        Args:
            input_fn: gives the data; only its shapes matter, nothing is run.
            mode: for which mode to build the model; with an `input_fn` that has no labels, `ModeKeys.PREDICT`.
            devices: whether to say on which device each op runs, and why some stay on the CPU beside a GPU. One step is
                run for that, with initial weights that are dropped; `model_dir` is left alone.

        Returns:
            A `Description`: it prints as a table, renders in a notebook, and gives plain data with `to_dict()`.
        """
        from lightwell.estimator import verbs

        check_input_fn(input_fn)
        return verbs.describe(self._lightwell_model(), input_fn, mode, devices)

    @property
    def layers(self) -> LayersView:
        """The layers of the trained model: `est.layers["dense"].kernel` is an array from the newest checkpoint.

        `est.layers["dense"].kernel = array` writes a new checkpoint; see `edit`.
        """
        from lightwell.inside.weights.views import LayerSource, LayersView

        source = LayerSource(self._lightwell_trained, self.get_variable_value, self.predict, self._lightwell_change)
        return LayersView(self._model_dir, source)

    @property
    def weights(self) -> WeightsView:
        """The weights of the trained model by name, from the newest checkpoint; optimizer state is in `.slots`."""
        from lightwell.inside.weights.views import WeightsView

        return WeightsView(self._lightwell_trained, change=self._lightwell_change)

    @with_short_traceback
    def predictor(self, inputs: Any = None, checkpoint_path: Any = None) -> Predictor:
        """A warm, thread-safe handle for predicting arrays at hand: `p({"x": batch}, taps=["layers/dense"])`.

        Args:
            inputs: the structure of the input: a dict of `tf.TensorSpec` (or arrays), an `input_fn`, or a serving input
                receiver function. None: as the last training saw it.
            checkpoint_path: a checkpoint to use instead of the newest.
        """
        from lightwell.estimator import verbs

        return verbs.predictor(self._lightwell_model(), inputs, checkpoint_path)

    def close(self) -> None:
        """Frees the sessions that `evaluate` and `predict` keep open between calls, and closes event files.

        The next call opens new ones.
        """
        if self._lightwell_sessions is not None:
            self._lightwell_sessions.close()
        if self._lightwell_events is not None:
            from lightwell.run import events

            self._lightwell_events()
            self._lightwell_events = None
            events.close_unused()

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the newest checkpoint, sorted."""
        return variable_names(self._lightwell_trained())

    def get_variable_value(self, name: str) -> np.ndarray[Any, Any]:
        """The value of a variable in the newest checkpoint."""
        return variable_value(self._lightwell_trained(), name)

    def eval_dir(self, name: str | None = None) -> str:
        """Where the events of an evaluation are written: `eval`, or `eval_<name>`, in `model_dir`."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def _lightwell_model(self) -> ModelDefinition:
        """The functions and settings for a verb."""
        from lightwell.base import graph_garbage
        from lightwell.estimator.verbs import ModelDefinition
        from lightwell.run import events
        from lightwell.run.engine.session_pool import SessionPool

        graph_garbage.collect()
        if self._lightwell_sessions is None and self.config.keep_sessions:
            self._lightwell_sessions = SessionPool()
        if self._lightwell_events is None:
            # An unfinished prediction refers to the sessions, and may outlive the Estimator.
            holder = self if self._lightwell_sessions is None else self._lightwell_sessions
            self._lightwell_events = events.keep_open(self._model_dir, holder)
        events.close_unused()
        return ModelDefinition(
            self._lightwell_model_fn(),
            self.params,
            self.config,
            self._model_dir,
            self._session_config,
            self._warm_start_settings,
            self._lightwell_sessions,
            self._lightwell_newest,
            self._create_and_assert_global_step,
            self._lightwell_input_scope,
        )

    def _lightwell_trained(self) -> str:
        checkpoint = self._lightwell_newest()
        if checkpoint is None:
            raise UsageError(
                f"Could not find trained model in model_dir: {self._model_dir}. Train it first, or check the path."
            )
        return checkpoint

    def _lightwell_steps(self) -> int:
        checkpoint = newest_usable(self._model_dir)
        return -1 if checkpoint is None else int(variable_value(checkpoint, GLOBAL_STEP))
