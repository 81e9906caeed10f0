"""Places a cell on a device."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.wrapper import CellWrapper


class DeviceWrapper(CellWrapper):
    """Runs a cell, and makes its states and variables, on one device.

    Args:
        cell: the cell to wrap.
        device: a device string or function, as `tf.device` takes it.
    """

    _changes_values = False

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The zero state of the cell inside, on the device."""
        with tf.compat.v1.device(self._device):
            return super().zero_state(batch_size, dtype)

    def _wrapped_step(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        with tf.compat.v1.device(self._device):
            return super()._wrapped_step(inputs, state, scope)
