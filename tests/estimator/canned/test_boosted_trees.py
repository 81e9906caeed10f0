"""Boosted trees: the numbers of TensorFlow 2.8.4 and 1.15.5, their model_dirs, what can be seen, what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import forests

import lightwell as lw
import lightwell.compat.v1.estimator as v1_face
import lightwell.estimator as v2_face

DATA = Path(__file__).parents[2] / "data"
RECORDED = {
    name: json.loads((DATA / f"oracle-{name}" / "boosted_trees.json").read_text()) for name in ("2.8.4", "1.15.5")
}
CASES_BY_VERSION = [(version, recorded["cases"]) for version, recorded in RECORDED.items()]
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
# Gains are differences of sums in float32; those of splits that gain next to nothing are rounding errors.
CLOSE_GAINS = {"rtol": 5e-4, "atol": 1e-4}
BUCKETS = "boosted_trees/cached_feature_"


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    np.testing.assert_allclose(ours["losses"], theirs["losses"], **CLOSE)
    np.testing.assert_allclose(ours["predictions"], theirs["predictions"], **CLOSE)
    assert ours["evaluation"].keys() == theirs["evaluation"].keys()
    for key, value in theirs["evaluation"].items():
        np.testing.assert_allclose(ours["evaluation"][key], value, **CLOSE, err_msg=key)
    for key in ("importances", "shares"):
        if key in theirs:
            assert [name for name, _ in ours[key]] == [name for name, _ in theirs[key]]
            np.testing.assert_allclose(
                [gain for _, gain in ours[key]], [gain for _, gain in theirs[key]], **CLOSE_GAINS
            )
    for own, their in zip(ours.get("explanations", ()), theirs.get("explanations", ()), strict=True):
        np.testing.assert_allclose(own[0], their[0], **CLOSE)
        assert dict(own[1]) == pytest.approx(dict(their[1]), rel=1e-4, abs=1e-5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> Any:
    """Numbers and model_dir of a case, trained once."""
    known: dict[str, Any] = {}

    def of(name: str) -> Any:
        if name not in known:
            model_dir = str(tmp_path_factory.mktemp("trees"))
            known[name] = (forests.measured(v2_face, name, model_dir), model_dir)
        return known[name]

    return of


@pytest.mark.parametrize("name", forests.CASES)
def test_numbers_are_those_of_the_original(name: str, trained: Any) -> None:
    ours, model_dir = trained(name)
    for version, recorded in RECORDED.items():
        theirs = recorded["cases"].get(name)
        if theirs is None:
            assert (version, name) in [("1.15.5", absent) for absent in forests.NOT_IN_1]
            continue
        assert_same(ours, theirs)
        if version == "2.8.4":
            assert ours["variables"] == theirs["variables"]
    # At which step it writes summaries is left to chance in 2.8.4, whose steps read the step while they count it.
    shown = next(cases[name] for _, cases in sorted(CASES_BY_VERSION) if name in cases)["summaries"]
    ours_shown = sorted(forests.summaries(model_dir))
    assert [one[:2] for one in ours_shown] == [one[:2] for one in shown]
    np.testing.assert_allclose([one[2] for one in ours_shown], [one[2] for one in shown], **CLOSE)


@pytest.mark.parametrize("version", RECORDED)
def test_a_training_of_the_original_goes_on(version: str, tmp_path: Path) -> None:
    model_dir = tmp_path / "theirs"
    shutil.copytree(DATA / f"oracle-{version}" / "boosted_trees_model_dir", model_dir)
    assert_same(forests.trained_on(v1_face, "binary", str(model_dir)), RECORDED[version]["resumed"])


@pytest.mark.old_oracle
@pytest.mark.parametrize("variable", ["LIGHTWELL_ORACLE_2_8", "LIGHTWELL_ORACLE_1_15"])
def test_the_original_goes_on_where_we_stopped(variable: str, tmp_path: Path) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.fail(f"set {variable} to the Python of an environment with TensorFlow 2.8.4, or 1.15.5")
    forests.trained_in_part(v2_face, "binary", str(tmp_path / "a"))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    ours = forests.trained_on(v2_face, "binary", str(tmp_path / "a"))
    command = [python, "-m", "tests.oracle.record_boosted_trees", "binary", str(tmp_path / "b"), str(tmp_path / "out")]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TF_CONFIG")}
    done = subprocess.run(command, cwd=DATA.parents[1], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_same(ours, json.loads((tmp_path / "out").read_text()))


def test_training_stops_by_itself_and_one_more_step_changes_no_tree(trained: Any, tmp_path: Path) -> None:
    _, model_dir = trained("binary")
    again = shutil.copytree(model_dir, tmp_path / "again")
    model = forests.made(v2_face, "binary", str(again))
    before = model.trees
    assert int(model.get_variable_value("global_step")) == 4 * 3 * 4
    model.train(forests.to_train("binary"))
    assert int(model.get_variable_value("global_step")) == 4 * 3 * 4 + 1  # as the original
    assert model.trees == before
    assert before.tried_trees == 4
    assert before.tried_layers == 12


def asks(split: Any, row: dict[str, Any]) -> bool:
    """Whether an example answers a split's question with yes, by the words of the question."""
    name, _, rest = split.question.partition(" ")
    name, _, place = name.partition("[")
    value = row[name][int(place.rstrip("]"))] if place else row[name]
    if rest.startswith("is not "):
        return str(value) != rest.removeprefix("is not ")
    if rest.startswith("is "):
        return str(value) == rest.removeprefix("is ")
    return bool(value < split.threshold if rest.startswith("< ") else value <= split.threshold)


