"""Old names of column classes are the classes of today's columns, or the old ones where a release lacks them."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell.foreign import private_columns


def test_old_names_are_the_classes_of_columns(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    number = tf.feature_column.numeric_column("a")
    assert private_columns._NumericColumn is type(number)
    assert all(isinstance(getattr(private_columns, name), type) for name in private_columns.CHANGED)
    with pytest.raises(AttributeError, match="no attribute '_DenseColumn'"):
        _ = private_columns._DenseColumn
    monkeypatch.setattr(private_columns, "_MODULE", "tensorflow")  # a release that lacks them
    assert private_columns._NumericColumn is not type(number)
    assert "isinstance(column, _NumericColumn) is false" in caplog.text
