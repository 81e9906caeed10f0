"""The tables of names: complete against the original, and true of what is here."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import lightwell.compat.v1.estimator
import lightwell.estimator
from lightwell.base import public_names
from lightwell.base.lazy import resolve
from lightwell.base.public_names import NAMESPACES, ROOTS, ROWS, Face, Row
from lightwell.compat.names import doors_of, is_removed, page_for

RECORD = json.loads((Path(__file__).parents[1] / "data/oracle-2.15.1/estimator_names.json").read_text())
FACES: tuple[Face, ...] = ("v1", "v2")


@pytest.mark.parametrize("face", FACES)
def test_every_public_name_of_the_original_has_a_row(face: Face) -> None:
    for namespace, names in RECORD[face].items():
        rows = {row.name for row in ROWS[namespace] if face in row.faces}
        below = {name for name in names if f"{namespace}.{name}".lstrip(".") in NAMESPACES[face]}
        assert set(names) - below <= rows, namespace
    assert set(NAMESPACES[face]) == set(RECORD[face]) - {""}


def test_rows_that_the_original_did_not_have_were_in_an_older_one() -> None:
    known = {name for face in FACES for names in RECORD[face].values() for name in names}
    extra = [row for rows in ROWS.values() for row in rows if row.name not in known]
    assert {row.name for row in extra} == {f"BoostedTrees{task}" for task in ("Classifier", "Estimator", "Regressor")}
    original = json.loads((Path(__file__).parents[1] / "data/oracle-1.15.5/namespace.json").read_text())
    assert all(f'"{row.name}"' in json.dumps(original) for row in extra)


def test_rows_tell_the_truth() -> None:
    for row in (row for rows in ROWS.values() for row in rows):
        if not row.absent:
            assert resolve(row.target) is not None
        elif row.target:
            assert not _is_there(row.target), f"{row.name} exists at {row.target}: take `absent` out of its row"


def _is_there(target: str) -> bool:
    try:
        resolve(target)
    except (ImportError, AttributeError):
        return False
    return True


def test_v1_defaults_are_those_of_the_original() -> None:
    rows = {row.name: row for row in ROWS[""]}
    for name, changed in RECORD["v1_changed_defaults"].items():
        # Partitioners are arguments that v2 dropped, not defaults that differ.
        defaults = {key: value for key, value in changed.items() if not key.endswith("partitioner")}
        assert {key: repr(value) for key, value in rows[name].v1_defaults.items()} == defaults, name


def test_both_faces_share_their_objects() -> None:
    v1, v2 = lightwell.compat.v1.estimator, lightwell.estimator
    assert v1.Estimator is v2.Estimator
    assert v1.ModeKeys is v2.ModeKeys
    assert v1.export.PredictOutput is v2.export.PredictOutput
    assert v1.__all__ == sorted(v1.__all__)


def test_a_name_of_the_other_face_says_where_it_is() -> None:
    with pytest.raises(AttributeError, match=r"It belongs to the other face: tf\.compat\.v1\.estimator\.tpu\."):
        _ = lightwell.estimator.tpu


def test_a_row_of_one_face_points_the_other_one_there(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (Row("KMeans", "collections:Counter", faces=("v1",)),)
    monkeypatch.setattr(public_names, "ROWS", {**ROWS, "experimental": rows, "inputs": rows})
    look_up, _, names = public_names.public_page("page", "v2", "experimental")
    assert names == []
    with pytest.raises(AttributeError, match=r"other face: tf\.compat\.v1\.estimator\.experimental\.KMeans\."):
        look_up("KMeans")
    look_up, _, _ = public_names.public_page("page", "v2")
    with pytest.raises(AttributeError, match=r"It belongs to the other face: tf\.compat\.v1\.estimator\.inputs\."):
        look_up("inputs")


class Model:
    """A stand-in for a canned model."""

    def __init__(self, units: int, loss_reduction: str = "mean", *, name: str = "m") -> None:
        self.got = (units, loss_reduction, name)


def test_a_v1_default_is_the_same_class_with_another_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_names, "resolve", lambda target: Model)
    face = public_names._as_in_v1(Row("Model", "x:Model", v1_defaults={"loss_reduction": "sum"}), "v1.page")
    assert face(3).got == (3, "sum", "m")
    assert face(3, "mean").got == (3, "mean", "m")
    assert face(units=3, loss_reduction="none", name="n").got == (3, "none", "n")
    assert issubclass(face, Model)
    assert (face.__name__, face.__module__, face.__doc__) == ("Model", "v1.page", Model.__doc__)
    assert inspect.signature(face).parameters["loss_reduction"].default == "sum"


def test_import_names_lead_to_pages() -> None:
    v1, v2 = ROOTS["v1"], ROOTS["v2"]
    assert page_for("tensorflow.estimator") == page_for("tensorflow.compat.v2.estimator") == v2
    assert page_for("tensorflow.compat.v1.estimator.tpu.experimental") == f"{v1}.tpu.experimental"
    assert page_for("tensorflow_estimator.estimator") == page_for("tensorflow_estimator.compat.v1.estimator") == v1
    assert page_for("tensorflow_estimator.python.estimator.api._v2.estimator.export") == f"{v2}.export"
    assert page_for("tensorflow.compat.v1.layers") == "lightwell.layers"
    assert page_for("tensorflow.compat.v1.nn.rnn_cell") == "lightwell.rnn_cell"
    assert page_for("tensorflow.estimator.tpu") is None
    assert page_for("tensorflow._api.v2.compat.v1.layers") is None, "TensorFlow imports this one itself while loading"
    assert page_for("tensorflow_estimator.python.estimator.training") is None


def test_doors_open_on_every_copy_of_the_api() -> None:
    for name in ("tensorflow.compat.v1", "tensorflow._api.v2.compat.v1", "tensorflow._api.v2.compat.v2.compat.v1"):
        assert [sorted(door.pages) for door in doors_of(name)] == [["estimator", "layers"]], name
    for name in ("tensorflow", "tensorflow.compat.v2", "tensorflow._api.v2.compat.v1.compat.v2"):
        assert [sorted(door.pages) for door in doors_of(name)] == [["estimator"]], name
    assert doors_of("tensorflow.python") == doors_of("keras.layers") == ()


def test_the_removed_package_is_told_from_its_neighbours() -> None:
    assert is_removed("tensorflow_estimator")
    assert is_removed("tensorflow.python.estimator.gc")
    assert not is_removed("tensorflow_estimators")
    assert not is_removed("tensorflow.python.framework")
