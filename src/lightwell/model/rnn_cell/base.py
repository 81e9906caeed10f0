"""The base of every cell: a `Layer` that is called with a state.

`RNNCell` is what users derive from (with `call`, or with `__call__` as programs before TF 1.2 did); `LayerRNNCell` is
what our own cells derive from: it makes its variables in `build`. Scope, names and variables are the layer's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers.base import Layer
from lightwell.model.layers.input_spec import InputSpec
from lightwell.model.layers.variables import pieces_of
from lightwell.model.rnn_cell.state import zeros_of

_v1 = tf.compat.v1


class RNNCell(Layer):
    """One step of a recurrent network: `(inputs, state) -> (output, new_state)`.

    A subclass gives `state_size`, `output_size` and `call(inputs, state)`. Variables made in `call` with
    `tf.compat.v1.get_variable` live in the cell's scope and are listed in `variables`.

    Args:
        trainable: whether the cell's variables join the trainable variables.
        name: the cell's scope; the class name in lower case when left out.
        dtype: type of the variables; that of the first input when left out.
        **kwargs: `_reuse`: whether to take variables that exist already in the cell's scope.
    """

    # Cells of old programs read it: `tf.variable_scope(scope or "my_cell", reuse=self._reuse)`.
    _reuse: Any = None

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        self._reuse = kwargs.get("_reuse")
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)

    @property
    def state_size(self) -> Any:
        """Size of the state: an int, a `TensorShape`, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} has no state_size. Define it as a property of the class.")

    @property
    def output_size(self) -> Any:
        """Size of the output: an int, a `TensorShape`, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} has no output_size. Define it as a property of the class.")

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes one step from `inputs` and `state`. Override."""
        raise NotImplementedError(f"{type(self).__name__} has no call(inputs, state). Define it in the class.")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Runs one step in the cell's scope.

        Args:
            inputs: a tensor `[batch, depth]`, or what `call` takes.
            state: a state with the structure of `state_size`.
            scope: variable scope to take at the first call; named after the cell when left out.

        Returns:
            The output and the new state.
        """
        target = _v1.get_variable_scope() if scope is None else scope
        with _v1.variable_scope(target, custom_getter=self._noting_getter) as entered:
            outputs: tuple[Any, Any] = super().__call__(inputs, state, scope=None if scope is None else entered)
        return outputs

    def _noting_getter(self, getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        """A custom getter: takes what `call` makes with `get_variable` for a variable of the cell."""
        variable = getter(name, *args, **kwargs)
        own_name = name.removeprefix(f"{self._scope.path}/")
        self._variables[own_name] = variable
        if all(piece.trainable for piece in pieces_of(variable)):
            self._trainable_names.add(own_name)
        return variable

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros with the structure of `state_size`.

        Args:
            batch_size: an int, or a scalar tensor.
            dtype: the type of every tensor of the state.
        """
        with _v1.name_scope(f"{type(self).__name__.lstrip('_')}ZeroState"):
            return zeros_of(self.state_size, batch_size=batch_size, dtype=dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The zero state that fits `inputs`, or `batch_size` and `dtype`."""
        where = f"{type(self).__name__}.get_initial_state"
        if inputs is not None:
            batch_size, dtype = _batch_and_dtype(where, tf.convert_to_tensor(inputs), batch_size, dtype)
        if batch_size is None or dtype is None:
            raise UsageError(
                f"{where}: expected inputs, or batch_size and dtype; got batch_size={batch_size}, dtype={dtype}. "
                "Pass the missing one."
            )
        return self.zero_state(batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `_make_variables`. Side by side, cells of one name get numbers."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Runs one step; see `RNNCell.__call__`."""
        # Past RNNCell: without its getter's scope, the layer's own numbering of names applies.
        outputs: tuple[Any, Any] = Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)
        return outputs

    def build(self, input_shape: Any) -> None:
        """Checks the inputs and makes the variables."""
        shape, where = tf.TensorShape(input_shape), type(self).__name__
        if shape.rank is None or tf.compat.dimension_value(shape[-1]) is None:
            raise UsageError(
                f"{where}: expected inputs.shape[-1] to be known, got shape {shape}. "
                "Set it with inputs.set_shape([None, depth]) before the call."
            )
        if shape.rank != 2:
            raise UsageError(
                f"{where}: expected inputs of rank 2, [batch, depth], got shape {shape}. "
                "For a sequence [batch, time, depth] pass the cell to tf.compat.v1.nn.dynamic_rnn."
            )
        if self._dtype is not None and not tf.as_dtype(self._dtype).is_floating:
            raise UsageError(
                f"{where}: expected inputs of a floating point dtype, got {self._dtype}. "
                "Cast them with tf.cast, or embed them with tf.nn.embedding_lookup."
            )
        self._make_variables(int(shape[-1]))
        self.input_spec = InputSpec(ndim=2, axes={-1: int(shape[-1])})
        self.built = True

    def _make_variables(self, depth: int) -> None:
        """Makes the variables for inputs of width `depth`."""
        raise NotImplementedError(f"{type(self).__name__} has no _make_variables(depth). Define it in the class.")


def _batch_and_dtype(where: str, inputs: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    """The batch size and dtype of `inputs`, which must not contradict the ones given."""
    known = inputs.shape[0]
    if batch_size is not None and not tf.is_tensor(batch_size) and known != batch_size:
        raise UsageError(
            f"{where}: inputs have the batch size {known}, batch_size is {batch_size}. Pass one of the two."
        )
    if dtype is not None and tf.as_dtype(dtype) != inputs.dtype:
        raise UsageError(
            f"{where}: inputs have the dtype {inputs.dtype.name}, dtype is {tf.as_dtype(dtype).name}. "
            "Pass one of the two."
        )
    return (tf.shape(inputs)[0] if known is None else known), inputs.dtype
