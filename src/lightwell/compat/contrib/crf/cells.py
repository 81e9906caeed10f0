"""The recurrences of a linear chain, as cells: sums over all paths, best paths, and the way back along them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import RNNCell


class CrfForwardRnnCell(RNNCell):
    """The log of the sum over all paths that end in each tag.

    Args:
        transition_params: `[tags, tags]`, from row to column.
    """

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = tf.expand_dims(transition_params, 0)
        self._num_tags = int(transition_params.shape[0])

    @property
    def state_size(self) -> int:
        return self._num_tags

    @property
    def output_size(self) -> int:
        return self._num_tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Adds one place to all paths; `inputs` are its unary scores."""
        arrived = tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._transitions, 1)
        sums = inputs + arrived
        return sums, sums


class CrfDecodeForwardRnnCell(RNNCell):
    """The score of the best path that ends in each tag; its output is the tag before.

    Args:
        transition_params: `[tags, tags]`, from row to column.
    """

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = tf.expand_dims(transition_params, 0)
        self._num_tags = int(transition_params.shape[0])

    @property
    def state_size(self) -> int:
        return self._num_tags

    @property
    def output_size(self) -> int:
        return self._num_tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Adds one place to the best paths; `inputs` are its unary scores."""
        ways = tf.expand_dims(state, 2) + self._transitions
        return tf.argmax(ways, 1, output_type=tf.int32), inputs + tf.reduce_max(ways, 1)


class CrfDecodeBackwardRnnCell(RNNCell):
    """The way back: from a tag to the one before it.

    Args:
        num_tags: how many tags there are.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """One place back; `inputs` are the tags before each tag, `state` is `[batch, 1]`, a tag."""
        before = tf.gather(inputs, tf.squeeze(state, [1]), axis=1, batch_dims=1)[:, None]
        return before, before
