"""The batch size of a mode: from a verb of `TPUEstimator` through `input_fn` to `model_fn`.

Both functions get it in `params["batch_size"]`. The verb wraps `input_fn`, which stores the size by graph; `model_fn`
is called after it, in the same graph. A graph for serving has no such input, and no batch size.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.errors import InputFnError, ModelFnError, UsageError

BATCH_SIZE = "batch_size"
_USE_TPU = "use_tpu"
_sizes: weakref.WeakKeyDictionary[tf.Graph, int] = weakref.WeakKeyDictionary()


class SizedInput:
    """An `input_fn` with the batch size in its `params`."""

    def __init__(self, input_fn: Callable[..., Any], size: int | None) -> None:
        if not arguments_of(input_fn).accepts("params"):
            raise InputFnError(
                f"input_fn {name_of(input_fn)!r} does not include params argument, required by TPUEstimator to pass "
                'batch size as params["batch_size"]. Add an argument `params` to it.'
            )
        functools.update_wrapper(self, input_fn, updated=())
        self._input_fn = input_fn
        self._size = size

    def __call__(self, **arguments: Any) -> Any:
        """Calls `input_fn`, and stores the size for the model."""
        if self._size is None:
            return self._input_fn(**arguments)
        _sizes[tf.compat.v1.get_default_graph()] = self._size
        return self._input_fn(**{**arguments, "params": _with(arguments["params"], **{BATCH_SIZE: self._size})})


class SizedModel:
    """A `model_fn` with the batch size of its input in its `params`."""

    def __init__(self, model_fn: Callable[..., Any]) -> None:
        if not arguments_of(model_fn).accepts("params"):
            raise ModelFnError(
                f"model_fn {name_of(model_fn)!r} does not include params argument, required by TPUEstimator to pass "
                "batch size as params['batch_size']. Add an argument `params` to it."
            )
        functools.update_wrapper(self, model_fn, updated=())
        self._model_fn = model_fn

    def __call__(self, **arguments: Any) -> Any:
        """Calls `model_fn`."""
        size = _sizes.get(tf.compat.v1.get_default_graph())
        more: dict[str, Any] = {_USE_TPU: False} if size is None else {BATCH_SIZE: size, _USE_TPU: False}
        return self._model_fn(**{**arguments, "params": _with(arguments["params"], **more)})


def _with(params: Any, **more: Any) -> Any:
    """A copy of the parameters with more: of a dict, or of an object such as `HParams`."""
    new = copy.copy(params)
    if isinstance(params, Mapping):
        new = {**params, **more}
    elif hasattr(params, "add_hparam"):
        new = copy.deepcopy(params)
        for name, value in more.items():
            (new.set_hparam if name in new else new.add_hparam)(name, value)
    else:
        try:
            vars(new).update(more)
        except TypeError:
            raise UsageError(
                f"TPUEstimator: params must be a dict, or an object with attributes, to take {sorted(more)}; got "
                f"{type(params).__name__} {params!r}."
            ) from None
    return new
