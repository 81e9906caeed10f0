"""Small programs over feature columns whose names, shapes and refusals were recorded from TensorFlow 2.15.1.

Each takes a batch of features and where `DenseFeatures` and `SequenceFeatures` are found, and gives what is to be
compared beside the variables of its graph.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tests.model.feature_columns import cases

v1 = tf.compat.v1
fc = tf.feature_column
Program = Callable[[dict[str, Any], Any], Any]


def number() -> Any:
    return fc.numeric_column("age")


def embedding(key: str = "city", **options: Any) -> Any:
    return fc.embedding_column(fc.categorical_column_with_vocabulary_list(key, cases.CITIES), 2, **options)


def word_sequence() -> Any:
    return fc.embedding_column(fc.sequence_categorical_column_with_identity("trip_ids", 3), 2)


def two_input_layers(features: dict[str, Any], layers: Any) -> Any:
    first = v1.feature_column.input_layer(features, [embedding(), number()])
    second = v1.feature_column.input_layer(features, [embedding()])
    return [first.name, second.name]


def input_layers_in_scopes(features: dict[str, Any], layers: Any) -> Any:
    names = []
    for scope, reuse in (("net", None), ("net", True), ("net", v1.AUTO_REUSE), ("other", None)):
        with v1.variable_scope(scope, reuse=reuse):
            names.append(v1.feature_column.input_layer(features, [embedding()]).name)
    with tf.name_scope("named"):
        names.append(v1.feature_column.input_layer(features, [embedding()]).name)
    return names


def input_layer_in_pieces(features: dict[str, Any], layers: Any) -> Any:
    found: dict[Any, Any] = {}
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
        v1.feature_column.input_layer(features, [embedding()], cols_to_vars=found)
    return {column.name: [v.op.name for v in variables] for column, variables in found.items()}


def frozen_input_layer(features: dict[str, Any], layers: Any) -> Any:
    v1.feature_column.input_layer(features, [embedding()], weight_collections=["mine"], trainable=False)
    return [v.op.name for v in v1.get_collection("mine")]


def one_column(features: dict[str, Any], layers: Any) -> Any:
    return v1.feature_column.input_layer(features, number()).shape.as_list()


def columns_from_a_generator(features: dict[str, Any], layers: Any) -> Any:
    found: dict[Any, Any] = {}
    v1.feature_column.input_layer(features, (c for c in (number(), embedding())), cols_to_output_tensors=found)
    return [column.name for column in found]


def two_linear_models(features: dict[str, Any], layers: Any) -> Any:
    columns = [embedding(), number(), fc.categorical_column_with_vocabulary_list("tags", cases.CITIES)]
    return [v1.feature_column.linear_model(features, columns).name for _ in range(2)]


def linear_model_in_pieces(features: dict[str, Any], layers: Any) -> Any:
    found: dict[Any, Any] = {}
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
        v1.feature_column.linear_model(features, [embedding(), number()], cols_to_vars=found)
    return {getattr(column, "name", column): [v.op.name for v in vs] for column, vs in found.items()}


def two_layers(features: dict[str, Any], layers: Any) -> Any:
    made = [layers.DenseFeatures([embedding(), number()]) for _ in range(2)]
    return [[layer.name, layer(features).shape.as_list()] for layer in made]


def one_layer_twice(features: dict[str, Any], layers: Any) -> Any:
    layer = layers.DenseFeatures([embedding(), number()])
    return [layer(features).shape.as_list(), layer(features).shape.as_list(), layer.name, len(layer.weights)]


def layers_in_scopes(features: dict[str, Any], layers: Any) -> Any:
    early = layers.DenseFeatures([embedding()])
    with v1.variable_scope("net"):
        layers.DenseFeatures([embedding()])(features)
        early(features)
    with tf.name_scope("named"):
        layers.DenseFeatures([embedding()])(features)
    return None


def frozen_layer(features: dict[str, Any], layers: Any) -> Any:
    layer = layers.DenseFeatures([embedding()], trainable=False)
    layer(features)
    return [len(layer.trainable_weights), len(layer.non_trainable_weights)]


def frozen_column(features: dict[str, Any], layers: Any) -> Any:
    layer = layers.DenseFeatures([embedding(trainable=False), embedding("tags")])
    layer(features)
    return [len(layer.trainable_weights), len(layer.non_trainable_weights)]


def shared_by_two_layers(features: dict[str, Any], layers: Any) -> Any:
    city, tags = (fc.categorical_column_with_vocabulary_list(key, cases.CITIES) for key in ("city", "tags"))
    columns = fc.shared_embeddings([city, tags], 2)
    with v1.variable_scope("net"):
        layers.DenseFeatures([*columns, number()])(features)
        layers.DenseFeatures(columns[:1])(features)
    return None


def two_sequence_layers(features: dict[str, Any], layers: Any) -> Any:
    for _ in range(2):
        layers.SequenceFeatures([word_sequence(), fc.sequence_numeric_column("trip_length")])(features)
    return None


def layer_in_a_model(features: dict[str, Any], layers: Any) -> Any:
    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__(name="net")
            self.columns = layers.DenseFeatures([embedding(), number()])

        def call(self, inputs: Any) -> Any:
            return self.columns(inputs)

    net = Net()
    net(features)
    return [len(net.trainable_weights)]


def _dense(*columns: Any) -> Program:
    return lambda features, layers: layers.DenseFeatures(*columns)(features).name


def _sequence(*columns: Any) -> Program:
    return lambda features, layers: layers.SequenceFeatures(*columns)(features)[0].name


def _input(columns: Callable[[], Any]) -> Program:
    return lambda features, layers: v1.feature_column.input_layer(features, columns()).name


def _categories() -> Any:
    return fc.categorical_column_with_identity("id", 3)


NAMING: dict[str, Program] = {
    function.__name__: function
    for function in (
        two_input_layers,
        input_layers_in_scopes,
        input_layer_in_pieces,
        frozen_input_layer,
        one_column,
        columns_from_a_generator,
        two_linear_models,
        linear_model_in_pieces,
        two_layers,
        one_layer_twice,
        layers_in_scopes,
        frozen_layer,
        frozen_column,
        shared_by_two_layers,
        two_sequence_layers,
        layer_in_a_model,
    )
}

REFUSED: dict[str, Program] = {
    "input_layer: raw categories": _input(lambda: [number(), _categories()]),
    "input_layer: one raw column": _input(_categories),
    "input_layer: raw crossing": _input(lambda: [fc.crossed_column(["city", "tags"], 7)]),
    "input_layer: shared_embeddings": _input(lambda: fc.shared_embeddings([_categories()], 2)),
    "input_layer: empty": _input(list),
    "input_layer: sequence": _input(lambda: [word_sequence()]),
    "dense: raw categories": _dense([number(), _categories()]),
    "dense: empty": _dense([]),
    "dense: dict": _dense({"age": number()}),
    "dense: twice the same": _dense([number(), number()]),
    "dense: no column": _dense(["age"]),
    "dense: sequence": _dense([fc.sequence_numeric_column("trip_length")]),
    "dense: embedding of a sequence": _dense([word_sequence()]),
    "dense: features are no dict": lambda features, layers: layers.DenseFeatures([number()])(features["age"]),
    "dense: feature missing": _dense([fc.numeric_column("nowhere")]),
    "dense: shared_embedding_columns": lambda features, layers: layers.DenseFeatures(
        v1.feature_column.shared_embedding_columns([_categories()], 2)
    ),
    "sequence: no sequence": _sequence([number()]),
    "sequence: embedding of no sequence": _sequence([embedding()]),
    "sequence: dense feature": _sequence([fc.sequence_numeric_column("age")]),
}


def outcome(program: Program, layers: Any, around: Any = contextlib.nullcontext) -> dict[str, Any]:
    """Runs a program in a graph of its own: its result or the type of its error, and the variables it made.

    Args:
        program: the program.
        layers: where it finds `DenseFeatures` and `SequenceFeatures`.
        around: makes what is open around a `model_fn`, given a mode.
    """
    with tf.Graph().as_default(), around("train"):
        try:
            result: dict[str, Any] = {"result": program(cases.features(), layers)}
        except (ValueError, TypeError) as error:
            builtin = next(kind for kind in (ValueError, TypeError) if isinstance(error, kind))
            return {"raises": builtin.__name__}
        trainable = [v.op.name for v in v1.trainable_variables()]
        variables = {v.op.name: [v.shape.as_list(), v.op.name in trainable] for v in v1.global_variables()}
        return {**result, "variables": variables}
