"""Every kind of feature column, once: what the oracle was recorded with, and what the tests run.

Speaks TensorFlow's public API only, so that the same lines run on TensorFlow 2.15 and on today's. All cases of one way
(`input_layer`, ...) stand in one graph, each under a variable scope with its own name.
"""

from __future__ import annotations

import pathlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
fc = tf.feature_column
CITIES = ["oslo", "rome", "lima"]
CITIES_FILE = str(pathlib.Path(__file__).with_name("cities.txt"))
WAYS = ("input_layer", "linear_model", "linear_units", "dense_features", "sequence_features")
Columns = list[Any]


def features() -> dict[str, Any]:
    """A batch of four: dense and sparse, numbers and words, sequences, gaps and words nobody knows."""
    rows, few = [[0, 0], [0, 1], [1, 0], [3, 0]], [4, 2]
    steps, long = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2]], [4, 3]
    wide = [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2], [3, 3]]
    return {
        "age": tf.constant([[10.0], [20.0], [35.0], [60.0]]),
        "age_int": tf.constant([[10], [20], [35], [60]]),
        "age_double": tf.constant([[0.1], [0.2], [0.35], [0.6]], tf.float64),
        "place": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]),
        "grid": tf.reshape(tf.range(16.0), [4, 2, 2]),
        "city": tf.constant([["oslo"], ["rome"], ["paris"], ["atlantis"]]),
        "flat_city": tf.constant(["lima", "rome", "", "oslo"]),
        "id": tf.constant([[0], [1], [2], [1]], tf.int64),
        "far_id": tf.constant([[0], [7], [-1], [2]], tf.int64),
        "tags": tf.SparseTensor(rows, tf.constant(["oslo", "lima", "rome", "oslo"]), few),
        "tag_ids": tf.SparseTensor(rows, tf.constant([3, 1, 2, 3], tf.int64), few),
        "tag_weights": tf.SparseTensor(rows, tf.constant([0.5, 1.0, 2.0, 3.0]), few),
        "trip": tf.SparseTensor(steps, tf.constant(["oslo", "rome", "lima", "paris", "oslo", "rome"]), long),
        "trip_ids": tf.SparseTensor(steps, tf.constant([0, 1, 2, 1, 0, 2], tf.int64), long),
        "trip_length": tf.SparseTensor(steps, tf.constant([0.5, 1.0, 2.0, 1.5, 3.0, 2.5]), long),
        "trip_place": tf.SparseTensor(wide, tf.range(12.0), [4, 4]),
    }


def categorical() -> dict[str, Any]:
    """Every categorical column."""
    age = fc.bucketized_column(fc.numeric_column("age"), [18.0, 40.0])
    return {
        "identity": fc.categorical_column_with_identity("id", 3),
        "identity_default": fc.categorical_column_with_identity("far_id", 3, default_value=1),
        "hash": fc.categorical_column_with_hash_bucket("tags", 5),
        "hash_int": fc.categorical_column_with_hash_bucket("tag_ids", 5, dtype=tf.int64),
        "list": fc.categorical_column_with_vocabulary_list("city", CITIES),
        "list_flat": fc.categorical_column_with_vocabulary_list("flat_city", CITIES),
        "list_default": fc.categorical_column_with_vocabulary_list("tags", CITIES[:2], default_value=1),
        "list_oov": fc.categorical_column_with_vocabulary_list("city", CITIES, num_oov_buckets=2),
        "list_int": fc.categorical_column_with_vocabulary_list("tag_ids", [1, 3], dtype=tf.int64),
        "file": fc.categorical_column_with_vocabulary_file("city", CITIES_FILE),
        "file_size": fc.categorical_column_with_vocabulary_file("tags", CITIES_FILE, vocabulary_size=2),
        "file_oov": fc.categorical_column_with_vocabulary_file("city", CITIES_FILE, num_oov_buckets=2),
        "crossed": fc.crossed_column(["city", "tags"], 7),
        "crossed_columns": fc.crossed_column([age, fc.categorical_column_with_identity("id", 3), "city"], 11, 42),
        "weighted": fc.weighted_categorical_column(fc.categorical_column_with_hash_bucket("tags", 5), "tag_weights"),
    }


