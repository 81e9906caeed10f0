"""`est.predictor()`: a warm, thread-safe handle on a trained model, with taps.

Takes arrays, gives arrays. The input's structure comes from the description in `model_dir`, from specs, from one look
at an `input_fn`, or from a serving input receiver.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan
from lightwell.engine.warm import WarmSession
from lightwell.errors import InputFnError, UsageError
from lightwell.inputs.call import call_input_fn
from lightwell.keys import ModeKeys
from lightwell.sight.describe import Description
from lightwell.sight.nearest import nearest_paths
from lightwell.sight.request import Request, make_request


class Predictor:
    """Predicts for arrays at hand, again and again, without building or loading anything anew.

    Use it as a function, from any number of threads: `p({"x": batch}, taps=["layers/dense"])`. It is a context manager;
    `close()` frees its session.

    Args:
        program: a prediction program whose inputs are placeholders.
        feeds: the structure of tensors that a call's input is fed to.
        plan: how to open its session.
        newest: the newest checkpoint's path, for `refresh`.
    """

    def __init__(self, program: Program, feeds: Any, plan: SessionPlan, newest: Callable[[], str | None]) -> None:
        self._program = program
        self._feeds = feeds
        self._flat_feeds = list(_named(feeds).values())
        self._warm = WarmSession(program, plan)
        self._newest = newest
        self._loaded = newest()
        self._requests: dict[Any, tuple[Request | None, Any]] = {}

    def __call__(
        self, features: Any, taps: Sequence[str] | str | None = None, predict_keys: Sequence[str] | None = None
    ) -> Any:
        """Predicts for one batch.

        Args:
            features: arrays in the structure of the model's input: a dict, or one array.
            taps: paths to read beside the predictions.
            predict_keys: which predictions to compute; `[]` with taps for none.

        Returns:
            A dict of arrays, predictions by key and taps by path; one array where predictions are a single tensor and
            there are no taps.
        """
        key = (_key(taps), None if predict_keys is None else tuple(predict_keys))
        ready = self._requests.get(key)
        if ready is None:
            ready = self._requests[key] = self._make_ready(taps, predict_keys)
        request, fetches = ready
        fetched = self._warm.run(key, fetches, self._flat_feeds, self._values(features))
        if request is None:
            return fetched["predictions"]
        predictions = fetched["predictions"]
        named = predictions if isinstance(predictions, Mapping) else {"predictions": predictions}
        return {**named, **request.values(fetched["taps"])}

    def refresh(self) -> bool:
        """Takes up a newer checkpoint, if there is one; calls under way finish with the old weights."""
        newest = self._newest()
        if newest == self._loaded:
            return False
        self._warm.renew()
        self._loaded = newest
        return True

    def close(self) -> None:
        """Frees the session; calls under way finish first."""
        self._warm.close()

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at interpreter exit, half of the world may be gone
            self.close()

    def __repr__(self) -> str:
        inputs = {name: tensor.shape.as_list() for name, tensor in _named(self._feeds).items()}
        return f"<predictor of {self._loaded}, input {inputs}>"

    def _make_ready(self, taps: Any, predict_keys: Any) -> tuple[Request | None, Any]:
        predictions = self._program.spec.predictions
        if predict_keys is not None:
            unknown = [name for name in predict_keys if name not in predictions]
            if unknown:
                raise UsageError(f"predictor: no predictions {unknown}; the model has {sorted(predictions)}.")
            predictions = {name: predictions[name] for name in predict_keys}
        if taps is None:
            return None, {"predictions": predictions}
        asked = [taps] if isinstance(taps, str) else list(taps)
        request = make_request(self._program, asked, "predictor(taps=...)")
        return request, {"predictions": predictions, "taps": request.fetches}

    def _values(self, features: Any) -> list[Any]:
        if isinstance(self._feeds, Mapping) and not isinstance(features, Mapping):
            raise UsageError(
                f"predictor: the model's input is a dict with {sorted(self._feeds)}, got {type(features).__name__}."
            )
        given, wanted = _named(features), _named(self._feeds)
        if given.keys() != wanted.keys():
            missing, extra = sorted(wanted.keys() - given.keys()), sorted(given.keys() - wanted.keys())
            close = [nearest_paths(name, missing)[:1] for name in extra]
            hint = f" Did you mean {close[0][0]!r}?" if close and close[0] else ""
            raise UsageError(f"predictor: the input lacks {missing} and has {extra} too many.{hint}")
        return [_as_array(given[name], tensor, name) for name, tensor in wanted.items()]


class FedInputs:
    """An `input_fn` whose tensors are placeholders, so that a program can be fed arrays.

    Args:
        inputs: specs or arrays, an `input_fn`, or a serving input receiver function.
        params: for an `input_fn` that asks for it.
        config: likewise.
    """

    def __init__(self, inputs: Any, params: Any, config: Any) -> None:
        self._inputs = inputs
        self._params = params
        self._config = config
        self.feeds: Any = None

    def input_fn(self) -> Any:
        """Makes the placeholders in the graph being built; `feeds` holds them afterwards."""
        if not callable(self._inputs):
            self.feeds = placeholders(specs_from_features(self._inputs))
            return self.feeds
        result = call_input_fn(self._inputs, mode=ModeKeys.PREDICT, params=self._params, config=self._config)
        if hasattr(result, "receiver_tensors"):
            self.feeds = result.receiver_tensors
            return result.features
        if isinstance(result, tf.data.Dataset):
            spec = result.element_spec
            self.feeds = placeholders(spec[0] if isinstance(spec, tuple) else spec)
        else:
            self.feeds = placeholders(specs_from_features(result[0] if isinstance(result, tuple) else result))
        return self.feeds


def placeholders(specs: Any) -> Any:
    """Placeholders for a structure of `tf.TensorSpec`, the batch dimension left open."""
    return {name: placeholders(part) for name, part in specs.items()} if isinstance(specs, Mapping) else _open(specs)


def specs_from_description(description: Description | None) -> Any:
    """The input's structure as training saw it.

    Raises:
        UsageError: nothing is known about it.
    """
    if description is None or not description.features:
        raise UsageError(
            "predictor: the structure of the input is not known, as model_dir holds no description. Pass it: "
            "est.predictor(input_fn), or est.predictor({'x': tf.TensorSpec([None, 784], tf.float32)})."
        )
    structure: dict[str, Any] = {}
    for value in description.features:
        spec = tf.TensorSpec(value.shape, value.dtype)
        names = value.path.split("/")[1:]
        if not names:
            return spec
        inner = structure
        for name in names[:-1]:
            inner = inner.setdefault(name, {})
        inner[names[-1]] = spec
    return structure


def specs_from_features(features: Any) -> Any:
    """Specs of the tensors or arrays that an `input_fn` or a user gave as an example of the input.

    Raises:
        InputFnError: it holds sparse or ragged tensors, which cannot be fed as arrays.
    """
    if isinstance(features, Mapping):
        return {name: specs_from_features(part) for name, part in features.items()}
    if isinstance(features, tf.TensorSpec):
        return features
    if isinstance(features, tf.SparseTensor | tf.RaggedTensor):
        raise InputFnError(
            "predictor: sparse and ragged features cannot be fed as arrays. Give est.predictor a serving input "
            "receiver that parses them."
        )
    shape = features.shape
    return tf.TensorSpec(shape, features.dtype)


def _open(spec: Any) -> Any:
    sizes = None if spec.shape.rank is None else [None, *spec.shape.as_list()[1:]]
    return tf.compat.v1.placeholder(spec.dtype, sizes)


def _named(structure: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(structure, Mapping):
        return {prefix: structure}
    found: dict[str, Any] = {}
    for name, part in structure.items():
        found.update(_named(part, f"{prefix}/{name}" if prefix else str(name)))
    return found


def _as_array(value: Any, tensor: Any, name: str) -> Any:
    array = np.asarray(value, dtype=None if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype)
    if not tensor.shape.is_compatible_with(array.shape):
        raise UsageError(
            f"predictor: input {name or 'features'!r} must have shape {_shown(tensor.shape)} (batch first), got "
            f"{list(array.shape)}."
        )
    return array


def _shown(shape: Any) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape.as_list()) + "]"


def _key(taps: Any) -> Any:
    return taps if taps is None or isinstance(taps, str) else tuple(taps)
