"""Every layer kind lets its values be read and changed at one gate; without edits the graph is what it always was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from tests.gate import Runs, check_gate, program_of, zeroed
from tests.inside.edits import models
from tests.model.feature_columns import cases as columns
from tests.model.layers.cases import CASES, NOT_RUN, Case, Given
from tests.model.rnn_cell import cases as cells

from lightwell import feature_columns, layers, rnn_cell
from lightwell.model.feature_columns.recording import recording_columns
from lightwell.model.interop.v1_optimizers import v1_optimizers_in_model_fn
from lightwell.model.layers.record import LayerBook, recording
from lightwell.model.rnn_cell.sequences import recording_rnn

v1 = tf.compat.v1
fc = tf.feature_column
CELLS = cells.cells(rnn_cell)
FUNCTIONS = cells.functions(rnn_cell)
FIRST_OF_EACH = list({name.partition("-")[0]: name for name in reversed(CASES) if name not in NOT_RUN}.values())
# A cell that overrides `__call__` is seen in recurrent functions alone.
UNSEEN = {"overriding"}


class Inputs:
    """What a case of `tests/model/layers` makes its inputs with, and what to feed for them."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._given = Given()

    def compute(self) -> Any:
        self._given = Given()
        return self._case(layers, self._given)

    def feeds(self) -> dict[str, Any]:
        """By name: each program has placeholders of its own, alike in all of them."""
        switch = {} if self._given.switch is None else {self._given.switch: True}
        return {tensor.name: value for tensor, value in {**self._given.feeds, **switch}.items()}


@pytest.mark.parametrize("name", FIRST_OF_EACH)
def test_layers(name: str) -> None:
    inputs = Inputs(CASES[name])
    assert check_gate(inputs.compute, inputs.feeds)


@pytest.mark.parametrize("name", CELLS)
def test_cells(name: str) -> None:
    dtype = tf.float64 if name == "lstm_float64" else tf.float32

    def compute() -> Any:
        made = cells.call_directly(rnn_cell, CELLS[name], dtype)
        return made["output"], made["state"]

    assert bool(check_gate(compute)) == (name not in UNSEEN)


@pytest.mark.parametrize("name", ["lstm", "multi_wrapped", "dropout_seeded", "device", "overriding"])
def test_dynamic_rnn(name: str) -> None:
    def compute() -> Any:
        made = cells.call_dynamic_rnn(rnn_cell, CELLS[name], tf.float32)
        return made["output"], made["state"]

    assert check_gate(compute)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_recurrent_functions(name: str) -> None:
    assert check_gate(FUNCTIONS[name])


def dense_columns() -> list[Any]:
    named = {name: column for name, column in columns.categorical().items() if "flat" not in name}
    numbers = [column for name, column in columns.numeric().items() if name != "numeric_normalized"]
    shared = columns.shared(v1.feature_column.shared_embedding_columns)["shared_named"]
    embedded = [fc.embedding_column(named[name], 2) for name in ("list", "hash", "weighted", "crossed")]
    return [*numbers, *embedded, *shared, fc.indicator_column(named["identity"])]


COLUMNS: dict[str, tuple[Callable[[], Any], int]] = {
    "input_layer": (lambda: v1.feature_column.input_layer(columns.features(), dense_columns()), 14),
    "linear_model": (
        lambda: v1.feature_column.linear_model(
            columns.features(),
            [fc.numeric_column("age"), fc.embedding_column(columns.categorical()["hash"], 2)]
            + [columns.categorical()[name] for name in ("list", "identity", "weighted", "crossed_columns")],
            units=2,
        ),
        6,
    ),
    "linear_model of one column": (
        lambda: v1.feature_column.linear_model(columns.features(), [fc.numeric_column("age")]),
        1,
    ),
    "dense_features": (lambda: feature_columns.DenseFeatures(columns.dense("")["many"])(columns.features()), 5),
    "dense_features, shared": (
        lambda: feature_columns.DenseFeatures(columns.shared(fc.shared_embeddings)["shared_and_more"])(
            columns.features()
        ),
        3,
    ),
    "sequence_features": (
        lambda: feature_columns.SequenceFeatures(columns.sequences()["sequence_many"])(columns.features()),
        3,
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_feature_columns(name: str) -> None:
    compute, count = COLUMNS[name]
    paths = check_gate(compute, some_of=r"layers/\w+/input\[\d+\]")  # not all features are read
    own = [path for path in paths if path.count("/") == 2]
    assert len(own) == count
    assert len(paths) > len(own)


def test_who_asks_for_the_outputs_of_columns_gets_what_they_were_changed_to() -> None:
    def compute() -> Any:
        outputs: dict[Any, Any] = {}
        v1.feature_column.input_layer(columns.features(), [fc.numeric_column("age")], cols_to_output_tensors=outputs)
        return list(outputs.values())

    (values,) = Runs(program_of(compute, zeroed("layers/input_layer/age")))()
    assert values.tolist() == [[0.0]] * 4


# Names that count up over a process: of functions in loops and branches, of tables.
COUNTED = ("body", "cond", "then_branch", "else_branch", "shared_name")


def graph_of(model_fn: Any, *around: Any) -> list[Any]:
    """The graph of a training, node for node, built with these opened around the model."""
    with tf.Graph().as_default() as graph, contextlib.ExitStack() as stack:
        v1.set_random_seed(3)
        v1.train.create_global_step()
        features, labels = v1.data.make_initializable_iterator(models.once()).get_next()
        for one in around:
            stack.enter_context(one())
        model_fn(features, labels, models.TRAIN)
        return [
            (node.name, node.op, tuple(node.input), {key: node.attr[key] for key in node.attr if key not in COUNTED})
            for node in graph.as_graph_def().node
        ]


@pytest.mark.parametrize("name", ["mlp", "cnn", "old_rnn", "columns"])
def test_a_graph_with_the_gate_is_that_of_a_program_without_lightwell_around_it(name: str) -> None:
    model_fn = getattr(models, name)()
    gates = (lambda: recording(LayerBook()), recording_rnn, recording_columns, v1_optimizers_in_model_fn)
    plain, with_gate = graph_of(model_fn), graph_of(model_fn, *gates)
    assert len(plain) > 100
    assert with_gate == plain
