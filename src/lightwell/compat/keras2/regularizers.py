"""Regularizers whose default changed with Keras 3."""

from __future__ import annotations

from typing import Any

from lightwell.compat.keras2.callers import is_program_calling


def l1_l2_with_defaults(today: Any) -> Any:
    """Wrap `regularizers.l1_l2`: both factors were 0.01, and are 0 in Keras 3."""

    def l1_l2(*args: Any, **kwargs: Any) -> Any:
        if is_program_calling():
            given = dict(zip(("l1", "l2"), args, strict=False)) | kwargs
            args, kwargs = (), {"l1": 0.01, "l2": 0.01} | given
        return today(*args, **kwargs)

    return l1_l2
