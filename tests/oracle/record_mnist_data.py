"""Record in which order the MNIST reader of TensorFlow 1.15.5 hands its rows out.

Run from the project's root with an environment that holds tensorflow 1.15.5 (Python 3.7):

    python -m tests.oracle.record_mnist_data

Writes tests/data/oracle-1.15.5/mnist_data.json. `tf.examples.tutorials` is not in that wheel; `tf.contrib.learn` has
the same reader.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn.datasets import mnist
from tests.compat.tf1.mnist_files import write_files

OUT = Path(__file__).parents[1] / "data" / "oracle-1.15.5" / "mnist_data.json"


def order(seed, graph_seed, shuffle=True):
    tf.reset_default_graph()
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    images = np.arange(7 * 4, dtype=np.uint8).reshape(7, 2, 2, 1)
    data = mnist.DataSet(images, np.arange(7), seed=seed)
    return [data.next_batch(3, shuffle=shuffle)[1].tolist() for _ in range(6)]


def described(part):
    return {
        "count": part.num_examples,
        "images": [list(part.images.shape), str(part.images.dtype), float(part.images.sum(dtype=np.float64))],
        "labels": [list(part.labels.shape), str(part.labels.dtype), np.asarray(part.labels).tolist()],
    }


def main():
    found = {
        "tensorflow": tf.__version__,
        "orders": {
            "seed 5": order(5, None),
            "graph seed 9": order(None, 9),
            "both": order(5, 9),
            "no shuffle": order(5, None, shuffle=False),
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        for name, options in {
            "one_hot": {"one_hot": True, "validation_size": 3, "seed": 5},
            "images": {"reshape": False, "dtype": tf.uint8, "validation_size": 2},
        }.items():
            parts = mnist.read_data_sets(folder, **options)
            found[name] = {part: described(getattr(parts, part)) for part in parts._fields}
            if "seed" in options:
                rows = [parts.train.next_batch(4) for _ in range(4)]
                found["batches"] = [[float(x.sum()), y.argmax(1).tolist()] for x, y in rows]
    fake = mnist.read_data_sets("nowhere", fake_data=True, one_hot=True).train
    images, labels = fake.next_batch(2, fake_data=True)
    found["fake"] = [fake.num_examples, len(images), len(images[0]), images[0][0], labels]
    OUT.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