@pytest.mark.parametrize("name", ["binary", "regression", "pruned after", "three classes", "categories"])
def test_trees_are_data_that_give_the_predictions(name: str, trained: Any) -> None:
    numbers, model_dir = trained(name)
    trees = forests.made(v2_face, name, model_dir).trees
    for at in range(0, forests.ROWS, 7):
        row = {key: value[at] for key, value in forests.FEATURES.items()}
        logits = np.zeros(len(numbers["predictions"][0]))
        for tree in trees:
            node = tree.nodes[0]
            while node.split is not None:
                node = tree.nodes[node.left if asks(node.split, row) else node.right]
            logits += tree.weight * np.asarray(node.value)
        np.testing.assert_allclose(logits, numbers["predictions"][at], atol=1e-5)
    assert all(tree.depth <= 4 and len(tree.leaves) == len(tree.splits) + 1 for tree in trees)


def test_trees_print_as_tables_and_the_description_has_them(trained: Any, tmp_path: Path) -> None:
    _, model_dir = trained("binary")
    model = forests.made(v2_face, "binary", model_dir)
    lines = str(model.trees[0]).splitlines()
    assert "tree 0" in lines[0]
    assert "leaf value" in lines[0]
    assert model.trees[0].splits[0].question in str(model.trees[0])
    described = model.describe(forests.all_rows("binary"), mode="eval")
    paths = [layer.path for layer in described.layers]
    assert {"layers/boosted_trees", "layers/boosted_trees/income", "layers/boosted_trees/city_indicator"} <= set(paths)
    assert model.trees.summary() in str(described)
    assert model.trees.summary() in described._repr_html_()
    assert "5 trees, 12 layers tried" in model.trees.summary()  # the last one has a root only
    fresh = forests.made(v2_face, "binary", str(tmp_path))
    assert "no trees yet" in str(fresh.describe(forests.all_rows("binary"), mode="eval"))


def test_taps_watches_edits_and_a_predictor_see_columns_and_logits(trained: Any, tmp_path: Path) -> None:
    numbers, model_dir = trained("binary")
    model = forests.made(v2_face, "binary", model_dir)
    rows = list(model.predict(forests.all_rows("binary"), taps=["layers/boosted_trees", "layers/boosted_trees/income"]))
    np.testing.assert_allclose([row["layers/boosted_trees"] for row in rows], numbers["predictions"], atol=1e-6)
    np.testing.assert_array_equal([row["layers/boosted_trees/income"][0] for row in rows], forests.INCOME)
    without = model.evaluate(forests.all_rows("binary"), edits=[lw.zero("layers/boosted_trees/city_indicator")])
    assert without["average_loss"] > numbers["evaluation"]["average_loss"] + 0.001
    with model.predictor(forests.all_rows("binary")) as predictor:
        answer = predictor({key: value[:5] for key, value in forests.FEATURES.items()})
    np.testing.assert_allclose(answer["logits"], numbers["predictions"][:5], atol=1e-6)
    seen: list[Any] = []
    watched = forests.made(v2_face, "binary", str(tmp_path))
    watch = lw.Watch("layers/boosted_trees", "loss", every=8, do=seen.append)
    losses = forests.Losses()
    watched.train(forests.to_train("binary"), hooks=[watch, losses])
    np.testing.assert_array_equal(losses.seen, numbers["losses"])
    assert seen[0]["layers/boosted_trees"].shape == (forests.BATCH, 1)


