"""Reading examples for old feature columns: `create_feature_spec_for_parsing` and its like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.column_inputs import check_feature_columns, transform_features
from lightwell.compat.contrib.layers.columns import real_valued_column
from lightwell.errors import UsageError

v1 = tf.compat.v1


def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """How to parse examples for columns; as `tf.feature_column.make_parse_example_spec`.

    spec = create_feature_spec_for_parsing([age, city_embedding])
    features = tf.parse_example(serialized, spec)
    """
    made: dict[str, Any] = tf.feature_column.make_parse_example_spec(list(feature_columns))
    return made


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Iterable[Any], name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """Parses examples: features by their names, and what columns make of them, by the columns."""
    columns = list(feature_columns)
    check_feature_columns(columns)
    spec = create_feature_spec_for_parsing(columns)
    features = v1.parse_example(serialized, spec, name=name, example_names=example_names)
    return {**features, **transform_features(features, columns)}


def make_place_holder_tensors_for_base_features(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """A placeholder for each feature of columns."""
    made: dict[str, Any] = {}
    for name, one in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(one, tf.io.FixedLenFeature):
            made[name] = v1.placeholder(one.dtype, [None, *one.shape], name=f"Placeholder_{name}")
        else:
            made[name] = v1.sparse_placeholder(one.dtype, name=f"Placeholder_{name}")
    return made


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A real-valued column for each feature, or for the one tensor of them.

    Raises:
        UsageError: a feature is sparse, or its size is not known.
    """
    if not isinstance(features, Mapping):
        return [_inferred("", features)]
    return [_inferred(name, features[name]) for name in sorted(features)]


def _inferred(name: str, feature: Any) -> Any:
    if isinstance(feature, tf.SparseTensor):
        raise UsageError(
            f"SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for {name!r}."
        )
    values = tf.convert_to_tensor(feature)
    if not (values.dtype.is_integer or values.dtype.is_floating):
        raise UsageError(
            f"Non integer or non floating types are not supported for auto detection: {name!r} is {values.dtype}."
        )
    shape = values.shape.as_list()
    size = 1 if len(shape) == 1 else tf.TensorShape(shape[1:]).num_elements()
    if size is None:
        raise UsageError(
            f"Variable length features are not supported for auto detection: {name!r} is of shape {shape}."
        )
    return real_valued_column(name, dimension=size, dtype=values.dtype)
