"""What programs of TensorFlow 1 and Keras 2 do without thinking, run by `lightwell run`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_runner import run, write

from lightwell.cli.doctor_names import State, judge
from lightwell.compat.tf1.spelling import Version


def succeeds(folder: Path, source: str, *words: str) -> str:
    """Run a program; returns what it logged."""
    write(folder, {"old.py": source})
    code, out, err = run(*words, "old.py", cwd=folder)
    assert (code, out) == (0, "done\n"), err
    return err


COLUMNS = """
import tensorflow as tf
import tensorflow.python.feature_column.feature_column as third
from tensorflow.python.feature_column import feature_column as fc_lib
from tensorflow.python.feature_column.feature_column import _DenseColumn, _NumericColumn

fc = tf.feature_column
number = fc.numeric_column("a")
words = fc.categorical_column_with_vocabulary_list("b", ["x", "y"])
made = {
    "_NumericColumn": number,
    "_BucketizedColumn": fc.bucketized_column(number, [0.0, 1.0]),
    "_VocabularyListCategoricalColumn": words,
    "_VocabularyFileCategoricalColumn": fc.categorical_column_with_vocabulary_file("f", __file__, 2),
    "_EmbeddingColumn": fc.embedding_column(words, 2),
    "_IndicatorColumn": fc.indicator_column(words),
    "_CrossedColumn": fc.crossed_column(["b", "c"], 10),
    "_IdentityCategoricalColumn": fc.categorical_column_with_identity("d", 3),
    "_HashedCategoricalColumn": fc.categorical_column_with_hash_bucket("e", 3),
    "_WeightedCategoricalColumn": fc.weighted_categorical_column(words, "w"),
}
shared = fc.shared_embedding_columns([words, fc.categorical_column_with_vocabulary_list("b2", ["x", "y"])], 2)
made["_SharedEmbeddingColumn"] = shared[0]
for name, column in made.items():
    kinds = [each for each in made if isinstance(column, getattr(fc_lib, each))]
    assert kinds == [name], (name, kinds)
    assert isinstance(column, (_DenseColumn, fc_lib._CategoricalColumn)) and isinstance(column, fc_lib._FeatureColumn)
assert _NumericColumn is third._NumericColumn is tf.python.feature_column.feature_column._NumericColumn
print("done")
"""


def test_private_classes_of_columns(tmp_path: Path) -> None:
    succeeds(tmp_path, COLUMNS)
    name = "tensorflow.python.feature_column.feature_column._NumericColumn"
    assert judge(name, Version.TF1).state is State.LIGHTWELL