def numeric() -> dict[str, Any]:
    """Every column of numbers."""
    return {
        "numeric": fc.numeric_column("age"),
        "numeric_int": fc.numeric_column("age_int"),
        "numeric_double": fc.numeric_column("age_double", dtype=tf.float64),
        "numeric_shape": fc.numeric_column("place", shape=(2,)),
        "numeric_grid": fc.numeric_column("grid", shape=(2, 2)),
        "numeric_normalized": fc.numeric_column("age", normalizer_fn=lambda x: (x - 30.0) / 10.0, default_value=1.0),
        "bucketized": fc.bucketized_column(fc.numeric_column("age"), [18.0, 40.0]),
        "bucketized_shape": fc.bucketized_column(fc.numeric_column("place", shape=(2,)), [2.5, 4.5, 6.5]),
    }


def embeddings(checkpoint: str) -> dict[str, Columns]:
    """What `embedding_column` takes beside a column and a dimension."""
    tags = fc.categorical_column_with_hash_bucket("tags", 5)
    return {
        **{f"embedding_{how}": [fc.embedding_column(tags, 3, combiner=how)] for how in ("sum", "mean", "sqrtn")},
        "embedding_max_norm": [fc.embedding_column(tags, 3, max_norm=0.5)],
        "embedding_frozen": [fc.embedding_column(tags, 3, trainable=False)],
        "embedding_unsafe": [
            fc.embedding_column(fc.categorical_column_with_identity("id", 3), 2, use_safe_embedding_lookup=False)
        ],
        "embedding_initializer": [fc.embedding_column(tags, 3, initializer=tf.compat.v1.constant_initializer(0.25))],
        "embedding_checkpoint": [
            fc.embedding_column(tags, 3, ckpt_to_load_from=checkpoint, tensor_name_in_ckpt="old/table")
        ],
    }


def dense(checkpoint: str) -> dict[str, Columns]:
    """Columns that every way but the sequences takes."""
    named = categorical()
    return {
        **{name: [column] for name, column in numeric().items()},
        **{f"indicator_{name}": [fc.indicator_column(column)] for name, column in named.items()},
        **{f"embedding_{name}": [fc.embedding_column(column, 2)] for name, column in named.items()},
        **embeddings(checkpoint),
        "many": [
            fc.numeric_column("place", shape=(2,)),
            fc.embedding_column(named["list"], 2),
            fc.indicator_column(named["crossed"]),
            fc.bucketized_column(fc.numeric_column("age"), [18.0, 40.0]),
            fc.numeric_column("age"),
        ],
    }


def linear(checkpoint: str) -> dict[str, Columns]:
    """Dense columns in a linear model, which mostly takes categorical ones as they are."""
    some = ("indicator_list", "indicator_crossed", "embedding_list", "embedding_weighted", "embedding_mean", "many")
    return {name: columns for name, columns in dense(checkpoint).items() if name in numeric() or name in some}


def shared(make: Callable[..., Columns]) -> dict[str, Columns]:
    """Shared embeddings, by `shared_embedding_columns` (1.x) or `shared_embeddings` (2.x)."""
    city, tags = (fc.categorical_column_with_vocabulary_list(key, CITIES) for key in ("city", "tags"))
    return {
        "shared": make([city, tags], 2),
        "shared_named": make([tags, city], 3, combiner="sum", shared_embedding_collection_name="places"),
        "shared_and_more": [fc.numeric_column("age"), *make([city, tags], 2, max_norm=1.0)],
    }


