"""The report of a conversion: its result, and the differences between the two models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.base.printable import printable_lines

# More than single precision rounds in another order of summation: the conversion is wrong, or less exact on purpose.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Difference:
    """The difference between the two models in one output.

    Attributes:
        name: the output.
        largest: the largest absolute difference; for outputs that are no numbers, how many values differ.
        row: its row; None if there is no difference.
        scale: the largest absolute value of the output; 0 if they are no numbers.
        is_number: whether the output has floating point numbers.
    """

    name: str
    largest: float
    row: int | None
    scale: float
    is_number: bool

    @property
    def is_close(self) -> bool:
        """Whether rounding explains it."""
        return bool(self.largest <= TOLERANCE * max(1.0, self.scale)) if self.is_number else self.largest == 0

    def __str__(self) -> str:
        if self.row is None:
            return "equal"
        if self.is_number:
            return f"largest difference {self.largest:.2g} (row {self.row}, values up to {self.scale:.3g})"
        return f"{int(self.largest)} values differ (the first in row {self.row})"


@dataclass(frozen=True)
class Conversion:
    """The result of a conversion.

    Attributes:
        to: the format.
        path: the path of the result.
        source: what it was converted from.
        signature: the name of its signature.
        rows: how many rows were compared.
        rows_from: where they come from.
        differences: by output.
        not_checked: why nothing was compared; empty if it was.
        size: bytes of the result.
    """

    to: str
    path: str
    source: str
    signature: str
    rows: int
    rows_from: str
    differences: tuple[Difference, ...]
    not_checked: str
    size: int

    @property
    def largest_difference(self) -> float | None:
        """The largest absolute difference of any number; None where nothing was compared."""
        if self.not_checked:
            return None
        return max((one.largest for one in self.differences if one.is_number), default=0.0)

    @property
    def is_close(self) -> bool:
        """Whether the result was checked, and gives the same up to rounding."""
        return not self.not_checked and all(one.is_close for one in self.differences)

    def __str__(self) -> str:
        lines = [
            f"{self.to}: {self.path} ({_size(self.size)})",
            f"  from     {self.source}, signature {self.signature}",
        ]
        if self.not_checked:
            return printable_lines("\n".join([*lines, f"  NOT CHECKED: {self.not_checked}"]))
        lines.append(f"  checked  {self.rows} {self.rows_from}")
        width = max(len(one.name) for one in self.differences)
        lines += [
            f"    {one.name:{width}}  {one}{'' if one.is_close else '  <- NOT THE SAME'}" for one in self.differences
        ]
        return printable_lines("\n".join(lines))


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Compares two models' outputs by name."""
    return tuple(_difference(name, np.asarray(expected[name]), np.asarray(actual[name])) for name in sorted(expected))


def _difference(name: str, expected: Any, actual: Any) -> Difference:
    is_number = expected.dtype.kind == "f"
    if expected.shape != actual.shape:
        return Difference(name, float("inf") if is_number else float(expected.size), 0, 0.0, is_number)
    if is_number:
        same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
        with np.errstate(invalid="ignore"):
            distances = np.where(same, 0.0, np.abs(expected.astype(np.float64) - actual.astype(np.float64)))
        distances = np.where(np.isnan(distances), np.inf, distances)
        finite = np.abs(expected[np.isfinite(expected)])
        scale = float(finite.max()) if finite.size else 0.0
        largest = float(distances.max()) if distances.size else 0.0
    else:
        distances = (_texts(expected) != _texts(actual)).astype(np.float64)
        scale, largest = 0.0, float(distances.sum())
    row = (
        None
        if largest == 0
        else int(np.unravel_index(int(distances.argmax()), distances.shape)[0])
        if distances.ndim
        else 0
    )
    return Difference(name, largest, row, scale, is_number)


def _texts(values: Any) -> Any:
    """Strings as text; some runtimes return bytes."""
    if values.dtype.kind not in "SOU":
        return values
    decoded = [
        one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in values.ravel().tolist()
    ]
    return np.array(decoded, dtype=object).reshape(values.shape)


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
