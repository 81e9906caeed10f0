"""`tf.contrib.learn.datasets.base`: arrays from CSV files."""

from __future__ import annotations

import csv
import os
import urllib.request
from collections import namedtuple
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError

Dataset = namedtuple("Dataset", ("data", "target"))
Datasets = namedtuple("Datasets", ("train", "validation", "test"))


def load_csv_with_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A CSV file whose first line begins with the numbers of rows and of features.

    Args:
        filename: the file.
        target_dtype: type of the targets.
        features_dtype: type of the features.
        target_column: which column holds the target.
    """
    with tf.io.gfile.GFile(filename) as opened:
        rows = csv.reader(opened)
        count, features = (int(number) for number in next(rows)[:2])
        data = np.zeros((count, features), features_dtype)
        target = np.zeros((count,), target_dtype)
        for place, row in enumerate(rows):
            target[place] = np.asarray(row.pop(target_column), target_dtype)
            data[place] = np.asarray(row, features_dtype)
    return Dataset(data, target)


def load_csv_without_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A CSV file of rows only; arguments as those of `load_csv_with_header`."""
    data, target = [], []
    with tf.io.gfile.GFile(filename) as opened:
        for row in csv.reader(opened):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, features_dtype))
    return Dataset(np.array(data), np.array(target, target_dtype).astype(target_dtype))


def shrink_csv(filename: Any, ratio: int) -> None:
    """Writes each `ratio`-th line of a CSV file to `<name>_small.csv` in the same folder."""
    small = str(filename).replace(".", "_small.")
    with tf.io.gfile.GFile(filename) as opened, tf.io.gfile.GFile(small, "w") as written:
        for place, row in enumerate(_lines(opened)):
            if place % ratio == 0:
                written.write(row)


def load_iris(data_path: Any = None) -> Dataset:
    """Fisher's irises, from a CSV file with a header (`iris.csv` of TensorFlow 1)."""
    _expect_path("load_iris", data_path)
    return load_csv_with_header(data_path, target_dtype=int, features_dtype=float)


def load_boston(data_path: Any = None) -> Dataset:
    """Houses of Boston, from a CSV file with a header (`boston_house_prices.csv` of TensorFlow 1)."""
    _expect_path("load_boston", data_path)
    return load_csv_with_header(data_path, target_dtype=float, features_dtype=float)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file, downloaded if it is not there yet."""
    tf.io.gfile.makedirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not tf.io.gfile.exists(path):
        temporary, _ = urllib.request.urlretrieve(source_url)
        tf.io.gfile.copy(temporary, path)
        os.remove(temporary)
    return path


def _lines(opened: Any) -> Iterable[str]:
    return iter(opened)


def _expect_path(where: str, data_path: Any) -> None:
    if data_path is None:
        raise UsageError(
            f"{where}: the file came with TensorFlow 1 and is not there now. Pass data_path, a CSV file with a header, "
            "or take the data from scikit-learn (sklearn.datasets)."
        )
