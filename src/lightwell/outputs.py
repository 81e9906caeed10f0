"""Export outputs: how a model's tensors are presented to a server, one class per kind of signature.

Owns the values and their checks. They stand this far left so that heads and `EstimatorSpec` can use them without
knowing how a SavedModel is written; turning them into signatures belongs to `export`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError


class ExportOutput:
    """Base of all export outputs."""


class ClassificationOutput(ExportOutput):
    """Output of a classifier: `scores`, `classes`, or both.

    Args:
        scores: float tensor, one score per class.
        classes: string tensor of class labels.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is None and classes is None:
            raise UsageError("ClassificationOutput: at least one of scores and classes must be set, got neither.")
        if scores is not None and not (tf.is_tensor(scores) and scores.dtype.is_floating):
            raise UsageError(f"ClassificationOutput: scores must be a float32 Tensor; got {scores!r}.")
        if classes is not None and not (tf.is_tensor(classes) and classes.dtype == tf.string):
            raise UsageError(f"ClassificationOutput: classes must be a string Tensor; got {classes!r}.")
        self.scores = scores
        self.classes = classes


class RegressionOutput(ExportOutput):
    """Output of a regressor.

    Args:
        value: float tensor with the predicted values.
    """

    def __init__(self, value: Any) -> None:
        if not (tf.is_tensor(value) and value.dtype.is_floating):
            raise UsageError(f"RegressionOutput: value must be a float32 Tensor; got {value!r}.")
        self.value = value


class PredictOutput(ExportOutput):
    """Output with any tensors, by name.

    Args:
        outputs: a tensor, or a dict of tensors by name.
    """

    _SINGLE = "output"

    def __init__(self, outputs: Any) -> None:
        named: Mapping[Any, Any] = outputs if isinstance(outputs, Mapping) else {self._SINGLE: outputs}
        for name, tensor in named.items():
            if not isinstance(name, str):
                raise UsageError(f"PredictOutput: outputs must have string keys, got {name!r}.")
            if not tf.is_tensor(tensor):
                raise UsageError(f"PredictOutput: outputs[{name!r}] must be a Tensor, got {tensor!r}.")
        self.outputs = dict(named)
