"""Everything that changes Keras' classes while the doors are open, in one place, to be called once Keras is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.compat.keras2.arguments import mend_constructors
from lightwell.compat.keras2.methods import mend_methods
from lightwell.compat.keras2.optimizers import mend_optimizers
from lightwell.compat.keras2.shapes import mend_shapes
from lightwell.compat.keras2.tensorflow_functions import answer_keras_tensors
from lightwell.compat.keras2.weights import mend_weights
from lightwell.foreign import private_keras


def mend_keras(
    set_attribute: Callable[[Any, str, Any], None], on_restore: Callable[[Callable[[], None]], None]
) -> None:
    """Let the classes of Keras 3 be used as those of Keras 2.

    Args:
        set_attribute: sets an attribute of a class or module; it is restored when the doors close.
        on_restore: takes a function that is called when the doors close.
    """
    if private_keras.keras3() is None:
        return
    mend_constructors(set_attribute)
    mend_weights(set_attribute)
    mend_shapes(set_attribute)
    mend_methods(set_attribute)
    mend_optimizers(set_attribute)
    stop = answer_keras_tensors()
    if stop is not None:
        on_restore(stop)
