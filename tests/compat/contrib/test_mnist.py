"""`tf.examples.tutorials.mnist.input_data` reads a local folder, and hands rows out in the order of 1.15.5."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow
from tests.compat.tf1.mnist_files import FILES, write_files

from lightwell import tf1 as tf

RECORDED = json.loads((Path(__file__).parents[2] / "data/oracle-1.15.5/mnist_data.json").read_text())
ORDERS = {
    "seed 5": (5, None, True),
    "graph seed 9": (None, 9, True),
    "both": (5, 9, True),
    "no shuffle": (5, None, False),
}
input_data = tf.examples.tutorials.mnist.input_data


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    """A graph of TensorFlow 1, as under `lightwell run`, and NumPy's numbers as they were."""
    state = np.random.get_state()
    with tensorflow.Graph().as_default():
        yield
    np.random.set_state(state)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mnist")
    write_files(place)
    return place


@pytest.mark.parametrize("name", ORDERS)
def test_rows_come_in_the_order_of_1_15(name: str) -> None:
    seed, graph_seed, shuffle = ORDERS[name]
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    images = np.arange(7 * 4, dtype=np.uint8).reshape(7, 2, 2, 1)
    data = input_data.DataSet(images, np.arange(7), seed=seed)
    assert [data.next_batch(3, shuffle=shuffle)[1].tolist() for _ in range(6)] == RECORDED["orders"][name]
    assert data.epochs_completed == 2


def _described(part: Any) -> dict[str, Any]:
    total = pytest.approx(float(part.images.sum(dtype=np.float64)), rel=1e-6)
    return {
        "count": part.num_examples,
        "images": [list(part.images.shape), str(part.images.dtype), total],
        "labels": [list(part.labels.shape), str(part.labels.dtype), part.labels.tolist()],
    }


def test_files_are_read_as_in_1_15(folder: Path) -> None:
    parts = input_data.read_data_sets(str(folder), one_hot=True, validation_size=3, seed=5)
    assert {name: _described(getattr(parts, name)) for name in parts._fields} == RECORDED["one_hot"]
    batches = [parts.train.next_batch(4) for _ in range(4)]
    assert [[pytest.approx(float(x.sum()), rel=1e-5), y.argmax(1).tolist()] for x, y in batches] == RECORDED["batches"]
    parts = input_data.read_data_sets(str(folder), reshape=False, dtype=tf.uint8, validation_size=2)
    assert {name: _described(getattr(parts, name)) for name in parts._fields} == RECORDED["images"]


def test_fake_data() -> None:
    fake = input_data.read_data_sets("nowhere", fake_data=True, one_hot=True).train
    images, labels = fake.next_batch(2, fake_data=True)
    assert [fake.num_examples, len(images), len(images[0]), images[0][0], labels] == RECORDED["fake"]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        input_data.read_data_sets(str(tmp_path), source_url="https://example.org/mnist/")
    text = str(raised.value)
    assert all(name in text for name in FILES)
    assert str(tmp_path) in text
    assert "https://example.org/mnist/" in text


def test_mistakes(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"Validation size should be between 0 and 12. Received: 99"):
        input_data.read_data_sets(str(folder), validation_size=99)
    with pytest.raises(TypeError, match=r"Invalid image dtype tf.int32, expected uint8 or float32"):
        input_data.read_data_sets(str(folder), dtype=tf.int32, validation_size=1)
    with pytest.raises(AssertionError, match=r"images.shape: \(3, 2, 2, 1\) labels.shape: \(4,\)"):
        input_data.DataSet(np.zeros((3, 2, 2, 1), np.uint8), np.arange(4))
    with pytest.raises(AttributeError, match=r"tf.examples.udacity|There is: tf.examples.tutorials.mnist.input_data"):
        tf.examples.tutorials.word2vec  # noqa: B018
    (folder / "train-labels-idx1-ubyte.gz").write_bytes((folder / "train-images-idx3-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match=r"Invalid magic number 2051 in MNIST label file"):
        input_data.read_data_sets(str(folder), validation_size=1)


def test_contrib_reads_them_too() -> None:
    assert tf.contrib.learn.datasets.mnist.read_data_sets is input_data.read_data_sets
