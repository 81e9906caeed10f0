"""A layer's output knows its layer: `dense(...).kernel`, `.bias`, `.layer`.

Owns the one place that sets attributes on tensors. The output stays the `tf.Tensor` it was; a graph hands out the same
object for a name every time, so the attributes survive `graph.get_tensor_by_name`. What a tensor already has is left
as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf


def attach_layer(outputs: Any, inputs: Any, layer: Any, variables: Mapping[str, Any]) -> None:
    """Sets `.layer` and one attribute per variable on each tensor the layer made."""
    input_ids = {id(tensor) for tensor in tf.nest.flatten(inputs)}
    for tensor in tf.nest.flatten(outputs):
        if isinstance(tensor, tf.Tensor) and id(tensor) not in input_ids:
            _set_if_free(tensor, "layer", layer)
            for name, variable in variables.items():
                if name.isidentifier():
                    _set_if_free(tensor, name, variable)


def _set_if_free(tensor: Any, name: str, value: Any) -> None:
    if not hasattr(type(tensor), name) and name not in vars(tensor):
        setattr(tensor, name, value)
