"""Text classification with canned Estimators in TensorFlow 2.x: string features, dataset from CSV, exporters, early stopping (TF 2.6)."""
import csv
import json
import os
import pathlib
import sys

import numpy as np
import tensorflow as tf

LABELS = ["sport", "tech", "food"]
SENTENCES = {"sport": ["team wins match", "match ends in draw", "team loses again"], "tech": ["new phone ships", "phone chip is fast", "chip ships late"], "food": ["soup is good", "good bread and soup", "bread recipe"]}


def write_csv(path, rounds):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=["text", "length", "label"])
        writer.writeheader()
        for _ in range(rounds):
            for i in range(3):
                for label in LABELS:
                    writer.writerow({"text": SENTENCES[label][i], "length": len(SENTENCES[label][i]), "label": label})


def input_fn(path, training=True, batch_size=6):
    dataset = tf.data.experimental.make_csv_dataset(path, batch_size=batch_size, label_name="label", num_epochs=None if training else 1, shuffle=False, column_defaults=[tf.string, tf.float32, tf.string])

    def tokenize(features, label):
        words = tf.strings.split(features.pop("text"))
        features["words"] = words.to_sparse()
        features["length"] = features["length"] / 20.0
        return features, label
    return dataset.map(tokenize)


def columns():
    words = tf.feature_column.categorical_column_with_hash_bucket("words", 30)
    embedded = tf.feature_column.embedding_column(words, 4, combiner="mean", initializer=tf.compat.v1.truncated_normal_initializer(stddev=0.5, seed=1))
    return [tf.feature_column.numeric_column("length"), embedded], [words]


def main(model_dir):
    write_csv("text_train.csv", 4)
    write_csv("text_eval.csv", 1)
    deep, wide = columns()
    config = tf.estimator.RunConfig(model_dir=os.path.join(model_dir, "deep"), tf_random_seed=3, save_checkpoints_steps=20)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, linear_optimizer="Ftrl", dnn_feature_columns=deep, dnn_hidden_units=[5], dnn_optimizer=lambda: tf.keras.optimizers.legacy.Adagrad(0.1) if hasattr(tf.keras.optimizers, "legacy") else tf.keras.optimizers.Adagrad(0.1),
        n_classes=3, label_vocabulary=LABELS, config=config, loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(estimator, "loss", max_steps_without_decrease=1000, run_every_steps=20, run_every_secs=None)
    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn(tf.feature_column.make_parse_example_spec(deep + wide))
    exporter = tf.estimator.BestExporter(name="best", serving_input_receiver_fn=serving, exports_to_keep=1)
    tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(lambda: input_fn("text_train.csv"), max_steps=40, hooks=[hook]),
                                    tf.estimator.EvalSpec(lambda: input_fn("text_eval.csv", False), steps=None, exporters=[exporter], throttle_secs=0, start_delay_secs=0))
    result = estimator.evaluate(lambda: input_fn("text_eval.csv", False))
    exported = sorted(pathlib.Path(model_dir, "deep", "export", "best").iterdir())[-1]
    loaded = tf.saved_model.load(str(exported))
    example = tf.train.Example(features=tf.train.Features(feature={"words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"phone", b"ships"])), "length": tf.train.Feature(float_list=tf.train.FloatList(value=[0.7]))}))
    classes = loaded.signatures["predict"](examples=tf.constant([example.SerializeToString()]))
    linear = tf.estimator.LinearClassifier(wide, model_dir=os.path.join(model_dir, "wide"), n_classes=3, label_vocabulary=LABELS)
    linear.train(lambda: input_fn("text_train.csv"), steps=20)
    other = linear.evaluate(lambda: input_fn("text_eval.csv", False))
    print(json.dumps({"keys": sorted(result), "step": int(result["global_step"]), "linear": {k: float(v) for k, v in other.items()}, "predicted": classes["classes"].numpy()[0][0].decode(), "good": bool(result["accuracy"] > 0.6), "signatures": sorted(loaded.signatures)}))


if __name__ == "__main__":
    main(sys.argv[1])
