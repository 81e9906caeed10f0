"""Members of `Estimator` that a subclass may not override.

State kept on `self` by an overridden method does not survive: each call builds a new graph, maybe on another machine.
The error comes when the class is defined and says where the wish belongs. The list is that of `tf.estimator`, which let
a subclass override some members (`model_fn`, `latest_checkpoint`, `_create_and_assert_global_step`) and let one that
replaces `_assert_members_are_not_overridden` override all. Parts of Lightwell's own begin with `_lightwell`: a subclass
may have whatever other private members it likes.
"""

from __future__ import annotations

import inspect

from lightwell.errors import UsageError
from lightwell.estimator.overridable import Overridable

# What users call. An override works, if the class has taken it on itself.
_VERBS = frozenset(
    (
        "train evaluate predict export_saved_model export_savedmodel experimental_export_all_saved_models "
        "get_variable_names get_variable_value eval_dir config model_dir params _call_model_fn"
    ).split()
)
# Inner members of the original that do not exist here: nothing would ever call an override.
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
SEALED = _VERBS | _INNER
_SEAL = "_assert_members_are_not_overridden"

_INSTEAD = {
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
_OTHERWISE = "Put that behaviour in model_fn, input_fn or a hook."


def check_not_overridden(subclass: type) -> None:
    """Refuses a subclass of `Estimator` that overrides a sealed member.

    Raises:
        UsageError: with the way out.
    """
    clash = sorted(set(vars(subclass)) & (_INNER if _is_taken_on(subclass) else SEALED))
    if clash:
        ways_out = dict.fromkeys(_INSTEAD.get(name, _OTHERWISE) for name in clash)
        raise UsageError(
            f"Subclasses of Estimator cannot override members of Estimator. {subclass.__qualname__} does override "
            f"{clash}. {' '.join(ways_out)}"
        )


def _is_taken_on(subclass: type) -> bool:
    """Whether the class says that it overrides on purpose.

    Packages do so by replacing the original's check: in the class, on `Estimator` before the class is defined, or in
    a constructor, which has not run yet and is therefore read.
    """
    if inspect.getattr_static(subclass, _SEAL) is not vars(Overridable)[_SEAL]:
        return True
    functions = [member for member in vars(subclass).values() if inspect.isfunction(member)]
    return any(_SEAL in function.__code__.co_names for function in functions)