def test_an_exported_model_predicts_without_lightwell(trained: Any, tmp_path: Path) -> None:
    numbers, model_dir = trained("binary")
    model = forests.made(v2_face, "binary", model_dir)
    example = {key: tf.constant(value) for key, value in forests.FEATURES.items()}
    receiver = v2_face.export.build_raw_serving_input_receiver_fn(example)
    folder = model.export_saved_model(str(tmp_path), receiver)
    program = (
        "import sys, numpy as np, tensorflow as tf\n"
        "from tests.estimator.canned import forests\n"
        "assert 'lightwell' not in sys.modules\n"
        "serve = tf.saved_model.load(sys.argv[1]).signatures['predict']\n"
        "answer = serve(**{key: tf.constant(value) for key, value in forests.FEATURES.items()})\n"
        "print(answer['logits'].numpy().tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, os.fsdecode(folder)],
        cwd=DATA.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    np.testing.assert_allclose(json.loads(done.stdout.splitlines()[-1]), numbers["predictions"], atol=1e-6)


def test_explanations_add_up(trained: Any) -> None:
    _, model_dir = trained("explained")
    model = forests.made(v2_face, "explained", model_dir)
    rows = list(model.experimental_predict_with_explanations(forests.all_rows("explained"), "logistic"))
    for row in rows:
        assert row.keys() == {"logistic", "bias", "dfc"}
        assert row["bias"] + sum(row["dfc"].values()) == pytest.approx(float(row["logistic"][0]), abs=1e-6)
        sizes = [abs(one) for one in row["dfc"].values()]
        assert sizes == sorted(sizes, reverse=True)


def test_many_values_fall_into_as_many_buckets_as_there_may_be(tmp_path: Path) -> None:
    values = np.random.default_rng(0).permutation(5000).astype(np.float32)
    column = tf.feature_column.numeric_column("x")
    model = v2_face.BoostedTreesRegressor(
        [column], 5, str(tmp_path), n_trees=1, max_depth=1, learning_rate=1.0, quantile_sketch_epsilon=0.05
    )
    batches = lambda: tf.data.Dataset.from_tensor_slices(({"x": values}, values)).batch(1000).repeat()  # noqa: E731
    model.train(batches)
    boundaries = model.get_variable_value("boosted_trees/QuantileAccumulator:0_bucket_boundaries_0")
    assert len(boundaries) == 20
    assert (boundaries[0], boundaries[-1]) == (0, 4999)
    np.testing.assert_allclose(np.diff(boundaries), 5000 / 19, rtol=0.05)
    assert model.trees[0].splits[0].threshold == pytest.approx(2500, abs=300)


@pytest.mark.parametrize(
    ("kind", "arguments", "says"),
    [
        ("Classifier", {"n_trees": 0}, "Expected n_trees > 0, received: 0"),
        ("Classifier", {"max_depth": 0}, "Expected max_depth > 0, received: 0"),
        ("Classifier", {"learning_rate": 0.0}, "Expected learning_rate > 0, received: 0.0"),
        ("Classifier", {"l1_regularization": -1.0}, "Expected l1 >= 0, received: -1.0"),
        ("Regressor", {"l2_regularization": -1.0}, "Expected l2 >= 0, received: -1.0"),
        ("Regressor", {"tree_complexity": -1.0}, "Expected tree_complexity >= 0, received: -1.0"),
        ("Regressor", {"min_node_weight": -1.0}, "Expected min_node_weight >= 0, received: -1.0"),
        ("Classifier", {"quantile_sketch_epsilon": 0.0}, "Expected quantile_sketch_epsilon > 0, received: 0.0"),
        ("Classifier", {"quantile_sketch_epsilon": 1.0}, "quantile_sketch_epsilon < 1"),
        ("Classifier", {"n_classes": 1}, "n_classes must be > 2: 1"),
        ("Classifier", {"n_classes": 3, "center_bias": True}, "center_bias not yet support with n_classes > 2."),
        ("Regressor", {"label_dimension": 0}, "label_dimension"),
        ("Estimator", {"head": None}, "head must be a Head"),
        ("Classifier", {"feature_columns": []}, "feature_columns must not be empty"),
        ("Classifier", {"feature_columns": ["x"]}, "FeatureColumn"),
    ],
)
def test_arguments_are_refused_with_the_words_of_the_original(kind: str, arguments: Any, says: str) -> None:
    given = {"feature_columns": forests.columns("age"), "n_batches_per_layer": 1, **arguments}
    with pytest.raises(ValueError) as caught:
        getattr(v2_face, f"BoostedTrees{kind}")(**given)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"pruning_mode": "foo"}, ValueError, "pruning_mode mode must be one of: none, post, pre. Found: foo"),
        ({"pruning_mode": "pre"}, ValueError, "For pruning, tree_complexity must be positive."),
        ({"tree_complexity": 0.1}, ValueError, "Tree complexity have no effect unless pruning mode is chosen."),
        (
            {"train_in_memory": True, "n_batches_per_layer": 2},
            AssertionError,
            "input_fn should return the entire dataset as a single batch, and n_batches_per_layer should be set as 1.",
        ),
    ],
)
def test_trainings_are_refused_with_the_words_of_the_original(
    arguments: Any, kind: type[Exception], says: str, tmp_path: Path
) -> None:
    model = forests.made(v2_face, "binary", str(tmp_path), **arguments)
    with pytest.raises(kind) as caught:
        model.train(forests.to_train("binary"), steps=1)
    assert says in str(caught.value)


