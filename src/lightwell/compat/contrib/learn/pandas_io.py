"""Pandas tables as arrays: `extract_pandas_data` and its like, which leave alone what is no table."""

from __future__ import annotations

from typing import Any

import numpy as np

from lightwell.errors import UsageError


def extract_pandas_data(data: Any) -> Any:
    """The numbers of a table, as float32; what is no table, as it is.

    Raises:
        UsageError: a column has words.
    """
    if not _is_table(data):
        return data
    wrong = [str(name) for name, dtype in zip(data.columns, data.dtypes, strict=True) if dtype.kind not in "fiub"]
    if wrong:
        raise UsageError(
            f"extract_pandas_data: Data types for extracting pandas data must be int, float, or bool: {wrong}"
        )
    return data.to_numpy(np.float32)


def extract_pandas_matrix(data: Any) -> Any:
    """The values of a table; what is no table, as it is."""
    return data.to_numpy() if _is_table(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """The values of a column, or of a table with one; what is neither, as it is.

    Raises:
        UsageError: there are several columns, or words.
    """
    if _is_table(labels):
        if len(labels.columns) > 1:
            raise UsageError("extract_pandas_labels: Only one column for labels is allowed.")
        labels = labels.iloc[:, 0]
        if labels.dtype.kind not in "fiub":
            raise UsageError("extract_pandas_labels: Data types for labels must be int, float, or bool.")
        return labels.to_numpy()[:, None]
    return labels.to_numpy() if hasattr(labels, "iloc") else labels


def _is_table(data: Any) -> bool:
    return hasattr(data, "iloc") and hasattr(data, "columns")
