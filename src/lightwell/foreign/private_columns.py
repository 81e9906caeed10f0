"""The classes of the columns that `tf.feature_column.*` makes; they have no public names.

Up to TensorFlow 1.12 these functions made `_NumericColumn` and its kin, and programs ask for them with `isinstance`.
Today's functions make other classes. Here the old names are today's classes, looked up on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from lightwell.foreign.probes import missing_attributes, warn_once

OLD_MODULE = "tensorflow.python.feature_column.feature_column"
_MODULE = "tensorflow.python.feature_column.feature_column_v2"
# `_SharedEmbeddingColumn` and the bases (`_DenseColumn`, `_CategoricalColumn`, ...) still do what they did.
CHANGED = frozenset(
    f"_{kind}Column"
    for kind in (
        "Bucketized",
        "Crossed",
        "Embedding",
        "HashedCategorical",
        "IdentityCategorical",
        "Indicator",
        "Numeric",
        "VocabularyFileCategorical",
        "VocabularyListCategorical",
        "WeightedCategorical",
    )
)


def __getattr__(name: str) -> Any:
    if name not in CHANGED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    module = importlib.import_module(_MODULE)
    missing = missing_attributes(module, [name[1:]])
    if missing:
        release = f"TensorFlow {importlib.import_module('tensorflow').__version__}"
        warn_once(release, tuple(missing), f"isinstance(column, {name}) is false for columns of tf.feature_column.")
        return getattr(importlib.import_module(OLD_MODULE), name)
    return getattr(module, name[1:])
