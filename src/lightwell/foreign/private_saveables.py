"""Values that checkpoints hold by a name that no variable can have.

`tf.compat.v1.train.Saver` saves variables, and objects of the class `SaveableObject`, which has no public name. The
boosted trees of TensorFlow were resources, saved that way as `boosted_trees:0_serialized`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign.probes import missing_attributes

_MODULE = "tensorflow.python.training.saving.saveable_object"


def add_saveable(handle: Any, values: Sequence[tuple[str, Any]], restore: Callable[[Sequence[Any]], Any]) -> None:
    """Lets every saver of the graph save values by names of their own, and restore them.

    Args:
        handle: the tensor of a resource that holds them.
        values: name in the checkpoint -> tensor that reads the value.
        restore: takes the values in that order, gives the op that puts them back.

    Raises:
        NotImplementedError: this TensorFlow lacks the class, so the values cannot be saved.
    """
    module = importlib.import_module(_MODULE)
    missing = missing_attributes(module, ["SaveableObject", "SaveSpec"])
    if missing:
        raise NotImplementedError(
            f"TensorFlow {tf.__version__} has no {', '.join(missing)}: boosted trees cannot be saved. Use an older one."
        )
    base: Any = module.SaveableObject

    class NamedValues(base):
        """The values as a saver asks for them."""

        def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
            """The op that puts restored values back."""
            return restore(restored_tensors)

    specs = [module.SaveSpec(tensor, "", key) for key, tensor in values]
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS, NamedValues(handle, specs, handle.name))