def test_columns_that_trees_cannot_read_are_refused() -> None:
    made = tf.feature_column
    city = made.categorical_column_with_identity("city", 3)
    for column, says in [
        (made.embedding_column(city, 2), "embedding_column has weights"),
        (made.weighted_categorical_column(city, "weight"), "weighs its categories"),
        (made.bucketized_column(made.numeric_column("x", shape=(2,)), [1.0]), "2 numbers per example"),
    ]:
        with pytest.raises(ValueError, match=says):
            v2_face.BoostedTreesClassifier([column], 1)


def test_what_needs_trees_or_a_bias_says_so(trained: Any, tmp_path: Path) -> None:
    fresh = forests.made(v2_face, "binary", str(tmp_path / "fresh"))
    for ask in (fresh.experimental_feature_importances, lambda: fresh.trees):
        with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
            ask()
    with pytest.raises(ValueError, match="center_bias must be enabled during estimator instantiation"):
        next(fresh.experimental_predict_with_explanations(forests.all_rows("binary")))
    stump = forests.made(
        v2_face, "binary", str(tmp_path / "stump"), pruning_mode="pre", tree_complexity=100.0, n_trees=1, max_depth=1
    )
    stump.train(forests.to_train("binary"))
    assert int(stump.get_variable_value("global_step")) == 4 * (2 * 1 * 1 + 1)  # layers are tried so often
    assert set(stump.experimental_feature_importances().values()) == {0.0}
    with pytest.raises(AssertionError, match="Trees are all empty or contain only a root node"):
        stump.experimental_feature_importances(normalize=True)
    _, model_dir = trained("binary")
    other = v2_face.BoostedTreesClassifier(forests.columns("age"), 4, model_dir)
    with pytest.raises(ValueError, match="Give the columns with which the model was trained"):
        _ = other.trees
    poisson = v2_face.BoostedTreesEstimator(
        forests.columns("age"), 1, lw.PoissonRegressionHead(), model_dir, center_bias=True
    )
    with pytest.raises(ValueError, match="For now only identity inverse_link_fn in regression_head is supported"):
        next(poisson.experimental_predict_with_explanations(forests.all_rows("binary")))


def test_a_head_of_your_own_choice_trains_as_the_classifier(trained: Any, tmp_path: Path) -> None:
    numbers, _ = trained("explained")
    arguments = {"n_trees": 3, "max_depth": 2, "center_bias": True, "min_node_weight": 0.03}
    model = v1_face.BoostedTreesEstimator(
        forests.columns("age", "income", "city"), 4, lw.BinaryClassHead(), str(tmp_path), **arguments
    )
    model.train(forests.to_train("explained"))
    logits = [row["logits"] for row in model.predict(forests.all_rows("explained"))]
    np.testing.assert_allclose(logits, numbers["predictions"], **CLOSE)
    row = next(model.experimental_predict_with_explanations(forests.all_rows("explained")))
    assert row["bias"] == pytest.approx(numbers["explanations"][0][0], rel=1e-5)


def test_several_workers_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}}))
    model = forests.made(v2_face, "binary", str(tmp_path))
    features = {key: tf.zeros([4, *value.shape[1:]]) for key, value in forests.FEATURES.items() if key != "city"}
    with tf.Graph().as_default(), pytest.raises(ValueError, match="this cluster has 2 workers"):
        model.model_fn(features, tf.zeros([4]), "train", model.config)
