"""`Rule`, the base class of the optimizers of canned models.

Its state has the names of `tf.estimator`: slots and settings below `training/<name>/`. The settings are saved for
readers of the checkpoint; the program's own take effect, so that a new learning rate counts on resuming.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of
from lightwell.base.keys import TRAINING_SCOPE, TRAINING_SCOPES
from lightwell.foreign import private_tf

_v1 = tf.compat.v1
_Optimizer: Any = _v1.train.Optimizer


class Rule(_Optimizer):
    """Base of the rules.

    Args:
        name: `Adam`, the scope of the state.
        learning_rate: a number, a tensor, a function without arguments, or a schedule: a function of the step.
        settings: the other numbers, by the name under which they are saved.
        decay: by how much the rate falls: after t steps it is `learning_rate / (1 + decay * t)`.
    """

    slot_names: Sequence[str] = ()

    def __init__(self, name: str, learning_rate: Any, settings: Mapping[str, float], decay: float = 0.0) -> None:
        super().__init__(use_locking=False, name=name)
        self._learning_rate_argument, self._decay = learning_rate, decay
        self._settings = dict(settings)
        self._state: dict[tuple[str, str], Any] = {}
        self._scope = ""
        self._counter: Any = None
        self._rate: Any = None

    def own_counter(self) -> Any:
        """A step counter for the second optimizer of a model; the global step counts for the first one."""
        return self._saved("iter", 0, tf.int64)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = 0, **settings: Any) -> Any:
        """(gradient, variable) pairs; like Keras 2, it does not wait for all gradients."""
        return super().compute_gradients(loss, var_list, _Optimizer.GATE_NONE, **settings)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The op that applies (gradient, variable) pairs and counts in `global_step`."""
        self._counter = global_step
        return super().apply_gradients(grads_and_vars, global_step, name)

    def start_of(self, slot: str) -> float:
        """The value that a slot starts with."""
        return 0.0

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        raise NotImplementedError

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates rows of a variable; `indices` are unique."""
        raise NotImplementedError

    def slot(self, variable: Any, slot: str) -> Any:
        """A slot of a variable."""
        return self._state[variable.op.name, slot]

    def setting(self, name: str, like: Any) -> Any:
        """A setting as a tensor of a variable's type."""
        return tf.constant(self._settings[name], like.dtype.base_dtype)

    def rate(self, like: Any) -> Any:
        """The learning rate of this step, in a variable's type."""
        return tf.cast(self._rate, like.dtype.base_dtype)

    def steps_taken(self, like: Any) -> Any:
        """How many steps were taken before this one, in a variable's type."""
        if self._counter is None:
            return tf.zeros([], like.dtype.base_dtype)
        return tf.cast(self._counter.read_value(), like.dtype.base_dtype)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            for slot in self.slot_names:
                with tf.name_scope(f"{self._own_scope()}{variable.op.name}/"), _colocated(variable):
                    start = tf.fill(variable.shape, tf.constant(self.start_of(slot), variable.dtype.base_dtype))
                    slot_variable = _variable(slot, start)
                for own, state in zip(private_tf.parts_of(variable), private_tf.parts_of(slot_variable), strict=True):
                    self._state[own.op.name, slot] = state
        rate = self._learning_rate_argument
        if isinstance(rate, int | float):
            self._saved("learning_rate", rate)
        for name, value in {"decay": self._decay, **self._settings}.items():
            self._saved(name, value)

    def _prepare(self) -> None:
        rate = self._learning_rate_argument
        if callable(rate):
            rate = _called(rate, self._counter)
        rate = tf.convert_to_tensor(rate, tf.float32)
        if self._decay:
            step = tf.zeros([]) if self._counter is None else tf.cast(self._counter.read_value(), tf.float32)
            rate = rate / (1.0 + self._decay * step)
        self._rate = tf.identity(rate, name="learning_rate")

    def _saved(self, name: str, value: Any, dtype: Any = tf.float32) -> Any:
        with tf.name_scope(self._own_scope()):
            return _variable(name, tf.constant(value, dtype))

    def _own_scope(self) -> str:
        """`training/Adam/`; `training/Adam_1/` for the second of the same name in a graph."""
        taken = [one.op.name for one in _v1.global_variables()]
        training, number = training_scope(), 0
        while not self._scope:
            suffix = f"_{number}" if number else ""
            scope = f"{training}{self.get_name()}{suffix}/"
            if not any(name.startswith(scope) for name in taken):
                self._scope = scope
            number += 1
        return self._scope

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self.dense(handle, grad)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        if _are_unique(
            indices
        ):  # as in a lookup of embeddings; a second search for duplicates would cost a tenth of a step
            return self._resource_apply_sparse(grad, handle, indices)
        return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self.sparse(handle, grad, indices)


def training_scope() -> str:
    """The scope of the state of canned optimizers: `training/`, or the name that the head uses."""
    here = _v1.get_default_graph().get_name_scope().split("/")
    return next((one for one in reversed(here) if re.fullmatch(TRAINING_SCOPES, one)), TRAINING_SCOPE) + "/"


def faded(average: Any, decay: Any, new: Any, indices: Any) -> Any:
    """A moving average after an update of some rows; all rows decay."""
    less = average.assign(average * decay, read_value=False)
    with tf.control_dependencies([less]):
        added = tf.raw_ops.ResourceScatterAdd(resource=average.handle, indices=indices, updates=new * (1 - decay))
    with tf.control_dependencies([added]):
        return average.read_value()


def _colocated(variable: Any) -> contextlib.AbstractContextManager[Any]:
    """Places ops on the device of a variable, if it has one: on one of several parameter servers."""
    if not variable.device or tf.distribute.has_strategy():
        return contextlib.nullcontext()
    place: contextlib.AbstractContextManager[Any] = variable.graph.colocate_with(variable.op)
    return place


def _are_unique(indices: Any) -> bool:
    """Whether the graph shows that each index occurs once."""
    op = indices.op
    while op.type in ("Reshape", "Identity"):
        op = op.inputs[0].op
    return bool(op.type == "Unique")


def _variable(name: str, start: Any) -> Any:
    return _v1.Variable(start, trainable=False, name=name, use_resource=True)


def _called(rate: Callable[..., Any], counter: Any) -> Any:
    if not arguments_of(rate).required:
        return rate()
    return rate(tf.zeros([]) if counter is None else tf.cast(counter.read_value(), tf.float32))
