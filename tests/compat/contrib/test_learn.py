"""`tf.contrib.learn`: experiments over train_and_evaluate, words and their numbers, small files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell import tf1
from lightwell.compat.tf1.contrib import import_below

v1 = tf.compat.v1
learn = tf1.contrib.learn
TEXTS = ["the cat sat on the mat", "a dog, isn't 3.5 good-looking! ÀB C_D x.y", "the the dog"]


def imported(module: str, names: list[str]) -> Any:
    """What `from tensorflow.contrib.<module> import <names>` sees."""
    namespace, *path = module.split(".")
    return import_below(namespace, path, names)


def serving() -> Any:
    x = v1.placeholder(tf.float32, [None], name="x")
    return tf1.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def experiment(folder: Path, **options: Any) -> Any:
    return learn.Experiment(tiny.estimator(folder), tiny.data, tiny.once, train_steps=6, eval_steps=2, **options)


def test_a_runner_trains_evaluates_and_exports(tmp_path: Path) -> None:
    made = []

    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        made.append((run_config.model_dir, hparams))
        exports = [learn.make_export_strategy(serving, exports_to_keep=1)]
        metric = learn.MetricSpec(
            lambda predictions, labels: v1.metrics.mean_absolute_error(labels, predictions), "out"
        )
        estimator = lw.Estimator(tiny.linear, config=run_config, params={})
        return learn.Experiment(
            estimator,
            tiny.data,
            tiny.once,
            {"distance": metric},
            train_steps=6,
            eval_steps=2,
            export_strategies=exports,
        )

    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=3)
    metrics, exports = learn.learn_runner.run(experiment_fn, run_config=config, hparams="given")
    assert made == [(str(tmp_path), "given")]
    assert metrics["global_step"] == 6
    assert metrics["distance"] == pytest.approx(metrics["mae"])
    (folder,) = (tmp_path / "export" / "Servo").iterdir()
    assert Path(exports[0].decode() if isinstance(exports[0], bytes) else exports[0]).name == folder.name
    predict_fn = tf1.contrib.predictor.from_saved_model(str(folder))
    assert predict_fn({"x": [0.0, 1.0]})["out"].shape == (2,)


def test_single_verbs_and_a_trial(tmp_path: Path) -> None:
    run = experiment(tmp_path)
    run.train()
    assert run.evaluate()["global_step"] == 6
    assert (run.train_steps, run.eval_steps) == (6, 2)
    metrics, exports = experiment(tmp_path / "trial").test()
    assert (metrics["global_step"], exports) == (1, [])


def test_mistakes_of_experiments(tmp_path: Path) -> None:
    run = learn.learn_runner.run
    with pytest.raises(ValueError, match="Must set value for `output_dir` or `run_config`"):
        run(lambda folder: None)
    with pytest.raises(ValueError, match="Cannot provide both `output_dir` and `run_config`"):
        run(lambda folder: None, output_dir="x", run_config="y")
    with pytest.raises(TypeError, match="is not callable"):
        run(3, output_dir="x")
    with pytest.raises(TypeError, match="did not return an Experiment instance"):
        run(lambda folder: 3, output_dir="x")
    with pytest.raises(ValueError, match="Schedule references non-existent task fly"):
        run(lambda folder: experiment(tmp_path), output_dir="x", schedule="fly")
    with pytest.raises(ValueError, match="`estimator` must be an Estimator"):
        learn.Experiment(3, tiny.data, tiny.once)
    with pytest.raises(TypeError, match="metric_fn must be callable"):
        learn.MetricSpec(3)
    with pytest.raises(ValueError, match="prediction_key is not set, and there are several: a, b"):
        learn.MetricSpec(len).create_metric_ops(None, None, {"a": 1, "b": 2})


def test_settings_of_old_run_configs() -> None:
    plain = learn.RunConfig()
    assert (plain.save_checkpoints_secs, plain.save_checkpoints_steps) == (600, None)
    assert learn.RunConfig(save_checkpoints_secs=60).save_checkpoints_secs == 60
    assert learn.RunConfig(save_checkpoints_secs=None).save_checkpoints_secs is None
    assert learn.RunConfig(num_cores=2).session_config.intra_op_parallelism_threads == 2


def test_words_and_their_numbers(tmp_path: Path) -> None:
    """The rows, words and order of TensorFlow 1.15.5."""
    processor = learn.preprocessing.VocabularyProcessor(5)
    rows = np.array(list(processor.fit_transform(TEXTS)))
    assert rows.tolist() == [[1, 2, 3, 4, 1], [6, 7, 8, 9, 10], [1, 1, 7, 0, 0]]
    assert rows.dtype == np.int64
    assert len(processor.vocabulary_) == 16
    assert list(processor.reverse(processor.transform(["dog cat unknown"]))) == ["dog cat <UNK> <UNK> <UNK>"]
    frequent = learn.preprocessing.VocabularyProcessor(4, min_frequency=1)
    assert [row.tolist() for row in frequent.fit_transform(["the cat sat on the mat", "the cat"])] == [[1, 2, 0, 0]] * 2

    processor.save(str(tmp_path / "words"))
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))
    assert [row.tolist() for row in again.transform(TEXTS)] == rows.tolist()
    (tmp_path / "pickle").write_bytes(b"\x80\x03csomething\n")
    with pytest.raises(ValueError, match="TensorFlow 1 wrote a pickle of its own classes"):
        learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "pickle"))
    with pytest.raises(ValueError, match="wasn't initialized with support_reverse"):
        learn.preprocessing.CategoricalVocabulary(support_reverse=False).reverse(0)
    as_bytes = learn.preprocessing.ByteProcessor(4)
    assert [row.tolist() for row in as_bytes.fit_transform(["hello", "é"])] == [[104, 101, 108, 108], [195, 169, 0, 0]]
    assert list(as_bytes.reverse(as_bytes.transform(["hi"]))) == ["hi"]


def test_tables_from_files(tmp_path: Path) -> None:
    base = imported("learn.python.learn.datasets", ["base"]).base
    (tmp_path / "iris.csv").write_text("2,3,setosa,virginica\n1,2.5,3,0\n4,5,6,1\n")
    loaded = base.load_csv_with_header(str(tmp_path / "iris.csv"), np.int64, np.float32)
    assert (loaded.data.tolist(), loaded.target.tolist()) == ([[1, 2.5, 3], [4, 5, 6]], [0, 1])
    (tmp_path / "rows.csv").write_text("0,1,2\n1,3,4\n")
    rows = base.load_csv_without_header(str(tmp_path / "rows.csv"), np.int64, np.float32, target_column=0)
    assert (rows.data.tolist(), rows.target.tolist()) == ([[1, 2], [3, 4]], [0, 1])
    assert learn.datasets.load_iris(str(tmp_path / "iris.csv")).target.tolist() == [0, 1]
    assert base.maybe_download("iris.csv", str(tmp_path), "nowhere") == str(tmp_path / "iris.csv")
    with pytest.raises(ValueError, match="load_boston: the file came with TensorFlow 1"):
        learn.datasets.load_boston()


def test_the_verbs_of_scikit_learn(tmp_path: Path) -> None:
    model = learn.SKCompat(tiny.estimator(tmp_path))
    model.fit({"x": tiny.X}, tiny.Y, batch_size=4, steps=2)
    assert model.score({"x": tiny.X}, tiny.Y)["global_step"] == 2
    assert model.predict({"x": tiny.X})["out"].shape == (8,)


def test_inputs_of_old_exports(tmp_path: Path) -> None:
    spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
    strategy = learn.make_export_strategy(learn.build_parsing_serving_input_fn(spec))
    estimator = tiny.trained(tmp_path)
    folders = [strategy.export(estimator, str(tmp_path / "export")) for _ in range(2)]
    assert len(set(folders)) == 2
    with tf.Graph().as_default():
        features = {"x": tf.zeros([3, 2])}
        made = imported("learn.python.learn.utils", ["input_fn_utils"]).input_fn_utils
        ops = made.build_default_serving_input_fn(features)()
        assert ops.features["x"].shape.as_list() == [None, 2]


def test_estimators_of_learn_say_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"tf\.contrib\.learn\.SVM is gone: .* learn\.LinearEstimator"):
        learn.SVM("id", [])
