"""What Lightwell needs of TensorFlow's own hooks that has no public door; the rule stands in `_tf`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightwell._probes import lacking, tell_once
from lightwell._tf import release

# Where TensorFlow's hooks that take tensor names keep them.
_NAMES_GIVEN = {
    "FinalOpsHook": "_final_ops",
    "LoggingTensorHook": "_tensors",
    "NanTensorHook": "_loss_tensor",
    "SummarySaverHook": "_summary_op",
}


def add_listeners(hook: Any, listeners: Sequence[Any]) -> None:
    """Adds listeners to a user's own `CheckpointSaverHook`.

    `train(saving_listeners=...)` promises to call them also when the user brings the hook; the class takes listeners
    only in its constructor.
    """
    missing = lacking(hook, ["_listeners"])
    if missing:
        loss = "The saving_listeners of train() are not called: pass them to the CheckpointSaverHook of yours."
        tell_once(release(), tuple(missing), loss)
        return
    hook._listeners.extend(listeners)


def translate_tensor_names(hook: Any, find: Callable[[str, bool], Any]) -> None:
    """Lets TensorFlow's hooks that take tensor names take paths: replaces each name by what `find` gives for it, told
    whether the hook fetches it with the step, or in a run of its own.

    `LoggingTensorHook`, `NanTensorHook`, `SummarySaverHook` and `FinalOpsHook` keep what they were given in attributes
    and look names up in `begin`; they have no method to change them. The names are kept on the hook, as it may be used
    again with another graph.
    """
    if type(hook).__module__.startswith("tensorflow.") and type(hook).__name__ in _NAMES_GIVEN:
        missing = lacking(hook, [_NAMES_GIVEN[type(hook).__name__]])
        if missing:
            loss = f"A {type(hook).__name__} takes tensors and their names, but no paths."
            tell_once(release(), tuple(missing), loss)
    for attribute in _NAMES_GIVEN.values():
        held = getattr(hook, attribute, None)
        kept = f"_lightwell_asked{attribute}"
        asked, made = getattr(hook, kept, (held, held))
        asked = asked if held is made else held
        with_step = attribute != "_final_ops" and not getattr(hook, "_log_at_end", False)
        found = _translated(asked, find, with_step)
        if found is not held:
            setattr(hook, attribute, found)
            setattr(hook, kept, (asked, found))


def _translated(held: Any, find: Callable[[str, bool], Any], with_step: bool) -> Any:
    """A structure with the strings in it replaced; the very same object where there is none."""
    if isinstance(held, str):
        return find(held, with_step)
    if isinstance(held, dict):
        parts = {key: _translated(value, find, with_step) for key, value in held.items()}
        return parts if any(parts[key] is not held[key] for key in held) else held
    if isinstance(held, list | tuple):
        items = [_translated(value, find, with_step) for value in held]
        same = all(new is old for new, old in zip(items, held, strict=True))
        return held if same else type(held)(*items) if hasattr(held, "_fields") else type(held)(items)
    return held


def missing_hook_state(kind: type, names: Sequence[str]) -> list[str]:
    """What a class of TensorFlow's own hooks, or their timer, does not keep, of what `hook_state` will be asked for."""
    return lacking(kind, [f"_{name}" for name in names])


def hook_state(hook: Any, name: str) -> Any:
    """What one of TensorFlow's own hooks keeps of its cadence and its tensors, or None. They have no method that tells
    at which step they next act, which is needed to run the steps before it in one call."""
    return vars(hook).get(f"_{name}")


def set_hook_state(hook: Any, name: str, value: Any) -> None:
    """Brings the count of steps of one of TensorFlow's own hooks up to date after steps that it was not told of."""
    vars(hook)[f"_{name}"] = value
