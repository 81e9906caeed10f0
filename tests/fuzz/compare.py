"""What of two runs must be equal, to the bit or within digits; where they are not."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?|nan|-?inf")


@dataclass(frozen=True)
class Digits:
    """How near numbers with fractions must be; all zero: the same bits."""

    relative: float = 0.0
    absolute: float = 0.0


EXACT = Digits()


@dataclass(frozen=True)
class Difference:
    """Something that two runs do not agree in.

    Attributes:
        kind: what sort of thing differs: a difference stays the same under reduction while this does.
        where: the place in the record.
        ours: what Lightwell gave.
        other: what it is compared with.
        values: both as the records hold them, where two values differ.
    """

    kind: str
    where: str
    ours: str
    other: str
    values: tuple[Any, Any] = field(default=(None, None), compare=False, repr=False)


def array(held: Any) -> np.ndarray | None:
    """The array of a record's value, if it is one."""
    if not isinstance(held, dict) or "bits" not in held:
        return None
    return np.frombuffer(base64.b64decode(held["bits"]), np.dtype(held["dtype"])).reshape(held["shape"])


def shown(value: Any) -> str:
    made = array(value)
    text = np.array2string(made, precision=9, threshold=20) if made is not None else str(value)
    return re.sub(r"\s+", " ", text)[:400]


def _near(ours: np.ndarray, other: np.ndarray, digits: Digits) -> bool:
    if ours.dtype.kind not in "fc" or digits == EXACT:
        return ours.tobytes() == other.tobytes() or bool(
            ours.dtype.kind == "f"
            and np.array_equal(np.isnan(ours), np.isnan(other))
            and np.array_equal(ours, other, equal_nan=True)
        )
    return bool(np.allclose(ours, other, digits.relative, digits.absolute, equal_nan=True))


def of_text(digits: Digits) -> Digits:
    """Texts are rounded: one unit of the last digit shown may differ."""
    return Digits(max(digits.relative, 2e-4), max(digits.absolute, 1e-5))


def _same_text(ours: str, other: str, digits: Digits) -> bool:
    if ours == other:
        return True
    if digits == EXACT or _NUMBER.sub("#", ours) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(ours), _NUMBER.findall(other), strict=True)
    digits = of_text(digits)
    return all(np.isclose(float(a), float(b), digits.relative, digits.absolute, True) for a, b in pairs)


def unequal(ours: Any, other: Any, digits: Digits, where: str) -> Iterator[tuple[str, Any, Any]]:
    """The places where two values of records differ."""
    one, two = array(ours), array(other)
    if one is not None and two is not None:
        if one.dtype != two.dtype or one.shape != two.shape or not _near(one, two, digits):
            yield where, ours, other
    elif isinstance(ours, dict) and isinstance(other, dict) and one is None and two is None:
        for key in sorted({*ours, *other}):
            if key not in ours or key not in other:
                yield f"{where}/{key}", ours.get(key, "nothing"), other.get(key, "nothing")
            else:
                yield from unequal(ours[key], other[key], digits, f"{where}/{key}")
    elif isinstance(ours, list) and isinstance(other, list):
        for place, (a, b) in enumerate(zip(ours, other)):  # noqa: B905
            yield from unequal(a, b, digits, f"{where}[{place}]")
        if len(ours) != len(other):
            yield f"{where} (how many)", len(ours), len(other)
    elif isinstance(ours, str) and isinstance(other, str):
        if not _same_text(ours, other, digits):
            yield where, ours, other
    elif type(ours) is not type(other) or ours != other:
        yield where, ours, other


def near(ours: Any, other: Any, digits: Digits) -> bool:
    """Whether two values of records are the same, as far as digits go."""
    return not any(unequal(ours, other, digits, ""))


def fractions(value: Any) -> tuple[str, np.ndarray] | None:
    """Numbers with fractions in a record's value, and what the value is without them; nothing where it has none."""
    made = array(value)
    if made is not None:
        return (f"{made.dtype} {made.shape}", made.astype(np.float64)) if made.dtype.kind == "f" else None
    if not isinstance(value, str):
        return None
    found: list[float] = []

    def taken(number: re.Match[str]) -> str:
        if number[0].lstrip("-").isdigit():  # a step, or how many of something
            return number[0]
        found.append(float(number[0]))
        return "#"

    without = _NUMBER.sub(taken, value)
    return (without, np.array(found)) if found else None


def by_step(events: dict[str, Any]) -> dict[str, Any]:
    """Events of each tag by their step, so that one too many does not move all that follow.

    Where steps begin anew, as those of another training in the same folder do, names say so: they tell the order, too.
    """
    found: dict[str, Any] = {}
    for tag, told in events.items():
        named = found[tag] = {}
        last, begun = -1, 1
        for step, value in told:
            begun, last = begun + (step < last), step
            name = f"step {step}" if begun == 1 else f"step {step} of {begun}"
            while name in named:  # twice in a row
                name += ", again"
            named[name] = value
    return found


def _failed(ours: Any, other: Any) -> bool:
    """Whether an error of ours can be caught as the original's."""
    return other["error"] not in ours["kinds"] and other["error"] != ours["error"]


def _told(record: Any) -> str:
    label, value = record
    if label == "failed":
        return f"{value['error']}: {value['text']}\n{value['told'][-1500:]}"
    return shown(value)


def compared(ours: dict[str, Any], other: dict[str, Any], digits: Digits) -> list[Difference]:
    """Where two answers of workers differ."""
    for name in ("hang", "crash", "broken"):
        if (name in ours) != (name in other):
            told = ours.get(name) or other.get(name)
            return [Difference(name, "the program", str(name in ours), str(name in other) + f" {str(told)[-1500:]}")]
        if name in ours:
            return []
    found: list[Difference] = []
    mine, others = ours["records"], other["records"]
    # Records are compared in order up to the first place where something else happened.
    for place, (a, b) in enumerate(zip(mine, others)):  # noqa: B905
        if a[0] != b[0]:
            told = [_told(record) for record in (a, b)]
            kind = "failure" if "failed" in (a[0], b[0]) else "order"
            found.append(
                Difference(f"{kind}:{a[0]}/{b[0]}", f"record {place}", f"{a[0]}: {told[0]}", f"{b[0]}: {told[1]}")
            )
            return found
        if a[0] == "failed":
            if _failed(a[1], b[1]):
                found.append(
                    Difference("failure", f"record {place}", a[1]["told"][-1500:], f"{b[1]['error']}: {b[1]['text']}")
                )
            continue
        values = [by_step(record[1]) if record[0] == "events" else record[1] for record in (a, b)]
        for where, x, y in unequal(*values, digits, a[0]):
            kind = f"value:{_stem(a[0])}"
            found.append(Difference(kind, f"record {place}: {where}", shown(x), shown(y), (x, y)))
    if len(mine) != len(others):
        found.append(Difference("count", "records", str(len(mine)), str(len(others))))
    return found


def _stem(label: str) -> str:
    """What sort of a thing a label names."""
    return re.sub(r"[-/:]?\d+", "", label).split("/")[0].split(" of ")[0]
