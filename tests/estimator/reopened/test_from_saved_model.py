"""A SavedModel opens as an Estimator: it predicts, evaluates and goes on training with the numbers of its origin."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.estimator.reopened import models
from tests.parity import recordings

import lightwell as lw
from lightwell.tf1 import contrib

v1 = tf.compat.v1
ORIGINAL = recordings.FOLDER / "reopened_model"
RECORDED = recordings.load_json("reopened")


def features_only(batch: int = 8) -> Any:
    return models.once(batch).map(lambda features, label: features)


@pytest.fixture(scope="module")
def of_ours(tmp_path_factory: Any) -> Path:
    """The same model, trained and exported by Lightwell."""
    folder = tmp_path_factory.mktemp("ours")
    vocabulary = folder / "words.txt"
    vocabulary.write_text("a\nb\nc\n")
    made = lw.Estimator(models.model(lw.estimator, lw.layers, vocabulary), str(folder / "model"))
    made.train(models.for_ever, steps=3)
    written = made.experimental_export_all_saved_models(folder / "out", models.receivers(lw.estimator))
    vocabulary.unlink()  # a SavedModel brings its files along
    return Path(written.decode())


@pytest.fixture(scope="module")
def serving_only(tmp_path_factory: Any) -> Path:
    made = tiny.trained(tmp_path_factory.mktemp("tiny") / "model", steps=5)
    return Path(made.export_saved_model(tmp_path_factory.mktemp("serving")).decode())


class TestWhatTheOriginalWrote:
    def test_it_predicts(self) -> None:
        rows = list(lw.from_saved_model(ORIGINAL).predict(models.once))
        probabilities = [row["probabilities"] for row in rows]
        np.testing.assert_allclose(probabilities, RECORDED["probabilities"], **recordings.CLOSE)
        assert [row["class"] for row in rows] == RECORDED["class"]
        assert sorted(rows[0]) == ["class", "logits", "probabilities"], "and what other signatures give"

    def test_it_evaluates(self) -> None:
        result = lw.from_saved_model(ORIGINAL).evaluate(models.once)
        assert models.plain(result) == pytest.approx(RECORDED["evaluated"], rel=1e-4)

    def test_it_goes_on_training(self, tmp_path: Path) -> None:
        made = lw.from_saved_model(ORIGINAL, tmp_path)
        made.train(models.for_ever, steps=5)
        # The bias before the normalization has no gradient but rounding, whose sign is that of the processor; Adam
        # makes a whole step of it, and the moving mean follows.
        assert models.plain(made.evaluate(models.once)) == pytest.approx(RECORDED["evaluated_after_5_more"], rel=2e-2)
        again = lw.from_saved_model(ORIGINAL, tmp_path)
        assert again.latest_checkpoint() == str(tmp_path / "model.ckpt-25")
        assert again.evaluate(models.once)["global_step"] == 25, "from model_dir, once it has a checkpoint"


class TestWhatWeWrote:
    def test_one_exported_anew_is_the_same(self, of_ours: Path, tmp_path: Path) -> None:
        first = lw.from_saved_model(of_ours)
        second = lw.from_saved_model(first.export(path=tmp_path).path)
        expected = [row["probabilities"] for row in first.predict(features_only)]
        assert np.array_equal([row["probabilities"] for row in second.predict(features_only)], expected)

    def test_one_exported_with_all_modes_anew_still_trains(self, of_ours: Path, tmp_path: Path) -> None:
        first = lw.from_saved_model(of_ours, tmp_path / "model")
        first.train(models.for_ever, steps=2)
        written = first.experimental_export_all_saved_models(tmp_path / "out", models.receivers(lw.estimator))
        second = lw.from_saved_model(written.decode())
        assert models.plain(second.evaluate(models.once)) == models.plain(first.evaluate(models.once))
        assert second.train(models.for_ever, steps=1).evaluate(models.once)["global_step"] == 6

    def test_hooks_taps_and_weights_reach_it(self, of_ours: Path) -> None:
        made = lw.from_saved_model(of_ours)
        row = next(made.predict(features_only, taps=["features/x", "tensors/logits/BiasAdd:0", "weights/logits/bias"]))
        assert np.array_equal(row["features/x"], models.X[0])
        assert np.allclose(row["tensors/logits/BiasAdd:0"], row["logits"])
        assert np.array_equal(row.batch["weights/logits/bias"], made.weights["logits/bias"])
        losses: list[float] = []
        watch = lw.Watch("loss", every=1, do=lambda step: losses.append(float(step["loss"])))
        made.train(models.for_ever, hooks=[watch], steps=4)
        assert len(losses) == 4
        description = made.describe(models.once)
        assert "global_step" not in {weight.name for weight in description.weights}
        assert "hidden/kernel/Adam" in description.slots

    def test_a_predictor_knows_its_inputs(self, of_ours: Path) -> None:
        made = lw.from_saved_model(of_ours)
        expected = [row["probabilities"] for row in made.predict(features_only)][:2]
        with made.predictor() as predict:
            got = predict({"x": models.X[:2], "word": models.WORDS[:2]})
        assert np.allclose(got["probabilities"], expected)

    def test_another_signature(self, of_ours: Path) -> None:
        made = lw.from_saved_model(of_ours, signature="raw")
        assert set(next(made.predict(features_only))) == {"logits", "probabilities", "class"}

    def test_a_feature_that_it_does_not_take_is_left_aside(self, of_ours: Path, log: LogLines) -> None:
        def more() -> Any:
            return features_only().map(lambda features: {**features, "id": features["x"]})

        assert len(list(lw.from_saved_model(of_ours).predict(more))) == 32
        assert log.having("does not take ['id']")

    def test_names_that_input_fn_uses_do_not_get_in_the_way(self, of_ours: Path) -> None:
        def tensors() -> Any:
            x = tf.constant(models.X[:2], name="Placeholder")
            return {
                "x": x + tf.constant(0.0, name="hidden/kernel"),
                "word": tf.constant(models.WORDS[:2], name="Const"),
            }

        made = lw.from_saved_model(of_ours)
        expected = [row["probabilities"] for row in made.predict(features_only)][:2]
        batches = made.predict(tensors, yield_single_examples=False)
        assert np.allclose(next(batches)["probabilities"], expected)

    def test_as_tensorflow_1_called_it(self, of_ours: Path, tmp_path: Path) -> None:
        made = contrib.estimator.SavedModelEstimator(str(of_ours), str(tmp_path))
        assert isinstance(made, lw.Estimator)
        assert made.evaluate(models.once)["global_step"] == 3


class TestAsAPlaceToStartFrom:
    def test_all_weights_are_taken(self, serving_only: Path, tmp_path: Path, log: LogLines) -> None:
        made = tiny.estimator(tmp_path, warm_start_from=str(serving_only)).train(tiny.data, steps=1)
        origin = lw.from_saved_model(serving_only)
        assert log.having("Warm-started 2 variables")
        assert made.get_variable_value("w") == pytest.approx(float(origin.get_variable_value("w")), rel=0.1)
        assert made.get_variable_value("w") != 1.0
        assert made.get_variable_value("global_step") == 1

    def test_settings_choose_some(self, serving_only: Path, tmp_path: Path) -> None:
        settings = lw.WarmStartSettings(str(serving_only), vars_to_warm_start="w")
        predicted = tiny.estimator(tmp_path, warm_start_from=settings).predict(tiny.once)
        w = float(lw.from_saved_model(serving_only).get_variable_value("w"))
        assert [row["out"] for row in predicted] == pytest.approx(list(w * tiny.X)), "b is 0, as at the start"


class TestMistakes:
    def test_a_folder_without_a_model(self, serving_only: Path, tmp_path: Path) -> None:
        text = r"from_saved_model: .* has no saved_model\.pb; expected the folder of a .* Below it there is .*/\d+"
        with pytest.raises(ValueError, match=text):
            lw.from_saved_model(serving_only.parent)
        with pytest.raises(ValueError, match=r"from_saved_model: .*nowhere does not exist; expected the folder"):
            lw.from_saved_model(tmp_path / "nowhere")

    def test_a_damaged_file(self, serving_only: Path, tmp_path: Path) -> None:
        shutil.copytree(serving_only, tmp_path / "copy")
        (tmp_path / "copy" / "saved_model.pb").write_bytes(b"\xff\xff\xff")
        with pytest.raises(ValueError, match=r"saved_model\.pb is damaged: .*\. Export the model again\."):
            lw.from_saved_model(tmp_path / "copy")
        (tmp_path / "copy" / "saved_model.pb").write_bytes(b"")
        with pytest.raises(ValueError, match=r"saved_model\.pb is damaged: it holds no graph \(its size is 0 bytes\)"):
            lw.from_saved_model(tmp_path / "copy")

    @pytest.mark.parametrize(("verb", "tag"), [("evaluate", "eval"), ("train", "train")])
    def test_no_graph_for_it(self, serving_only: Path, verb: str, tag: str) -> None:
        text = rf"{verb}: the SavedModel .* has no graph with the tag '{tag}'; it has \['serve'\]\. .*export_all"
        with pytest.raises(ValueError, match=text):
            getattr(lw.from_saved_model(serving_only), verb)(tiny.once)

    def test_one_that_no_estimator_wrote(self, tmp_path: Path) -> None:
        class Doubles(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
            def double(self, x: Any) -> Any:
                return {"y": 2 * x}

        module = Doubles()
        tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": module.double})
        with pytest.raises(
            ValueError, match=r"was not written by an Estimator: its graph has no global step\. Load it"
        ):
            next(lw.from_saved_model(tmp_path).predict(tiny.once))

    def test_no_such_signature(self, serving_only: Path) -> None:
        text = r"no signature 'other'; its graph 'serve' has \['serving_default'\].* signature="
        with pytest.raises(ValueError, match=text):
            next(lw.from_saved_model(serving_only, signature="other").predict(tiny.once))

    def test_a_feature_is_missing(self, of_ours: Path) -> None:
        text = r"is fed word \(string .*\), x \(float32 .*3\)\), and input_fn gave \['x'\]: \['word'\] is missing"
        with pytest.raises(ValueError, match=text):
            next(lw.from_saved_model(of_ours).predict(lambda: {"x": tf.constant(models.X)}))

    def test_labels_are_missing(self, of_ours: Path) -> None:
        with pytest.raises(ValueError, match=r"signature 'eval' is fed .*label \(int64 .*\['label'\] is missing"):
            lw.from_saved_model(of_ours).evaluate(features_only)

    def test_another_type(self, of_ours: Path) -> None:
        def doubles() -> Any:
            return {"x": tf.constant(models.X.astype(np.float64)), "word": tf.constant(models.WORDS)}

        with pytest.raises(
            ValueError, match=r"'x' must be of type float32, and input_fn gave float64\. Cast it there: tf"
        ):
            next(lw.from_saved_model(of_ours).predict(doubles))

    def test_another_shape(self, of_ours: Path) -> None:
        def wide() -> Any:
            return {"x": tf.zeros([4, 5]), "word": tf.constant(models.WORDS[:4])}

        with pytest.raises(ValueError, match=r"'x' must have shape \(None, 3\), and input_fn gave \(4, 5\)"):
            next(lw.from_saved_model(of_ours).predict(wide))

    def test_one_that_parses_examples_says_so(self, tmp_path: Path) -> None:
        made = tiny.trained(tmp_path / "model")
        spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
        receiver = lw.estimator.export.build_parsing_serving_input_receiver_fn(spec)
        reopened = lw.from_saved_model(made.export_saved_model(tmp_path, receiver).decode())
        with pytest.raises(
            ValueError, match=r"is fed examples \(string .*It may be one that parses serialised tf\.Example"
        ):
            next(reopened.predict(tiny.once))
        example = tf.train.Example()
        example.features.feature["x"].float_list.value.append(3.0)

        def serialised() -> Any:
            return tf.data.Dataset.from_tensors({"examples": [example.SerializeToString()]})

        (row,) = reopened.predict(serialised)
        assert row["out"] == pytest.approx(list(made.predict(tiny.once))[2]["out"])


def test_a_single_tensor_and_nested_features(tmp_path: Path) -> None:
    def sums(features: Any, labels: Any, mode: str) -> Any:
        x = features["deep"]["x"] if isinstance(features, dict) else features
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = None if labels is None else tf.reduce_mean(tf.square(w * x - labels))
        step = (
            None
            if loss is None
            else v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
        )
        return lw.EstimatorSpec(mode, w * x, loss, step)

    def alone() -> Any:
        return tf.data.Dataset.from_tensors((tiny.X, tiny.Y))

    def nested() -> Any:
        return tf.data.Dataset.from_tensors(({"deep": {"x": tiny.X}}, tiny.Y))

    for number, input_fn in enumerate((alone, nested)):
        made = tiny.estimator(tmp_path / str(number), sums)
        made.train(input_fn)
        reopened = lw.from_saved_model(made.export_saved_model(tmp_path / "out").decode())
        expected = list(made.predict(input_fn))
        assert [row["output"] for row in reopened.predict(input_fn)] == pytest.approx(expected)


def test_sparse_features(tmp_path: Path) -> None:
    def bag(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [5, 1], initializer=v1.ones_initializer())
        out = tf.sparse.sparse_dense_matmul(features["s"], w)
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return lw.EstimatorSpec(mode, {"out": out}, tf.reduce_sum(out), step)

    def data() -> Any:
        return {"s": tf.SparseTensor([[0, 1], [1, 0], [1, 4]], [1.0, 2.0, 3.0], [2, 5])}, None

    def receiver() -> Any:
        sparse = v1.sparse_placeholder(tf.float32, [None, 5])
        return lw.estimator.export.ServingInputReceiver({"s": sparse}, {"s": sparse})

    made = tiny.estimator(tmp_path, bag)
    made.train(data, steps=1)
    reopened = lw.from_saved_model(made.export_saved_model(tmp_path / "out", receiver).decode())
    assert next(reopened.predict(data, yield_single_examples=False))["out"].tolist() == [[1.0], [5.0]]
    with pytest.raises(ValueError, match=r"'s' must be a SparseTensor, and input_fn gave"):
        next(reopened.predict(lambda: {"s": tf.zeros([2, 5])}))
