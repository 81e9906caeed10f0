"""What is done with every cell, here and in the oracle: the cells, the inputs, the calls, the values that come back.

Takes the `rnn_cell` module under test, so that the same lines run over TensorFlow 2.15's and over ours.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
BATCH, TIME, DEPTH = 3, 4, 5
LENGTHS = [4, 2, 1]


def cells(rc: Any) -> dict[str, Callable[[], Any]]:
    """Every cell and wrapper, by the name of the case."""
    initializers = {"kernel_initializer": "ones", "bias_initializer": v1.constant_initializer(0.5)}
    everything = {
        "use_peepholes": True,
        "num_proj": 2,
        "cell_clip": 0.3,
        "proj_clip": 0.2,
        "forget_bias": 0.5,
        "initializer": v1.ones_initializer(),
    }
    variational = {"variational_recurrent": True, "dtype": tf.float32, "input_size": DEPTH, "seed": 7}
    return {
        "basic_rnn": lambda: rc.BasicRNNCell(3),
        "basic_rnn_relu": lambda: rc.BasicRNNCell(3, activation="relu", name="named"),
        "gru": lambda: rc.GRUCell(3),
        "gru_initialized": lambda: rc.GRUCell(3, activation=tf.nn.softsign, **initializers),
        "basic_lstm": lambda: rc.BasicLSTMCell(3),
        "basic_lstm_flat": lambda: rc.BasicLSTMCell(3, forget_bias=0.0, state_is_tuple=False, activation="sigmoid"),
        "lstm": lambda: rc.LSTMCell(3),
        "lstm_float64": lambda: rc.LSTMCell(3, dtype=tf.float64),
        "lstm_flat": lambda: rc.LSTMCell(3, state_is_tuple=False, activation=tf.nn.relu),
        "lstm_peepholes": lambda: rc.LSTMCell(3, use_peepholes=True),
        "lstm_cell_clip": lambda: rc.LSTMCell(3, cell_clip=0.1),
        "lstm_projection": lambda: rc.LSTMCell(4, num_proj=2),
        "lstm_flat_everything": lambda: rc.LSTMCell(4, state_is_tuple=False, **everything),
        "lstm_everything": lambda: rc.LSTMCell(4, **everything),
        "lstm_shards": lambda: rc.LSTMCell(4, num_proj=3, num_unit_shards=2, num_proj_shards=3),
        "multi": lambda: rc.MultiRNNCell([rc.LSTMCell(3), rc.GRUCell(4), rc.BasicRNNCell(2, name="top")]),
        "multi_flat": lambda: rc.MultiRNNCell([rc.GRUCell(3), rc.BasicRNNCell(4)], state_is_tuple=False),
        "multi_shared": lambda: rc.MultiRNNCell([rc.GRUCell(DEPTH)] * 2),
        "multi_wrapped": lambda: rc.MultiRNNCell(
            [rc.DropoutWrapper(rc.LSTMCell(3)), rc.ResidualWrapper(rc.GRUCell(3))]
        ),
        "dropout_none": lambda: rc.DropoutWrapper(rc.LSTMCell(3)),
        "dropout_seeded": lambda: rc.DropoutWrapper(rc.LSTMCell(3), 0.7, 0.6, 0.5, seed=11),
        "dropout_memory": lambda: rc.DropoutWrapper(
            rc.LSTMCell(3), state_keep_prob=0.5, seed=5, dropout_state_filter_visitor=lambda part: True
        ),
        "dropout_variational": lambda: rc.DropoutWrapper(rc.GRUCell(3), 0.7, 0.6, 0.5, **variational),
        "residual": lambda: rc.ResidualWrapper(rc.GRUCell(DEPTH)),
        "residual_fn": lambda: rc.ResidualWrapper(rc.GRUCell(3), residual_fn=lambda i, o: i[:, :3] * o),
        "device": lambda: rc.DeviceWrapper(rc.GRUCell(3), "/cpu:0"),
        **{name: (lambda made=made: made(3)) for name, made in user_cells(rc).items()},
    }


def user_cells(rc: Any) -> dict[str, Any]:
    """Cells as users write them: with `call`, with `build`, and with `__call__` and no `__init__` of the base."""

    class WithCall(rc.RNNCell):
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._units = units

        state_size = property(lambda self: self._units)
        output_size = property(lambda self: self._units)

        def call(self, inputs: Any, state: Any) -> Any:
            joined = tf.concat([inputs, state], 1)
            kernel = v1.get_variable("w", [joined.shape[-1], self._units])
            with v1.variable_scope("inner"):
                bias = v1.get_variable("b", [self._units], initializer=v1.zeros_initializer(), trainable=False)
            output = tf.tanh(joined @ kernel + bias)
            return output, output

    class WithBuild(WithCall):
        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_variable("w", [input_shape[-1] + self._units, self._units])
            self.built = True

        def call(self, inputs: Any, state: Any) -> Any:
            output = tf.tanh(tf.concat([inputs, state], 1) @ self.kernel)
            return output, output

    class Overriding(rc.RNNCell):
        def __init__(self, units: int) -> None:
            self._units = units

        state_size = property(lambda self: self._units)
        output_size = property(lambda self: self._units)

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            with v1.variable_scope(scope or type(self).__name__):
                kernel = v1.get_variable("w", [inputs.shape[-1] + self._units, self._units])
            output = tf.tanh(tf.concat([inputs, state], 1) @ kernel)
            return output, output

    return {"with_call": WithCall, "with_build": WithBuild, "overriding": Overriding}


def numbers(label: str, shape: Any) -> Any:
    """Numbers between -1 and 1 that depend on the label alone."""
    return np.random.RandomState(zlib.crc32(label.encode())).uniform(-1, 1, size=shape).astype(np.float32)


def call_directly(rc: Any, make: Callable[[], Any], dtype: Any) -> dict[str, Any]:
    """One step from a state that is not zero."""
    cell = make()
    inputs = tf.constant(numbers("inputs", [BATCH, DEPTH]), dtype)
    zeros = cell.zero_state(BATCH, dtype)
    parts = [tf.constant(numbers(f"state {i}", part.shape), dtype) for i, part in enumerate(tf.nest.flatten(zeros))]
    output, state = cell(inputs, tf.nest.pack_sequence_as(zeros, parts))
    return {"cell": cell, "inputs": inputs, "output": output, "state": state}


def call_dynamic_rnn(rc: Any, make: Callable[[], Any], dtype: Any) -> dict[str, Any]:
    """A batch of sequences of several lengths. One iteration at a time, so that seeded masks come in order."""
    cell = make()
    inputs = tf.constant(numbers("sequence", [BATCH, TIME, DEPTH]), dtype)
    output, state = v1.nn.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, dtype=dtype, parallel_iterations=1)
    return {"cell": cell, "inputs": inputs, "output": output, "state": state}


WAYS: dict[str, Callable[..., dict[str, Any]]] = {"direct": call_directly, "dynamic_rnn": call_dynamic_rnn}


def functions(rc: Any) -> dict[str, Callable[[], Any]]:
    """The other recurrent functions, each over an LSTM or two."""

    def steps() -> Any:
        return tf.unstack(tf.constant(numbers("sequence", [BATCH, TIME, DEPTH])), axis=1)

    class Saver:
        def state(self, name: str) -> Any:
            return tf.constant(numbers(name, [BATCH, 3]))

        def save_state(self, name: str, value: Any) -> Any:
            return tf.identity(value).op

    def raw() -> Any:
        cell = rc.LSTMCell(3)
        source = tf.TensorArray(tf.float32, TIME).unstack(tf.stack(steps()))

        def loop(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
            new_state = cell.zero_state(BATCH, tf.float32) if output is None else state
            done = time >= tf.constant(LENGTHS)
            following = tf.cond(
                tf.reduce_all(done), lambda: tf.zeros([BATCH, DEPTH]), lambda: source.read(tf.minimum(time, TIME - 1))
            )
            following.set_shape([BATCH, DEPTH])
            return done, following, new_state, output, None

        emitted, state, _ = v1.nn.raw_rnn(cell, loop)
        return emitted.stack(), state

    nn, float32 = v1.nn, {"dtype": tf.float32}
    return {
        "static_rnn": lambda: nn.static_rnn(rc.LSTMCell(3), steps(), sequence_length=LENGTHS, **float32),
        "static_rnn_whole": lambda: nn.static_rnn(rc.LSTMCell(3), steps(), **float32),
        "static_state_saving_rnn": lambda: nn.static_state_saving_rnn(rc.LSTMCell(3), steps(), Saver(), ("c", "h")),
        "bidirectional_dynamic_rnn": lambda: nn.bidirectional_dynamic_rnn(
            rc.LSTMCell(3), rc.GRUCell(2), tf.stack(steps(), 1), sequence_length=LENGTHS, **float32
        ),
        "static_bidirectional_rnn": lambda: nn.static_bidirectional_rnn(
            rc.LSTMCell(3), rc.GRUCell(2), steps(), **float32
        ),
        "raw_rnn": raw,
    }


def fetch(session: Any, values: Any, variables: list[Any]) -> Any:
    """The values, after every variable got numbers that depend on its name alone."""
    session.run([variable.assign(0.5 * numbers(variable.op.name, variable.shape)) for variable in variables])
    return session.run(values)


def results(made: dict[str, Any]) -> dict[str, Any]:
    """Output, state parts and gradients of their weighted sum, by name."""
    variables = sorted(v1.trainable_variables(), key=lambda variable: variable.name)
    targets = [made["output"], *tf.nest.flatten(made["state"])]
    weighted = [
        tf.reduce_sum(target * tf.cast(numbers(f"weight {i}", target.shape), target.dtype))
        for i, target in enumerate(targets)
    ]
    sources = [made["inputs"], *variables]
    gradients = v1.gradients(tf.add_n(weighted), sources)
    values = {"output": targets[0], **{f"state/{i}": part for i, part in enumerate(targets[1:])}}
    names = ["inputs", *(variable.op.name for variable in variables)]
    return {**values, **{f"gradient/{name}": g for name, g in zip(names, gradients, strict=True)}}
