"""Starting from another model's weights: what is taken, what is not, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import CheckpointError, CheckpointUnreadable, UsageError
from lightwell.run.checkpoints.warm_start import (
    VocabInfo,
    WarmStartReport,
    WarmStartSettings,
    checked_settings,
    warm_start,
)

v1 = tf.compat.v1
ROWS = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


def build(rows: int = 4, parts: int = 0, extra: bool = False, start: float = 9.0) -> None:
    """An embedding, a layer, a moving average, and the optimizer's memory of the layer."""
    fixed = v1.constant_initializer(start)
    v1.train.get_or_create_global_step()
    partitioner = v1.fixed_size_partitioner(parts) if parts else None
    v1.get_variable("emb", [rows, 2], initializer=fixed, partitioner=partitioner)
    v1.get_variable("top/kernel", [2], initializer=fixed)
    v1.get_variable("top/bias", [], initializer=fixed)
    v1.get_variable("top/kernel/Adam", [2], initializer=fixed, trainable=False)
    v1.get_variable("average", [], initializer=fixed, trainable=False)
    if extra:
        v1.get_variable("extra", [], initializer=fixed)


def save(directory: Path, parts: int = 0) -> str:
    with tf.Graph().as_default(), v1.Session() as session:
        build(parts=parts)
        session.run(v1.global_variables_initializer())
        values = {"top/kernel": [10.0, 11.0], "top/bias": 12.0, "top/kernel/Adam": [13.0, 14.0], "average": 15.0}
        offset = 0
        for variable in v1.global_variables():
            name = variable.op.name
            if name.startswith("emb"):
                size = int(variable.shape[0])
                variable.load(ROWS[offset : offset + size], session)
                offset += size
            elif name in values:
                variable.load(values[name], session)
        return v1.train.Saver().save(session, str(directory / "model.ckpt"), 5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: Any) -> str:
    return save(Path(tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def in_parts(tmp_path_factory: Any) -> str:
    return save(Path(tmp_path_factory.mktemp("parts")), parts=2)


def started(settings: WarmStartSettings, **model: Any) -> tuple[WarmStartReport, dict[str, Any]]:
    """The report, and what the variables are after initialisation; the parts of one are put together."""
    with tf.Graph().as_default(), v1.Session() as session:
        build(**model)
        report = warm_start(settings)
        session.run(v1.tables_initializer())
        session.run(v1.global_variables_initializer())
        values: dict[str, Any] = {}
        for variable in v1.global_variables():
            name = variable.op.name.split("/part_")[0]
            value = session.run(variable)
            values[name] = np.concatenate([values[name], value]) if name in values else value
        return report, {name: value.tolist() for name, value in values.items()}


def test_by_default_trainable_variables_and_nothing_else(whole: str, log: LogLines) -> None:
    report, values = started(WarmStartSettings(whole))
    assert values["emb"] == ROWS
    assert (values["top/kernel"], values["top/bias"]) == ([10, 11], 12)
    assert (values["average"], values["top/kernel/Adam"], values["global_step"]) == (9, [9, 9], 0)
    assert report.loaded == ("emb", "top/kernel", "top/bias")
    assert (report.missing, report.mismatched) == ((), ())
    assert report.left_out == ("average", "top/kernel/Adam")
    assert str(report).splitlines() == [
        f"Warm-started 3 variables from {whole}.",
        "  loaded      emb",
        "  loaded      top/kernel",
        "  loaded      top/bias",
        "  left out    average (in the checkpoint, but not asked for)",
        "  left out    top/kernel/Adam (in the checkpoint, but not asked for)",
    ]
    assert f"INFO {report}" in log.lines


@pytest.mark.parametrize(
    ("want", "loaded"),
    [
        ("top", {"top/kernel", "top/bias"}),
        (".*kernel", {"top/kernel"}),
        (["average"], {"average"}),
        (["top/k", "av"], {"top/kernel", "top/kernel/Adam", "average"}),
        (["top/kernel$"], {"top/kernel"}),
        ([".*"], {"emb", "top/kernel", "top/bias", "top/kernel/Adam", "average", "global_step"}),
    ],
)
def test_patterns(whole: str, want: Any, loaded: set[str]) -> None:
    assert set(started(WarmStartSettings(whole, want))[0].loaded) == loaded


def test_variables_themselves(whole: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        build()
        chosen = [v for v in v1.global_variables() if v.op.name in ("top/bias", "average")]
        assert warm_start(WarmStartSettings(whole, chosen)).loaded == ("top/bias", "average")
        session.run(v1.global_variables_initializer())
        assert session.run(chosen) == [12, 15]


def test_a_directory_stands_for_its_newest_readable_checkpoint(whole: str) -> None:
    report, _ = started(WarmStartSettings(str(Path(whole).parent)))
    assert report.checkpoint == whole


def test_another_name_in_the_checkpoint(whole: str) -> None:
    settings = WarmStartSettings(whole, "extra", var_name_to_prev_var_name={"extra": "top/bias"})
    report, values = started(settings, extra=True)
    assert report.loaded == ("extra",)
    assert values["extra"] == 12


def test_what_does_not_fit_keeps_its_initial_value_and_is_told(whole: str, log: LogLines) -> None:
    report, values = started(WarmStartSettings(whole), rows=5, extra=True)
    assert report.missing == ("extra",)
    assert report.mismatched == (("emb", (5, 2), (4, 2)),)
    assert (values["extra"], values["emb"][0], values["top/bias"]) == (9, [9, 9], 12)
    (told,) = log.having("Warm-started 2 variables from")
    assert told.startswith("WARNING")
    assert "not found   extra (not in the checkpoint; keeps its initial value)" in told
    assert "mismatched  emb (shape [5, 2] here, [4, 2] there; keeps its initial value)" in told


@pytest.mark.parametrize("parts", [2, 3])
def test_a_variable_in_parts(whole: str, in_parts: str, parts: int) -> None:
    for source in (whole, in_parts):
        report, values = started(WarmStartSettings(source), parts=parts)
        assert report.loaded.count("emb") == 1
        assert values["emb"] == ROWS
    assert started(WarmStartSettings(in_parts))[1]["emb"] == ROWS


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: Any) -> Callable[..., Any]:
    directory = Path(tmp_path_factory.mktemp("vocabularies"))
    (directory / "old").write_text("a\nb\nc\nd\n")
    (directory / "new").write_text("d\nx\na\nb\n")

    def info(**more: Any) -> Any:
        return VocabInfo(
            **{
                "new_vocab": str(directory / "new"),
                "new_vocab_size": 4,
                "num_oov_buckets": 0,
                "old_vocab": str(directory / "old"),
                **more,
            }
        )

    return info


REMAPPED = [[6.0, 7.0], [0.0, 0.0], [0.0, 1.0], [2.0, 3.0]]


def test_a_changed_vocabulary_moves_the_rows(whole: str, vocabularies: Callable[..., Any]) -> None:
    settings = WarmStartSettings(whole, var_name_to_vocab_info={"emb": vocabularies()})
    report, values = started(settings)
    assert values["emb"] == REMAPPED
    assert set(report.loaded) == {"emb", "top/kernel", "top/bias"}


def test_a_vocabulary_alone(whole: str, vocabularies: Callable[..., Any]) -> None:
    report, values = started(WarmStartSettings(whole, None, {"emb": vocabularies()}))
    assert report.loaded == ("emb",)
    assert (values["emb"], values["top/bias"]) == (REMAPPED, 9)


def test_new_words_may_have_an_initial_value_of_their_own(whole: str, vocabularies: Callable[..., Any]) -> None:
    info = vocabularies(num_oov_buckets=1, backup_initializer=v1.ones_initializer())
    _, values = started(WarmStartSettings(whole, var_name_to_vocab_info={"emb": info}), rows=5)
    assert values["emb"] == [[6.0, 7.0], [1.0, 1.0], [0.0, 1.0], [2.0, 3.0], [1.0, 1.0]]


def test_a_changed_vocabulary_of_a_variable_in_parts(in_parts: str, vocabularies: Callable[..., Any]) -> None:
    info = vocabularies(num_oov_buckets=2, backup_initializer=v1.ones_initializer())
    _, values = started(WarmStartSettings(in_parts, var_name_to_vocab_info={"emb": info}), rows=6, parts=2)
    assert values["emb"][:4] == [[6.0, 7.0], [1.0, 1.0], [0.0, 1.0], [2.0, 3.0]]
    assert values["emb"][4:] == [[1.0, 1.0], [1.0, 1.0]]


def test_asking_for_nothing_gives_nothing(whole: str) -> None:
    report, values = started(WarmStartSettings(whole, None))
    assert report.loaded == ()
    assert values["top/bias"] == 9


def test_a_pattern_that_finds_nothing_is_an_error(whole: str) -> None:
    text = (
        r"Nothing to warm-start: .* vars_to_warm_start='kernel' .*from the start of a name(?s:.*)left out +top/kernel "
    )
    with pytest.raises(CheckpointError, match=text):
        started(WarmStartSettings(whole, "kernel"))


@pytest.mark.parametrize("field", ["var_name_to_prev_var_name", "var_name_to_vocab_info"])
def test_a_setting_for_a_variable_that_is_not_started_is_an_error(whole: str, field: str) -> None:
    text = rf"in {field} that were not used: \['nope'\]\. Perhaps .* to warm-start are: \['top/bias', 'top/kernel'\]"
    with pytest.raises(UsageError, match=text):
        started(WarmStartSettings(whole, "top", **{field: {"nope": "x"}}))  # type: ignore[arg-type]


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        CheckpointUnreadable, match=r"warm_start_from '/nowhere/m' does not exist\. .*Expected the start"
    ):
        started(WarmStartSettings("/nowhere/m"))
    with pytest.raises(CheckpointUnreadable, match=r"warm_start_from: the directory .* has no checkpoint\. Expected"):
        started(WarmStartSettings(str(tmp_path)))


def test_settings_from_what_users_give(whole: str, tmp_path: Path) -> None:
    assert checked_settings(None) is None
    given = WarmStartSettings("a")
    assert checked_settings(given) is given
    assert checked_settings("a") == given == ("a", ".*", {}, {})
    made = checked_settings(tmp_path)
    assert made is not None
    assert made.ckpt_to_initialize_from == str(tmp_path)
    with pytest.raises(UsageError, match="warm_start_from must be a string or a WarmStartSettings, instead got int 3"):
        checked_settings(3)
    with pytest.raises(UsageError, match="`ckpt_to_initialize_from` MUST be set"):
        WarmStartSettings("")
    with pytest.raises(
        UsageError, match=r"must be a `list` or `str`\. Given type is <class 'int'>: 5\. Expected a regular"
    ):
        started(WarmStartSettings(whole, 5))


def test_a_path_may_be_bytes_as_an_export_gives_it(tmp_path: Path) -> None:
    first = tiny.trained(tmp_path / "first", steps=3)
    receiver = lw.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.constant([1.0])})
    exported = first.export_saved_model(str(tmp_path / "export"), receiver)
    assert isinstance(exported, bytes)
    for number, source in enumerate((exported, first.model_dir.encode(), first.latest_checkpoint().encode())):
        est = tiny.estimator(tmp_path / str(number), warm_start_from=source, params={"learning_rate": 0.0})
        est.train(tiny.data, steps=1)
        assert est.get_variable_value("w") == first.get_variable_value("w")
