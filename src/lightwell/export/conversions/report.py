"""What a conversion did, and how far the two models are apart. Plain values that print as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.visible import visible_lines

# Beyond rounding of single precision in another order of summation: a converter went wrong, or less exact on purpose.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Difference:
    """How far one output is apart.

    Attributes:
        name: the output.
        largest: the largest absolute difference of a number; for what is no number, how many values differ.
        row: the row of it; None where there is no difference.
        scale: the largest absolute number of the output; 0 for what is no number.
        is_number: whether the output holds numbers with a fraction.
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
    """What a conversion did.

    Attributes:
        to: into which form.
        path: where the result is.
        source: what it was made from.
        signature: the signature that it answers to.
        rows: how many rows were compared.
        rows_from: where they come from.
        differences: by output.
        not_checked: why nothing was compared; empty where it was.
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
            return visible_lines("\n".join([*lines, f"  NOT CHECKED: {self.not_checked}"]))
        lines.append(f"  checked  {self.rows} {self.rows_from}")
        width = max(len(one.name) for one in self.differences)
        lines += [
            f"    {one.name:{width}}  {one}{'' if one.is_close else '  <- NOT THE SAME'}" for one in self.differences
        ]
        return visible_lines("\n".join(lines))


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Compares two models' outputs by name."""
    return tuple(_difference(name, np.asarray(expected[name]), np.asarray(found[name])) for name in sorted(expected))


def _difference(name: str, expected: Any, found: Any) -> Difference:
    is_number = expected.dtype.kind == "f"
    if expected.shape != found.shape:
        return Difference(name, float("inf") if is_number else float(expected.size), 0, 0.0, is_number)
    if is_number:
        same = (expected == found) | (np.isnan(expected) & np.isnan(found))
        with np.errstate(invalid="ignore"):
            apart = np.where(same, 0.0, np.abs(expected.astype(np.float64) - found.astype(np.float64)))
        apart = np.where(np.isnan(apart), np.inf, apart)
        finite = np.abs(expected[np.isfinite(expected)])
        scale = float(finite.max()) if finite.size else 0.0
        largest = float(apart.max()) if apart.size else 0.0
    else:
        apart = (_texts(expected) != _texts(found)).astype(np.float64)
        scale, largest = 0.0, float(apart.sum())
    row = None if largest == 0 else int(np.unravel_index(int(apart.argmax()), apart.shape)[0]) if apart.ndim else 0
    return Difference(name, largest, row, scale, is_number)


def _texts(values: Any) -> Any:
    """Strings as text, however a runtime gives them."""
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
