"""Hyperparameters from text, as `--hparams=learning_rate=0.1,sizes=[10,20]`.

Parses a text into a dict of values, by the type of each name. Spaces may precede a value, not a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lightwell.errors import UsageError

_NAME = re.compile(r"(?P<name>[A-Za-z][\w.]*)(?:\[\s*(?P<place>\d+)\s*\])?\s*=\s*")
_VALUE = re.compile(r"(?:\[(?P<list>[^\]]*)\]|(?P<one>[^,\[]*))(?:,\s*|$)")
_TRUTHS = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}


def parse_values(values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """The values of a text like `a=1,b[2]=x,c=[1.5,2]`, by name.

    Args:
        values: names and values, with commas between.
        type_map: the type of each name; of its entries, for a list.
        ignore_unknown: whether to pass over names without a type.

    Returns:
        A value for each name; a list where brackets stood around it; a dict by place for `b[2]=x`.

    Raises:
        UsageError: the text is malformed, a name has no type or comes twice, or a value is not of its type.
    """
    found: dict[str, Any] = {}
    at = 0
    while at < len(values):
        head = _NAME.match(values, at)
        body = _VALUE.match(values, head.end()) if head else None
        if head is None or body is None:
            raise UsageError(
                f"Malformed hyperparameter value: {values[at:]}. Write name=value,other=[1,2], in all: {values!r}."
            )
        at = body.end()
        if head["name"] in type_map:
            convert = _conversion(head["name"], type_map[head["name"]], values)
            _keep(found, head["name"], head["place"], body, convert, values)
        elif not ignore_unknown:
            raise UsageError(
                f"Unknown hyperparameter type for {head['name']}. There are: {', '.join(sorted(type_map)) or 'none'}."
            )
    return found


def _keep(
    found: dict[str, Any],
    name: str,
    place: str | None,
    body: re.Match[str],
    convert: Callable[[str], Any],
    text: str,
) -> None:
    if place is None:
        if name in found:
            raise UsageError(f"Multiple assignments to variable '{name}' in {text}")
        items = body["list"]
        found[name] = (
            convert(body["one"]) if items is None else [convert(one) for one in re.split("[ ,]", items) if one]
        )
        return
    if body["list"] is not None:
        raise UsageError(f"Assignment of a list to a list index: {name}[{place}] in {text}")
    places = found.setdefault(name, {})
    if not isinstance(places, dict) or int(place) in places:
        raise UsageError(f"Multiple assignments to variable '{name}' in {text}")
    places[int(place)] = convert(body["one"])


def _conversion(name: str, kind: Any, text: str) -> Callable[[str], Any]:
    def convert(value: str) -> Any:
        try:
            return _TRUTHS[value] if kind is bool else kind(value)
        except (ValueError, KeyError):
            raise UsageError(
                f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{value}' in {text}"
            ) from None

    return convert
