"""Arguments of Keras 2 that Keras 3 refuses, in the constructors of layers, initializers, regularizers and losses.

`mend_constructors` wraps the constructors of Keras' own classes. A call that Keras 3 accepts passes unchanged; NumPy
numbers become Python numbers, renamed arguments get their new name, and arguments without a meaning today are left out
where the value asks for what Keras 3 does anyway. Any other value is refused with a text that says what to use.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.compat.keras2.callers import is_program_calling
from lightwell.errors import UsageError
from lightwell.foreign import private_keras, private_keras2

Set = Callable[[Any, str, Any], None]
INITIAL_WEIGHTS = "_keras2_weights"
"""Where a layer stores the arrays of `weights=[...]` until its weights are created."""
BATCH_SIZE = "_keras2_batch_size"
"""Where a layer stores the batch size that it was constructed with, for the model whose first layer it is."""

_INPUT_SHAPE = "input_shape"


@dataclass(frozen=True)
class _Ignored:
    """An argument that Keras 3 lacks: the values that mean what it does anyway, and what to use for others."""

    harmless: tuple[Any, ...] | None
    instead: str = ""


@dataclass(frozen=True)
class _Rules:
    """How the arguments of one class change: `ignored` by name, `renamed` from the old name to the new one, `defaults`
    for calls of the program itself."""

    ignored: Mapping[str, _Ignored] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


_ANY_VALUE = _Ignored(None)
_TRANSPOSE = "Pass the input as [batch, time, features]: tf.transpose(inputs, [1, 0, 2])."
_RENORM = _Ignored((False,), "Use tf.compat.v1.layers.batch_normalization(inputs, renorm=True).")
_RECURRENT = _Rules({"implementation": _ANY_VALUE, "time_major": _Ignored((False,), _TRANSPOSE)})
_LAYERS: Mapping[str, _Rules] = {
    "Layer": _Rules({"dynamic": _ANY_VALUE, "experimental_autocast": _ANY_VALUE}),
    "BatchNormalization": _Rules(
        {
            "fused": _ANY_VALUE,
            "renorm": _RENORM,
            "renorm_clipping": _ANY_VALUE,
            "renorm_momentum": _ANY_VALUE,
            "virtual_batch_size": _Ignored((None,), "Use tf.compat.v1.layers.batch_normalization."),
            "adjustment": _Ignored((None,), "Use tf.compat.v1.layers.batch_normalization."),
        }
    ),
    "LeakyReLU": _Rules(renamed={"alpha": "negative_slope"}),
    "Embedding": _Rules({"input_length": _ANY_VALUE, "sparse": _ANY_VALUE}),
    **dict.fromkeys(("RNN", "SimpleRNN", "LSTM", "GRU", "LSTMCell", "GRUCell", "SimpleRNNCell"), _RECURRENT),
    **dict.fromkeys(
        ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
        _Rules(_RECURRENT.ignored, defaults={"recurrent_activation": "hard_sigmoid"}),
    ),
}
# Arguments that `int` was applied to.
_WHOLE = frozenset({"units", "filters", "input_dim", "output_dim", "n", "depth_multiplier", "num_heads", "key_dim"})
_DTYPE = _Rules({"dtype": _ANY_VALUE, "verify_shape": _ANY_VALUE})


def mend_constructors(set_attribute: Set) -> None:
    """Let the classes of Keras 3 take the arguments of Keras 2."""
    keras = private_keras.keras3()
    layers = _classes(keras.layers, keras.layers.Layer)
    for kind in layers:
        rules = _LAYERS.get(kind.__name__, _Rules())
        _mend(set_attribute, kind, rules, _Base() if kind is keras.layers.Layer else None)
    for kind in _classes(keras.initializers, keras.initializers.Initializer):
        _mend(set_attribute, kind, _DTYPE)
        if "__call__" in vars(kind):
            set_attribute(kind, "__call__", _without_partition(vars(kind)["__call__"]))
    for name in ("L1", "L2"):
        _mend(set_attribute, getattr(keras.regularizers, name), _Rules(renamed={"l": name.lower()}))
    for kind in _classes(keras.losses, keras.losses.Loss):
        set_attribute(kind, "__init__", _with_reduction(inspect.getattr_static(kind, "__init__")))


def plain(value: Any) -> Any:
    """A NumPy integer, a dimension or a shape of TensorFlow, or a list of those, in Python's own types."""
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, tf.compat.v1.Dimension):
        return value.value
    if isinstance(value, tf.TensorShape):
        return tuple(value.as_list())
    if type(value) in (list, tuple) and any(plain(item) is not item for item in value):
        return type(value)(plain(item) for item in value)
    return value


