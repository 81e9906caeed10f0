"""Names of layer objects: `Conv2D` becomes `conv2d_1`, `conv2d_2`, … counted per graph.

Owns the counter of layer names. Variable names do not come from here: they follow the variable scope that a layer opens
when it is first called (see `scopes.py`).
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from typing import Any

import tensorflow as tf

from lightwell.model.layers.per_graph import replica_number

_counters: weakref.WeakKeyDictionary[Any, Counter[tuple[int, str]]] = weakref.WeakKeyDictionary()


def snake_case(class_name: str) -> str:
    """Spells a class name the way TensorFlow names its scopes: `MaxPooling2D` -> `max_pooling2d`."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", class_name)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def next_layer_name(base_name: str) -> str:
    """Numbers `base_name` among the layers made so far in this graph, each replica of a strategy by itself."""
    counter, key = _counters.setdefault(tf.compat.v1.get_default_graph(), Counter()), (replica_number(), base_name)
    counter[key] += 1
    return f"{base_name}_{counter[key]}"
