"""Files of the cloud template: columns."""

import tensorflow as tf

CSV_COLUMNS = ["age", "gain", "ignored", "bracket"]
CSV_COLUMN_DEFAULTS = [[0.0], [0.0], [""], [""]]
LABEL_COLUMN = "bracket"
LABELS = [" <=50K", " >50K"]
INPUT_COLUMNS = [tf.feature_column.numeric_column("age"), tf.feature_column.numeric_column("gain")]
UNUSED_COLUMNS = set(CSV_COLUMNS) - {col.name for col in INPUT_COLUMNS} - {LABEL_COLUMN}


def buckets():
    age, gain = INPUT_COLUMNS
    return [
        tf.feature_column.bucketized_column(age, boundaries=[25.0, 35.0, 50.0]),
        tf.feature_column.bucketized_column(gain, boundaries=[0.3, 0.6]),
    ]