class _Base:
    """What the constructor of `Layer` itself does with the arguments that every layer took."""

    def before(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Take the arguments out that Keras 3 lacks; they are set on the layer afterwards."""
        later: dict[str, Any] = {}
        batch_size, batch_shape = kwargs.pop("batch_size", None), kwargs.pop("batch_input_shape", None)
        if batch_shape is not None:
            batch_size, *kwargs["input_shape"] = plain(tuple(batch_shape))
        if kwargs.get("input_dim") is not None:
            kwargs["input_shape"] = (kwargs["input_dim"],)
        later[BATCH_SIZE] = batch_size
        shape = kwargs.pop("input_shape", None)
        kwargs.pop("input_dim", None)
        if shape is not None:
            later[_INPUT_SHAPE] = tuple(plain(size) for size in shape)
        weights = kwargs.pop("weights", None)
        if weights is not None:
            later[INITIAL_WEIGHTS] = [np.asarray(array) for array in weights]
        if "trainable" in kwargs:
            kwargs["trainable"] = bool(kwargs["trainable"])
        name = kwargs.get("name")
        if isinstance(name, str) and "/" in name:
            kwargs["name"], later[private_keras.OLD_NAME] = name.replace("/", "_"), name
        return later

    def after(self, layer: Any, later: Mapping[str, Any]) -> None:
        """Set what the constructor of Keras 3 does not take."""
        for name, value in later.items():
            if name == _INPUT_SHAPE:
                private_keras2.set_input_shape(layer, value)
            else:
                vars(layer)[name] = value


def _mend(set_attribute: Set, kind: type, rules: _Rules, base: _Base | None = None) -> None:
    original = vars(kind).get("__init__")
    if original is None:
        return
    signature = inspect.signature(original)
    known = set(signature.parameters)

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        args = tuple(plain(value) for value in args)
        kwargs = {name: plain(value) for name, value in kwargs.items()}
        for old, new in rules.renamed.items():
            if old in kwargs and old not in known:
                kwargs[new] = kwargs.pop(old)
        for name, rule in rules.ignored.items():
            if name in kwargs and name not in known:
                _leave_out(kind.__name__, name, kwargs.pop(name), rule)
        args, kwargs = _whole(signature, args, kwargs)
        if rules.defaults and is_program_calling():
            taken = list(signature.parameters)[1 : len(args) + 1]
            kwargs = {**{name: value for name, value in rules.defaults.items() if name not in taken}, **kwargs}
        if kind.__name__ == "BatchNormalization" and isinstance(kwargs.get("axis"), list | tuple):
            kwargs["axis"] = _single_axis(kwargs["axis"])
        later = {} if base is None else base.before(kwargs)
        original(self, *args, **kwargs)
        if base is not None:
            base.after(self, later)

    init.__signature__ = signature  # type: ignore[attr-defined]  # Keras reads the names of the arguments from it
    set_attribute(kind, "__init__", init)


def _whole(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Keras 2 applied `int` to counts, so that `Dense(128 / 2)` worked."""
    names = list(signature.parameters)[1:]
    positional = tuple(
        int(value) if name in _WHOLE and isinstance(value, float) else value
        for name, value in zip(names, args, strict=False)
    )
    named = {
        name: int(value) if name in _WHOLE and isinstance(value, float) else value for name, value in kwargs.items()
    }
    return positional + args[len(positional) :], named


def _leave_out(kind: str, name: str, value: Any, rule: _Ignored) -> None:
    if rule.harmless is not None and value not in rule.harmless:
        raise UsageError(f"{kind}({name}={value!r}): Keras 3 has no such argument. {rule.instead}")


def _single_axis(axis: Any) -> Any:
    if len(axis) != 1:
        raise UsageError(
            f"BatchNormalization(axis={axis!r}): Keras 3 normalises one axis. "
            "Use tf.compat.v1.layers.batch_normalization, or reshape the input so that one axis is left."
        )
    return axis[0]


def _without_partition(original: Any) -> Any:
    """An initializer is called with `partition_info` in the TensorFlow 1 way, and with a dtype of TensorFlow."""

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("partition_info", None)
        return original(self, *args, **kwargs)

    return call


def _with_reduction(original: Any) -> Any:
    """`reduction="auto"` is the mean over the batch outside of a strategy's loop, which is what Keras 3 calls
    `"sum_over_batch_size"`."""

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        args = tuple("sum_over_batch_size" if isinstance(value, str) and value == "auto" else value for value in args)
        if kwargs.get("reduction") == "auto":
            kwargs["reduction"] = "sum_over_batch_size"
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    return init


def _classes(module: Any, base: type) -> list[type]:
    """The classes that a public module of Keras names, each once, with the classes that they derive from."""
    named = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, base)]
    found = {kind: None for one in named for kind in one.__mro__ if issubclass(kind, base)}
    return [kind for kind in found if kind.__module__.startswith("keras.")]
