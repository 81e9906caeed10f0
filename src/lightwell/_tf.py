"""What Lightwell needs of TensorFlow that has no public door. Nothing else in the package reaches behind `tf.*`.

Each entry says why it is needed and what would replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def add_listeners(hook: Any, listeners: Sequence[Any]) -> None:
    """Adds listeners to a user's own `CheckpointSaverHook`.

    `train(saving_listeners=...)` promises to call them also when the user brings the hook; the class takes listeners
    only in its constructor.
    """
    hook._listeners.extend(listeners)


def translate_tensor_names(hook: Any, find: Callable[[str, bool], Any]) -> None:
    """Lets TensorFlow's hooks that take tensor names take paths: replaces each name by what `find` gives for it, told
    whether the hook fetches it with the step, or in a run of its own.

    `LoggingTensorHook`, `NanTensorHook`, `SummarySaverHook` and `FinalOpsHook` keep what they were given in attributes
    and look names up in `begin`; they have no method to change them. The names are kept on the hook, as it may be used
    again with another graph.
    """
    for attribute in ("_tensors", "_loss_tensor", "_summary_op", "_final_ops"):
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


def whole_variable(variable: Any) -> tuple[str, tuple[int, ...]]:
    """Name and shape of a variable as a checkpoint has it: for a part of a partitioned variable, those of the whole.

    A part knows its whole so that `Saver` can join them; there is no public way to ask it.
    """
    part = getattr(variable, "_save_slice_info", None)
    if part is not None:
        return part.full_name, tuple(int(size) for size in part.full_shape)
    return variable.op.name, tuple(int(size) for size in variable.shape)


def feature_columns() -> Any:
    """The classes behind `tf.feature_column`: `FeatureColumn`, `DenseColumn`, `SequenceDenseColumn` and the
    `FeatureTransformationCache` that a column reads its features from.

    `DenseFeatures` and `SequenceFeatures` must tell columns apart and hand them that cache; TensorFlow exports the
    classes for layers of this kind, but not under a public name.
    """
    import tensorflow as tf

    return tf.__internal__.feature_column


def hook_state(hook: Any, name: str) -> Any:
    """What one of TensorFlow's own hooks keeps of its cadence and its tensors; None if it keeps no such thing.

    They have no method that tells at which step they next act, which is needed to run the steps before it in one call.
    """
    return vars(hook).get(f"_{name}")


def set_hook_state(hook: Any, name: str, value: Any) -> None:
    """Brings the count of steps of one of TensorFlow's own hooks up to date after steps that it was not told of."""
    vars(hook)[f"_{name}"] = value


def run_after(operation: Any, others: Sequence[Any]) -> None:
    """Makes an operation that exists wait for others, which must not depend on it.

    `tf.control_dependencies` does this for operations that are still to be made; the updates of a Keras metric are
    made by `update_state` inside the user's `model_fn`.
    """
    operation._add_control_inputs([other for other in others if other is not operation])


def slices_value(values: Any, indices: Any, dense_shape: Any = None) -> Any:
    """What a session gives for `tf.IndexedSlices`: the type has no public name, and hooks may ask for its fields."""
    from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

    return IndexedSlicesValue(values, indices, dense_shape)


def prepared_call(
    session: Any, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
) -> Callable[..., Sequence[Any]]:
    """A call of a session that is fed arrays, fetches tensors and runs operations, by name; what it needs is looked up
    once.

    `Session.make_callable` prepares less: it goes through the structure of its fetches on each call.
    """
    from tensorflow.core.protobuf import config_pb2

    options = config_pb2.CallableOptions(feed=feeds, fetch=fetches, target=targets)
    made: Callable[..., Sequence[Any]] = session._make_callable_from_options(options)
    return made


def is_stateful(op_type: str) -> bool | None:
    """Whether ops of a type hold or use state; None for a type that is none of TensorFlow's: a function's name.

    An op of a graph tells it by `op_def`; the nodes of a function's body have only their type, and there is no public
    look-up from there.
    """
    from tensorflow.python.framework import op_def_registry

    found = op_def_registry.get(op_type)
    return None if found is None else bool(found.is_stateful)