def sequences() -> dict[str, Columns]:
    """Every sequence column."""
    words = {
        "identity": fc.sequence_categorical_column_with_identity("trip_ids", 3),
        "hash": fc.sequence_categorical_column_with_hash_bucket("trip", 4),
        "list": fc.sequence_categorical_column_with_vocabulary_list("trip", CITIES, num_oov_buckets=1),
        "file": fc.sequence_categorical_column_with_vocabulary_file("trip", CITIES_FILE),
    }
    length = fc.sequence_numeric_column("trip_length")
    return {
        "sequence_numeric": [length],
        "sequence_numeric_shape": [fc.sequence_numeric_column("trip_place", shape=(2,), default_value=-1.0)],
        "sequence_numeric_normalized": [fc.sequence_numeric_column("trip_length", normalizer_fn=lambda x: x * 2.0)],
        **{f"sequence_indicator_{name}": [fc.indicator_column(column)] for name, column in words.items()},
        **{f"sequence_embedding_{name}": [fc.embedding_column(column, 2)] for name, column in words.items()},
        "sequence_shared": fc.shared_embeddings([words["list"]], 2),
        "sequence_many": [length, fc.embedding_column(words["identity"], 2), fc.indicator_column(words["list"])],
    }


def parse_specs() -> dict[str, dict[str, str]]:
    """How each column's features are read from `tf.Example`s, by the functions of both faces."""
    known = {**{name: [column] for name, column in {**numeric(), **categorical()}.items()}, **sequences()}
    old = {name: columns for name, columns in known.items() if not name.startswith("sequence")}
    old |= shared(v1.feature_column.shared_embedding_columns)
    made = {
        **{f"v2|{name}": fc.make_parse_example_spec(columns) for name, columns in known.items()},
        **{f"v1|{name}": v1.feature_column.make_parse_example_spec(columns) for name, columns in old.items()},
    }
    return {name: {key: repr(feature) for key, feature in sorted(spec.items())} for name, spec in made.items()}


@dataclass
class Made:
    """What one case built."""

    outputs: Any
    variables: list[Any]
    by_column: dict[str, Any] = field(default_factory=dict)
    variables_by_column: dict[str, list[str]] = field(default_factory=dict)
    gradients: dict[str, Any] = field(default_factory=dict)


Use = Callable[[Mapping[str, Any], Columns], tuple[Any, dict[Any, Any], dict[Any, Any]]]


def use_input_layer(values: Mapping[str, Any], columns: Columns) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
    variables: dict[Any, Any] = {}
    outputs: dict[Any, Any] = {}
    result = v1.feature_column.input_layer(values, columns, cols_to_vars=variables, cols_to_output_tensors=outputs)
    return result, outputs, variables


def use_linear_model(values: Mapping[str, Any], columns: Columns) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
    variables: dict[Any, Any] = {}
    result = v1.feature_column.linear_model(values, columns, cols_to_vars=variables)
    return result, {}, variables


def use_linear_units(values: Mapping[str, Any], columns: Columns) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
    result = v1.feature_column.linear_model(values, columns, units=2, sparse_combiner="mean", trainable=True)
    return result, {}, {}


def ways(checkpoint: str, layers: Any) -> dict[str, tuple[Use, Callable[[], dict[str, Columns]]]]:
    """Each way from features to tensors, with the columns that are legal there.

    Args:
        checkpoint: a checkpoint that holds `old/table`, for embeddings that start from one.
        layers: where `DenseFeatures` and `SequenceFeatures` are found.
    """

    def use_dense(values: Mapping[str, Any], columns: Columns) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
        outputs: dict[Any, Any] = {}
        layer = layers.DenseFeatures(columns, name="dense_features")
        return layer(values, cols_to_output_tensors=outputs), outputs, {}

    def use_sequence(values: Mapping[str, Any], columns: Columns) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
        return tuple(layers.SequenceFeatures(columns, name="sequence_features")(values)), {}, {}

    raw = {name: [column] for name, column in categorical().items()}
    old = v1.feature_column.shared_embedding_columns
    return {
        "input_layer": (use_input_layer, lambda: {**dense(checkpoint), **shared(old)}),
        "linear_model": (use_linear_model, lambda: {**linear(checkpoint), **shared(old), **raw}),
        "linear_units": (use_linear_units, lambda: raw),
        "dense_features": (use_dense, lambda: {**dense(checkpoint), **shared(fc.shared_embeddings)}),
        "sequence_features": (use_sequence, sequences),
    }


