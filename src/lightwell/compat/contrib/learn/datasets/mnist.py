"""`tf.contrib.learn.datasets.mnist`, `tf.examples.tutorials.mnist.input_data`: MNIST as the tutorials read it.

Reads a folder with the four files of MNIST into `Datasets` of `train`, `validation` and `test`, whose `next_batch`
draws the same rows in the same order as in TensorFlow 1. Nothing is downloaded: a file that is not there is named,
with the place to get it from.
"""

from __future__ import annotations

import gzip
import os
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import tensorflow as tf

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
TRAIN_IMAGES, TRAIN_LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
TEST_IMAGES, TEST_LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
_FILES = (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)
_PIXELS = 784
_NO_SHUFFLE_WITHOUT_FAKE = 10000  # the size that a fake data set reports


class Datasets(NamedTuple):
    """The three parts of MNIST."""

    train: Any
    validation: Any
    test: Any


class DataSet:
    """Images and labels, and the place up to which they were handed out."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, own_seed = tf.compat.v1.get_seed(seed)
        # As in TensorFlow 1, of which the order of the rows hangs: NumPy's own numbers, from here on.
        np.random.seed(graph_seed if seed is None else own_seed)
        kind = tf.as_dtype(dtype).base_dtype
        if kind not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {kind!r}, expected uint8 or float32")
        self._fake, self.one_hot = fake_data, one_hot
        self._num_examples = _NO_SHUFFLE_WITHOUT_FAKE if fake_data else _checked_count(images, labels, reshape)
        if not fake_data and reshape:
            images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
        if not fake_data and kind == tf.float32:
            images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._place = 0

    @property
    def images(self) -> Any:
        """The images, in the order of the current epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """Their labels."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all of them were handed out."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next `batch_size` images and labels. An epoch's last rows and the next one's first share a batch."""
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * _PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._place
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._place += batch_size
            return self._images[start : self._place], self._labels[start : self._place]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._place = batch_size - len(images)
        return (
            np.concatenate((images, self._images[: self._place]), axis=0),
            np.concatenate((labels, self._labels[: self._place]), axis=0),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Read MNIST from the files in `train_dir`.

    Raises:
        FileNotFoundError: the files are not there; the error says which, and where to get them.
        ValueError: `validation_size` is more than there is.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in Datasets._fields))
    _check_files(train_dir, source_url)
    train_images, train_labels = _read(train_dir, TRAIN_IMAGES, TRAIN_LABELS, one_hot)
    test_images, test_labels = _read(train_dir, TEST_IMAGES, TEST_LABELS, one_hot)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}. "
            "Pass validation_size to read_data_sets."
        )
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    return Datasets(
        train=DataSet(train_images[validation_size:], train_labels[validation_size:], **options),
        validation=DataSet(train_images[:validation_size], train_labels[:validation_size], **options),
        test=DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """`read_data_sets` with its defaults."""
    return read_data_sets(train_dir)


def extract_images(f: BinaryIO) -> Any:
    """The images of an opened file: [count, rows, columns, 1] of bytes."""
    with gzip.GzipFile(fileobj=f) as stream:
        count, rows, columns = _header(stream, 2051, 3, "MNIST image", f.name)
        return np.frombuffer(stream.read(count * rows * columns), np.uint8).reshape(count, rows, columns, 1)


def extract_labels(f: BinaryIO, one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels of an opened file: numbers, or rows with a one."""
    with gzip.GzipFile(fileobj=f) as stream:
        (count,) = _header(stream, 2049, 1, "MNIST label", f.name)
        labels = np.frombuffer(stream.read(count), np.uint8)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Numbers of classes as rows with a one."""
    return np.eye(num_classes)[labels_dense]


def _checked_count(images: Any, labels: Any, reshape: bool) -> int:
    if len(images) != len(labels):
        raise AssertionError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
    if reshape and images.shape[3] != 1:
        raise AssertionError(f"images.shape: {images.shape}: reshape=True takes images of one channel")
    return len(images)


def _check_files(folder: str, source_url: str) -> None:
    missing = [name for name in _FILES if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        raise FileNotFoundError(
            f"read_data_sets({folder!r}) wants these files of MNIST in {os.path.abspath(folder)}, and they are not "
            f"there: {', '.join(missing)}. Lightwell downloads nothing. Get them from {source_url} (curl -O "
            f"{source_url}{missing[0]} ...), or copy them from the machine that the program ran on."
        )


def _read(folder: str, images: str, labels: str, one_hot: bool) -> tuple[Any, Any]:
    with open(os.path.join(folder, images), "rb") as file:
        read_images = extract_images(file)
    with open(os.path.join(folder, labels), "rb") as file:
        return read_images, extract_labels(file, one_hot)


def _header(stream: Any, magic: int, sizes: int, kind: str, name: str) -> list[int]:
    found, *shape = (int(number) for number in np.frombuffer(stream.read(4 * (sizes + 1)), ">u4"))
    if found != magic:
        raise ValueError(f"Invalid magic number {found} in {kind} file: {name}")
    return shape
