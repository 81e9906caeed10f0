"""What a training step gains from the Keras objects of its `model_fn`: the updates of their state."""

from __future__ import annotations

from typing import Any, TypeVar

import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE
from lightwell.model.interop.trace import KerasTrace

_Spec = TypeVar("_Spec", bound=Any)


def completed(spec: _Spec, trace: KerasTrace) -> _Spec:
    """The `EstimatorSpec` whose train op also keeps moving statistics up to date.

    Call it while the trace is open.
    """
    updates = [*trace.updates, *_updates_of_own_metrics(trace)] if trace.is_training else []
    if not updates:
        return spec
    done: _Spec = spec._replace(train_op=tf.group(spec.train_op, *updates, name=f"{OWN_SCOPE}train_step"))
    return done


def _updates_of_own_metrics(trace: KerasTrace) -> list[tf.Operation]:
    """Updates of metrics that the spec does not declare: a model shows them in a summary, say."""
    return [operation for variable, operation in trace.local_updates if id(variable) not in trace.declared]