def build(way: str, checkpoint: str, layers: Any) -> dict[str, Made]:
    """Builds all cases of one way in the current graph."""
    use, columns_of = ways(checkpoint, layers)[way]
    values, made = features(), {}
    for case, columns in columns_of().items():
        before = len(v1.global_variables())
        with v1.variable_scope(case):
            result, outputs, variables = use(values, columns)
        new = v1.global_variables()[before:]
        made[case] = Made(
            result,
            new,
            {column.name: tensor for column, tensor in outputs.items()},
            {getattr(column, "name", column): [v.op.name for v in found] for column, found in variables.items()},
            _gradients(result, new),
        )
    return made


def _gradients(result: Any, variables: list[Any]) -> dict[str, Any]:
    output = result[0] if isinstance(result, tuple) else result
    if not variables:
        return {}
    loss = tf.reduce_sum(output * tf.cos(tf.reshape(tf.range(tf.cast(tf.size(output), tf.float32)), tf.shape(output))))
    gradients = v1.gradients(loss, variables)
    return {v.op.name: tf.convert_to_tensor(g) for v, g in zip(variables, gradients, strict=True) if g is not None}


def open_session() -> Any:
    """A session that does not spend its time on rewriting a graph of hundreds of cases that is run twice."""
    config = v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return v1.Session(config=config)


def start(session: Any, variables: list[Any]) -> None:
    """Initialises tables and variables; weights that are not read from a checkpoint get values told by their names."""
    told = [v for v in variables if "checkpoint" not in v.op.name and "initializer" not in v.op.name]
    feeds = {v.initializer.inputs[1]: value_for(v.op.name, v.shape.as_list()) for v in told}
    session.run([v1.global_variables_initializer(), v1.tables_initializer()], feeds)


def value_for(name: str, shape: list[int]) -> Any:
    """Numbers in [-1, 1] that depend on a variable's name and shape alone."""
    count = int(np.prod(shape))
    return np.cos(np.arange(count) + zlib.crc32(name.encode()) % 1000).reshape(shape).astype(np.float32)


def fetches(made: Mapping[str, Made]) -> dict[str, Any]:
    """All numbers of all cases, flat."""
    found: dict[str, Any] = {}
    for case, one in made.items():
        parts = one.outputs if isinstance(one.outputs, tuple) else (one.outputs,)
        found |= {f"{case}|output|{index}": part for index, part in enumerate(parts)}
        found |= {f"{case}|column|{name}": tensor for name, tensor in one.by_column.items()}
        found |= {f"{case}|gradient|{name}": tensor for name, tensor in one.gradients.items()}
    return found


def facts(one: Made, trainable: list[Any]) -> dict[str, Any]:
    """What a case built, beside numbers."""
    parts = one.outputs if isinstance(one.outputs, tuple) else (one.outputs,)
    return {
        "variables": {v.op.name: v.shape.as_list() for v in one.variables},
        "trainable": sorted(v.op.name for v in one.variables if any(v is other for other in trainable)),
        "shapes": [part.shape.as_list() for part in parts],
        "columns": list(one.by_column),
        "variables_by_column": one.variables_by_column,
    }


def write_checkpoint(folder: str) -> str:
    """A checkpoint with the one variable `old/table`."""
    with tf.Graph().as_default(), v1.Session() as session:
        table = v1.get_variable("old/table", initializer=tf.reshape(tf.range(15.0) / 10.0, [5, 3]), use_resource=True)
        session.run(table.initializer)
        return str(v1.train.Saver([table]).save(session, f"{folder}/old.ckpt"))
