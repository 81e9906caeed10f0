"""`tf.contrib.training.HParams`: hyperparameters with a type each, read from the command line."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping
from typing import Any

from lightwell.compat.contrib.training.hparam_text import parse_values
from lightwell.errors import UsageError

__all__ = ["HParams", "parse_values"]


class HParams:
    """Hyperparameters as attributes. Each keeps the type of its first value.

        params = HParams(learning_rate=0.1, sizes=[10, 20]).parse("learning_rate=0.5,sizes=[5]")
        params.learning_rate                                             # 0.5

    Args:
        hparam_def: taken for the sake of old programs, must be None: the protocol buffer is gone with TensorFlow 1.
        model_structure: anything, for `get_model_structure`.
        **kwargs: names and first values; a list is a parameter of several values.
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise UsageError(
                "HParams: hparam_def is a protocol buffer of TensorFlow 1, which is gone. Pass name=value arguments, "
                "or read JSON with parse_json."
            )
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter; the type of `value` is its type from now on."""
        if getattr(self, name, None) is not None:
            raise UsageError(f"Hyperparameter name is reserved: {name}")
        if not isinstance(value, (list, tuple)):
            self._hparam_types[name] = (type(value), False)
            setattr(self, name, value)
            return
        if not value:
            raise UsageError(f"Multi-valued hyperparameters cannot be empty: {name}. Their entries say their type.")
        self._hparam_types[name] = (type(value[0]), True)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Gives a hyperparameter another value of its type."""
        kind, several = self._hparam_types[name]
        if isinstance(value, list):
            if not several:
                raise UsageError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, one) for one in value])
            return
        if several:
            raise UsageError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter, if it exists."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets what a text like `learning_rate=0.5,sizes=[5,6]` says, and returns itself."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets what a dict says, and returns itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """`override_from_dict` by its older name."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps anything, for `get_model_structure`."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The value of `set_model_structure`."""
        return self._model_structure

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """The values as JSON."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Sets what a JSON object says, and returns itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """Every value by its name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a hyperparameter, or `default`, which must fit its type, if it is not there."""
        if key not in self._hparam_types:
            return default
        kind, several = self._hparam_types[key]
        if default is None:
            return getattr(self, key)
        shown = f"list<{kind}>" if several else str(kind)
        wrong = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        if several != isinstance(default, list):
            raise UsageError(wrong)
        try:
            for one in default if several else [default]:
                _cast(key, kind, one)
        except UsageError as error:
            raise UsageError(f"{wrong}. {error}") from None
        return getattr(self, key)

    def to_proto(self, export_scope: Any = None) -> Any:
        """Refused: the protocol buffer is gone with TensorFlow 1."""
        raise UsageError("HParams.to_proto: its protocol buffer is gone with TensorFlow 1. Use to_json and parse_json.")

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: Any = None) -> HParams:
        """Refused: the protocol buffer is gone with TensorFlow 1."""
        raise UsageError(
            "HParams.from_proto: its protocol buffer is gone with TensorFlow 1. Use to_json and parse_json."
        )

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={getattr(self, name)}" for name in self._hparam_types)

    def __repr__(self) -> str:
        return f"HParams({sorted(self.values().items())})"

    def __getattr__(self, name: str) -> Any:
        """Only for names that are not there: says which are."""
        known = ", ".join(self.__dict__.get("_hparam_types", ()))
        raise AttributeError(f"'HParams' object has no attribute {name!r}. It has: {known or 'none'}.", name=name)


def _cast(name: str, kind: type, value: Any) -> Any:
    """A value as the type of its hyperparameter, or an error where that would change it."""
    if issubclass(kind, type(None)):
        return value
    is_truth = isinstance(value, bool)
    fits = (
        issubclass(kind, bool) == is_truth
        and isinstance(value, str) == issubclass(kind, str)
        and not (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        and not (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    )
    if not fits:
        raise UsageError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    try:
        return kind(value)  # type: ignore[call-arg]
    except (TypeError, ValueError):
        raise UsageError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}") from None
