"""Columns in the book of layers: the layer, each column with its slot, and what is put back afterwards."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.feature_columns import cases

from lightwell import feature_columns as ours
from lightwell.model.interop.keras_scope import keras_in_model_fn
from lightwell.model.layers.record import LayerBook, LayerCall, recording

v1 = tf.compat.v1
fc = tf.feature_column
MANY = ["age", "age_bucketized", "city_X_tags_indicator", "city_embedding", "place"]
SLOTS = [(0, 1), (1, 4), (4, 11), (11, 13), (13, 15)]


@pytest.fixture
def book() -> Iterator[LayerBook]:
    """An open book, in a graph, with all that is open around a `model_fn`."""
    around_model_fn = (ours.recording_columns(), keras_in_model_fn("train"))
    with tf.Graph().as_default(), recording(LayerBook()) as open_book, around_model_fn[0], around_model_fn[1]:
        yield open_book


def lines(book: LayerBook) -> list[tuple[str, int, str]]:
    return [(call.name, call.call, call.kind) for call in book]


def run(fetches: Any) -> Any:
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        return session.run(fetches)


def check_slots(book: LayerBook, layer: LayerCall) -> None:
    """Each column's own output is its slot of the layer's."""
    whole = layer.outputs[0] if isinstance(layer.outputs, tuple) else layer.outputs
    parts = [call for call in book if call.name.startswith(f"{layer.name}/")]
    values, *outputs = run([whole, *(part.outputs for part in parts)])
    for part, output in zip(parts, outputs, strict=True):
        np.testing.assert_array_equal(values[..., part.layer.start : part.layer.end], output)
        assert part.layer.width == output.shape[-1]
    assert parts[-1].layer.end == values.shape[-1]


def test_input_layer(book: LayerBook) -> None:
    columns = cases.dense("")["many"]
    output = v1.feature_column.input_layer(cases.features(), columns)
    kinds = ["NumericColumn", "BucketizedColumn", "IndicatorColumn", "EmbeddingColumn", "NumericColumn"]
    expected = [(f"input_layer/{name}", 0, kind) for name, kind in zip(MANY, kinds, strict=True)]
    assert lines(book) == [*expected, ("input_layer", 0, "InputLayer")]
    *parts, layer = book
    assert layer.outputs is output
    assert [(part.layer.start, part.layer.end) for part in parts] == SLOTS
    assert [part.layer for part in parts] == list(layer.layer.columns) == list(output.layer.columns)
    assert [part.layer.column for part in parts] == sorted(columns, key=lambda column: column.name)
    assert [v.op.name for v in layer.variables] == ["input_layer/city_embedding/embedding_weights"]
    assert [len(part.variables) for part in parts] == [0, 0, 0, 1, 0]
    assert [sorted(part.inputs) for part in parts] == [["age"], ["age"], ["city", "tags"], ["city"], ["place"]]
    check_slots(book, layer)


def test_input_layers_are_named_by_their_variables(book: LayerBook) -> None:
    features, columns = cases.features(), [fc.embedding_column(cases.categorical()["list"], 2)]
    for _ in range(2):
        v1.feature_column.input_layer(features, columns)
    with v1.variable_scope("net"):
        v1.feature_column.input_layer(features, columns)
    with v1.variable_scope("net", reuse=True):
        v1.feature_column.input_layer(features, columns)
    names = ["input_layer", "input_layer_1", "net/input_layer", "net/input_layer"]
    layers = [call for call in book if call.kind == "InputLayer"]
    assert [(call.name, call.call) for call in layers] == list(zip(names, [0, 0, 0, 1], strict=True))
    assert [call.variables[0].op.name.removesuffix("/city_embedding/embedding_weights") for call in layers] == names


def test_linear_model(book: LayerBook) -> None:
    columns = [
        cases.categorical()["list"],
        fc.numeric_column("age"),
        fc.embedding_column(cases.categorical()["hash"], 2),
    ]
    for _ in range(2):
        output = v1.feature_column.linear_model(cases.features(), columns, units=2)
    parts = [
        ("age", "NumericColumn"),
        ("city", "VocabularyListCategoricalColumn"),
        ("tags_embedding", "EmbeddingColumn"),
    ]
    assert lines(book) == [
        line
        for name in ("linear_model", "linear_model_1")
        for line in [*((f"{name}/{column}", 0, kind) for column, kind in parts), (name, 0, "LinearModel")]
    ]
    *terms, layer = list(book)[4:]
    assert layer.outputs is output
    assert output.bias is layer.variables[-1]
    assert [part.layer for part in terms] == list(layer.layer.columns)
    assert [[v.op.name.rpartition("/")[2] for v in part.variables] for part in terms] == [
        ["weights"],
        ["weights"],
        ["weights", "embedding_weights"],
    ]
    total, bias, *values = run([output, output.bias, *(part.outputs for part in terms)])
    np.testing.assert_allclose(sum(values) + bias, total, rtol=1e-6)


def test_linear_model_in_pieces(book: LayerBook) -> None:
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
        v1.feature_column.linear_model(cases.features(), [cases.categorical()["list"]])
    part, layer = book
    assert (layer.name, part.name) == ("net/linear_model", "net/linear_model/city")
    assert [v.op.name for v in part.variables] == [f"net/linear_model/city/weights/part_{i}" for i in (0, 1)]


def test_dense_features(book: LayerBook) -> None:
    layer = ours.DenseFeatures(cases.dense("")["many"])
    features = cases.features()
    layer(features)
    layer(features)
    names = [*(f"dense_features/{name}" for name in MANY), "dense_features"]
    assert [(call.name, call.call) for call in book] == [(name, turn) for turn in (0, 1) for name in names]
    *parts, first = list(book)[:6]
    assert (first.kind, first.layer) == ("DenseFeatures", layer)
    assert [(part.layer.start, part.layer.end) for part in parts] == SLOTS
    assert [(slot.start, slot.end) for slot in layer.slots] == SLOTS
    assert [v.op.name for v in parts[3].variables] == ["dense_features/city_embedding/embedding_weights"]
    check_slots(LayerBook(list(book)[:6]), first)


def test_sequence_features(book: LayerBook) -> None:
    ours.SequenceFeatures(cases.sequences()["sequence_many"])(cases.features())
    names = ["trip_ids_embedding", "trip_indicator", "trip_length"]
    assert [call.name for call in book] == [*(f"sequence_features/{name}" for name in names), "sequence_features"]
    *parts, layer = book
    assert [(part.layer.start, part.layer.end) for part in parts] == [(0, 2), (2, 6), (6, 7)]
    check_slots(book, layer)


@pytest.mark.parametrize("way", ["old", "new"])
def test_a_shared_embedding_stands_with_each_of_its_columns(book: LayerBook, way: str) -> None:
    if way == "old":
        columns = cases.shared(v1.feature_column.shared_embedding_columns)["shared"]
        v1.feature_column.input_layer(cases.features(), columns)
    else:
        ours.DenseFeatures(cases.shared(fc.shared_embeddings)["shared"])(cases.features())
    city, tags, layer = book
    assert len(layer.variables) == 1
    assert [v is layer.variables[0] for v in (*city.variables, *tags.variables)] == [True, True]
    assert (list(city.inputs), list(tags.inputs)) == (["city"], ["tags"])


def test_a_name_imported_into_a_module_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    program = types.ModuleType("a_program")
    exec("from tensorflow.compat.v1.feature_column import input_layer", vars(program))
    monkeypatch.setitem(sys.modules, "a_program", program)
    before = program.input_layer
    with tf.Graph().as_default(), recording(LayerBook()) as book, ours.recording_columns():
        program.input_layer(cases.features(), [fc.numeric_column("age")])
    assert [call.name for call in book] == ["input_layer/age", "input_layer"]
    assert program.input_layer is before is v1.feature_column.input_layer


def test_of_two_builds_at_once_the_last_one_puts_back() -> None:
    before = v1.feature_column.input_layer
    first, second = ours.recording_columns(), ours.recording_columns()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert v1.feature_column.input_layer is ours.input_layer
    second.__exit__(None, None, None)
    assert v1.feature_column.input_layer is before


def test_without_an_open_book_nothing_is_written() -> None:
    with tf.Graph().as_default(), ours.recording_columns():
        output = v1.feature_column.input_layer(cases.features(), [fc.numeric_column("age")])
    assert [(slot.name, slot.start, slot.end) for slot in output.layer.columns] == [("age", 0, 1)]


def test_all_is_put_back_also_after_an_error() -> None:
    before = (v1.feature_column.input_layer, v1.feature_column.linear_model)

    def fail_in_the_model() -> None:
        with ours.recording_columns():
            assert (v1.feature_column.input_layer, v1.feature_column.linear_model) == (
                ours.input_layer,
                ours.linear_model,
            )
            raise RuntimeError("in the model")

    with pytest.raises(RuntimeError, match="in the model"):
        fail_in_the_model()
    assert (v1.feature_column.input_layer, v1.feature_column.linear_model) == before
    assert before[0] is not ours.input_layer
