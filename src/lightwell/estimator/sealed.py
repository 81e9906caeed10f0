"""Members of `Estimator` that a subclass may not override.

State kept on `self` by an overridden method does not survive: each call builds a new graph, maybe on another machine.
The error comes when the class is defined and says where the wish belongs.
"""

from __future__ import annotations

from lightwell.errors import UsageError

_PUBLIC = (
    "train evaluate predict export_saved_model export_savedmodel experimental_export_all_saved_models "
    "get_variable_names get_variable_value latest_checkpoint eval_dir config model_dir params model_fn"
).split()
# Private members of the original that programs are known to override.
_PRIVATE = (
    "_call_model_fn _call_input_fn _train_model _train_with_estimator_spec _evaluate_build_graph _evaluate_run "
    "_create_global_step _create_and_assert_global_step _get_features_and_labels_from_input_fn "
    "_get_features_from_input_fn _extract_batch_length _extract_keys _maybe_warm_start "
    "_validate_features_in_predict_input "
    "_convert_train_steps_to_hooks _convert_eval_steps_to_hooks _call_model_fn_eval _get_iterator_from_input_fn"
).split()
_OWN = ["_model"]

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
    "_create_global_step": "Create variables of your own in model_fn.",
}
_OTHERWISE = "Put that behaviour in model_fn, input_fn or a hook."


def check_not_overridden(subclass: type) -> None:
    """Refuses a subclass that overrides a sealed member.

    Raises:
        UsageError: with the way out.
    """
    clash = [name for name in (*_PUBLIC, *_PRIVATE, *_OWN) if name in vars(subclass)]
    if clash:
        ways_out = dict.fromkeys(_INSTEAD.get(name, _OTHERWISE) for name in clash)
        raise UsageError(
            f"Subclasses of Estimator cannot override members of Estimator. {subclass.__qualname__} does override "
            f"{clash}. {' '.join(ways_out)}"
        )
