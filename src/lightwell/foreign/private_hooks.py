"""Private doors of TensorFlow's own hooks; the rules are those of `private_tf.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightwell.foreign.private_tf import release
from lightwell.foreign.probes import missing_attributes, warn_once

# The attributes in which TensorFlow's hooks store tensors or their names.
_TENSOR_ATTRIBUTES = {
    "FinalOpsHook": "_final_ops",
    "LoggingTensorHook": "_tensors",
    "NanTensorHook": "_loss_tensor",
    "SummarySaverHook": "_summary_op",
}


def add_listeners(hook: Any, listeners: Sequence[Any]) -> None:
    """Adds listeners to a user's own `CheckpointSaverHook`.

    `train(saving_listeners=...)` promises to call them also when the user passes the hook; the class accepts listeners
    only in its constructor.
    """
    missing = missing_attributes(hook, ["_listeners"])
    if missing:
        loss = "The saving_listeners of train() are not called: pass them to the CheckpointSaverHook of yours."
        warn_once(release(), tuple(missing), loss)
        return
    hook._listeners.extend(listeners)


def translate_tensor_names(hook: Any, find: Callable[[str, bool], Any]) -> None:
    """Replaces the tensor names in one of TensorFlow's hooks by `find(name, with_step)`, so that hooks accept paths.

    `with_step` says whether the hook fetches the tensor with the step, or in a separate run.

    `LoggingTensorHook`, `NanTensorHook`, `SummarySaverHook` and `FinalOpsHook` store their arguments in attributes and
    look names up in `begin`; they have no method to change them. The names stay on the hook, as it may be used again
    with another graph.
    """
    if type(hook).__module__.startswith("tensorflow.") and type(hook).__name__ in _TENSOR_ATTRIBUTES:
        missing = missing_attributes(hook, [_TENSOR_ATTRIBUTES[type(hook).__name__]])
        if missing:
            loss = f"A {type(hook).__name__} takes tensors and their names, but no paths."
            warn_once(release(), tuple(missing), loss)
    for attribute in _TENSOR_ATTRIBUTES.values():
        current = getattr(hook, attribute, None)
        backup = f"_lightwell_names{attribute}"
        names, tensors = getattr(hook, backup, (current, current))
        names = names if current is tensors else current
        with_step = attribute != "_final_ops" and not getattr(hook, "_log_at_end", False)
        translated = _translate(names, find, with_step)
        if translated is not current:
            setattr(hook, attribute, translated)
            setattr(hook, backup, (names, translated))


def _translate(names: Any, find: Callable[[str, bool], Any], with_step: bool) -> Any:
    """A structure with its strings replaced; the same object if it has none."""
    if isinstance(names, str):
        return find(names, with_step)
    if isinstance(names, dict):
        parts = {key: _translate(value, find, with_step) for key, value in names.items()}
        return parts if any(parts[key] is not names[key] for key in names) else names
    if isinstance(names, list | tuple):
        items = [_translate(value, find, with_step) for value in names]
        same = all(new is old for new, old in zip(items, names, strict=True))
        return names if same else type(names)(*items) if hasattr(names, "_fields") else type(names)(items)
    return names


def missing_hook_state(kind: type, names: Sequence[str]) -> list[str]:
    """The attributes for `hook_state` that a class of TensorFlow's hooks, or their timer, lacks."""
    return missing_attributes(kind, [f"_{name}" for name in names])


def hook_state(hook: Any, name: str) -> Any:
    """A private attribute of one of TensorFlow's own hooks, or None.

    The steps before the hook's next action run in one call; the hooks have no method that tells that step.
    """
    return vars(hook).get(f"_{name}")


def set_hook_state(hook: Any, name: str, value: Any) -> None:
    """Updates the step count of one of TensorFlow's own hooks after steps that it did not observe."""
    vars(hook)[f"_{name}"] = value
