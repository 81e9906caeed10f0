"""What the layers of columns refuse, and the sentences they do it with."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests.model.feature_columns import cases
from tests.model.feature_columns.programs import embedding, number

from lightwell.errors import UsageError
from lightwell.feature_columns import DenseFeatures, SequenceFeatures, input_layer, linear_model

v1 = tf.compat.v1
fc = tf.feature_column
WRAP = (
    "Lightwell: wrap the column 'id' with tf.feature_column.indicator_column(...) or "
    "embedding_column(..., dimension=...)"
)


def categories() -> Any:
    return fc.categorical_column_with_identity("id", 3)


def refusal(*args: Any, layer: Any = DenseFeatures, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        layer(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("columns", [categories(), [number(), categories()], iter([categories(), number()])])
def test_raw_categories_in_input_layer(columns: Any) -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="Items of feature_columns must be a _Dense") as caught,
    ):
        input_layer(cases.features(), columns)
    assert type(caught.value) is ValueError
    assert str(caught.value).count("Lightwell:") == 1
    assert str(caught.value).endswith(WRAP)


@pytest.mark.parametrize("function", [input_layer, linear_model])
def test_shared_embeddings_in_a_function(function: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="SharedEmbeddingColumns are not supported") as caught:
        function(cases.features(), fc.shared_embeddings([categories()], 2))
    assert str(caught.value).endswith(
        "Lightwell: call lightwell.feature_columns.DenseFeatures(columns)(features), or make the columns with "
        "tf.compat.v1.feature_column.shared_embedding_columns(...)"
    )


def test_other_errors_of_tensorflow_stay_as_they_are() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="feature_columns must not be empty") as caught:
        input_layer(cases.features(), [])
    assert "Lightwell" not in str(caught.value)


def test_raw_categories_in_a_layer() -> None:
    text = refusal([number(), categories()], name="mine")
    assert text.startswith("DenseFeatures 'mine': Items of feature_columns must be a DenseColumn. Given (type Identity")
    assert text.endswith(WRAP)


def test_empty() -> None:
    assert refusal([]) == "DenseFeatures: feature_columns must not be empty. Pass at least one column."


@pytest.mark.parametrize(("columns", "kind"), [({"age": number()}, "dict"), ("age", "str"), (7, "int")])
def test_no_list_of_columns(columns: Any, kind: str) -> None:
    assert refusal(columns) == (
        f"DenseFeatures: Expected feature_columns to be a list of columns, found {kind}. "
        "Pass [column, ...]; for a dict of columns, its values()."
    )


def test_no_column() -> None:
    assert refusal(["age"]) == (
        "DenseFeatures: Items of feature_columns must be a FeatureColumn. Given (type str): age. "
        "Make columns with tf.feature_column.numeric_column(key) and its siblings."
    )


def test_shared_embedding_columns_in_a_layer() -> None:
    with tf.Graph().as_default():
        columns = v1.feature_column.shared_embedding_columns([categories()], 2)
        text = refusal(columns)
    assert "Items of feature_columns must be a FeatureColumn. Given (type _SharedEmbeddingColumn)" in text
    assert text.endswith("Make shared columns with tf.feature_column.shared_embeddings(...) to use them in this layer.")


def test_one_name_twice() -> None:
    text = refusal([number(), number()])
    assert text.startswith("DenseFeatures: Duplicate feature column name 'age', found for columns: NumericColumn(")
    assert text.endswith("leave one out, or put a copy of the feature into features under another key.")


def test_columns_of_the_other_layer() -> None:
    text = refusal([fc.sequence_numeric_column("trip_length")])
    assert text.endswith("This column belongs into SequenceFeatures.")
    assert refusal([number()], layer=SequenceFeatures).endswith("This column belongs into DenseFeatures.")


def test_features_that_are_no_dict() -> None:
    with pytest.raises(UsageError) as caught:
        DenseFeatures([number()], name="mine")(tf.constant([[1.0]]))
    assert str(caught.value).startswith(
        "DenseFeatures 'mine': We expected a dictionary here, feature key -> tensor. Instead we got: [[1.]]. "
        "Pass the features that input_fn gave, or {'key': tensor}."
    )


def test_sequences_of_other_lengths() -> None:
    features = {
        "short": tf.sparse.from_dense([[1.0, 0.0], [2.0, 3.0]]),
        "long": tf.sparse.from_dense([[1.0, 5.0], [2.0, 3.0]]),
    }
    layer = SequenceFeatures([fc.sequence_numeric_column(key) for key in features])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        layer(features)
    assert (
        "SequenceFeatures: the sequences of columns 'long' and 'short' differ in length. Columns of one layer describe "
        "the same steps: pad them alike, or use two layers." in str(caught.value)
    )


def test_a_partitioned_layer_of_another_graph() -> None:
    layer = DenseFeatures([embedding()], name="mine", partitioner=v1.fixed_size_partitioner(2))
    with tf.Graph().as_default():
        layer(cases.features())
    with tf.Graph().as_default(), pytest.raises(UsageError) as caught:
        layer(cases.features())
    assert str(caught.value) == (
        "DenseFeatures 'mine': its weights are partitioned and belong to another graph than the one being built. "
        "Make the layer inside model_fn, so that each graph gets its own."
    )
