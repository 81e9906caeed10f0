"""What a subclass of `Estimator` may override, and what it may not.

`OverridableMembers` has `model_fn`, `latest_checkpoint` and the private members that packages call, override or
replace; they build in the default graph of their caller. `check_not_overridden` refuses all others when the class is
defined, and its error names the alternative: state that an override stores on `self` does not survive, because each
call builds a new graph. Both lists are those of `tf.estimator`, which lets a class that replaces
`_assert_members_are_not_overridden` override every verb. Lightwell's own private members begin with `_lightwell`, so
that a subclass is free to use any other name.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from lightwell.base.callables import arguments_of
from lightwell.errors import UsageError
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.index import checked_path, latest_checkpoint, newest_usable

# Public members. An override works in a class that switches the check off.
_VERBS = frozenset(
    (
        "train evaluate predict export_saved_model export_savedmodel experimental_export_all_saved_models "
        "get_variable_names get_variable_value eval_dir config model_dir params _call_model_fn"
    ).split()
)
# Private members of the original that Lightwell does not have: nothing would call an override.
_INNER = frozenset(
    (
        "_actual_eval _actual_train_model_distributed _add_meta_graph_for_mode _call_input_fn _call_model_fn_eval "
        "_call_model_fn_eval_distributed _convert_eval_steps_to_hooks _convert_train_steps_to_hooks "
        "_create_global_step _evaluate_build_graph _evaluate_run _extract_batch_length _extract_keys "
        "_get_features_and_labels_from_input_fn _get_features_from_input_fn _get_iterator_from_input_fn "
        "_maybe_warm_start _tf_docs_inheritable_header _train_model _train_model_default _train_model_distributed "
        "_train_with_estimator_spec _train_with_estimator_spec_distributed _validate_features_in_predict_input"
    ).split()
)
_ALL_MEMBERS = _VERBS | _INNER
_CHECK_NAME = "_assert_members_are_not_overridden"

_ALTERNATIVES = {
    "_call_model_fn": (
        "To get a tensor of the model out, declare it in `predictions`, or read it by its path: "
        'predict(taps=["layers/..."]), Watch(...), est.layers["..."]. To change the model, wrap model_fn in a function '
        "of your own and pass that to Estimator."
    ),
    "train": "Put what shall happen during training in a SessionRunHook: train(hooks=[...]).",
    "evaluate": "Put what shall happen during evaluation in a hook: evaluate(hooks=[...]).",
    "predict": "Put what shall happen during prediction in a hook: predict(hooks=[...]).",
    "_call_input_fn": "Wrap input_fn in a function of your own.",
    "_create_global_step": "Override _create_and_assert_global_step, or create variables of your own in model_fn.",
}
_DEFAULT_ALTERNATIVE = "Put that behaviour in model_fn, input_fn or a hook."


class OverridableMembers:
    """The members; `Estimator` sets the fields."""

    _model_fn: Callable[..., EstimatorSpec]
    _model_dir: str
    _params: Any

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function with parameters bound: `model_fn(features, labels, mode, config)`.

        In a subclass that overrides it, verbs call what it gives.
        """

        def bound(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return bound

    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint in `model_dir`, or None.

        In a subclass that overrides it, `evaluate` and `predict` take the checkpoint that it gives.
        """
        return latest_checkpoint(self._model_dir)

    @staticmethod
    def _assert_members_are_not_overridden(self: Any) -> None:  # static with `self`: packages replace it in this form
        """Does nothing: `check_not_overridden` runs when a class is defined. Replacing this method switches it off."""

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        """Creates the step counter in `graph`. Verbs call it; an override may create another one.

        Returns:
            The counter, an integer variable in the collection `GLOBAL_STEP`, or None if `model_fn` creates it.
        """
        from lightwell.estimator import verbs

        return verbs.create_global_step(graph)

    def _call_model_fn(self, features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        """Calls `model_fn` in the default graph with the arguments that it takes, and checks that it returns a spec."""
        from lightwell.estimator import verbs

        return verbs.call_in_default_graph(self._model_fn, copy.deepcopy(self._params), features, labels, mode, config)

    def _lightwell_model_fn(self) -> Callable[..., EstimatorSpec]:
        """The function that verbs call: the constructor's `model_fn`, unless a subclass overrides it."""
        if _is_overridden(self, "_call_model_fn"):
            return self._call_model_fn
        if not _is_overridden(self, "model_fn"):
            return self._model_fn
        takes = arguments_of(self.model_fn)  # without features it returns a model function
        return self.model_fn if takes.accepts("features") or takes.has_kwargs else self._model_fn

    def _lightwell_newest(self) -> str | None:
        """The newest checkpoint that can be read, unless a subclass chooses another one."""
        if not _is_overridden(self, "latest_checkpoint"):
            return newest_usable(self._model_dir)
        path = self.latest_checkpoint()
        return None if path is None else checked_path(path, "latest_checkpoint()")


def _is_overridden(estimator: OverridableMembers, name: str) -> bool:
    return inspect.getattr_static(type(estimator), name) is not vars(OverridableMembers)[name]


def check_not_overridden(subclass: type) -> None:
    """Refuses a subclass of `Estimator` that overrides a member it may not.

    Raises:
        UsageError: the text names the alternative.
    """
    clash = sorted(set(vars(subclass)) & (_INNER if _overrides_on_purpose(subclass) else _ALL_MEMBERS))
    if clash:
        alternatives = dict.fromkeys(_ALTERNATIVES.get(name, _DEFAULT_ALTERNATIVE) for name in clash)
        raise UsageError(
            f"Subclasses of Estimator cannot override members of Estimator. {subclass.__qualname__} does override "
            f"{clash}. {' '.join(alternatives)}"
        )


def _overrides_on_purpose(subclass: type) -> bool:
    """Whether the class switches the check off.

    Packages do so by replacing the original's check: in the class, on `Estimator` before the class is defined, or in
    a constructor, which has not run yet and is therefore read.
    """
    if inspect.getattr_static(subclass, _CHECK_NAME) is not vars(OverridableMembers)[_CHECK_NAME]:
        return True
    functions = [member for member in vars(subclass).values() if inspect.isfunction(member)]
    return any(_CHECK_NAME in function.__code__.co_names for function in functions)
