"""Classes of tf.estimator that are not written yet can be imported, derived from and named, but not used."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple, get_type_hints

import pytest

import lightwell.compat.v1.estimator
import lightwell.estimator
from lightwell._names import ROWS
from lightwell.compat.private import private_page
from lightwell.compat.stand_in import stand_in

v1, v2 = lightwell.compat.v1.estimator, lightwell.estimator
STANDING = [("", row) for row in ROWS[""] if row.stand_in]


def test_packages_that_derive_and_annotate_can_be_imported() -> None:
    class Copier(v2.DNNRegressor):
        """As packages write it."""

    class Abstract(abc.ABC, v2.DNNClassifier):
        """The original was abstract, and could be combined."""

    class Experiment(NamedTuple):
        train_spec: v2.TrainSpec
        receiver: v2.export.ServingInputReceiver | None = None

    def train(spec: v2.EvalSpec) -> v1.tpu.TPUEstimatorSpec:
        return spec

    assert issubclass(Copier, v2.DNNRegressor)
    assert issubclass(Abstract, v2.DNNClassifier)
    assert not isinstance(3, v2.DNNRegressor)
    assert Experiment(None).train_spec is None
    assert get_type_hints(train, vars(), {"v1": v1, "v2": v2})["spec"] is v2.EvalSpec


@pytest.mark.parametrize(("namespace", "row"), STANDING, ids=lambda value: getattr(value, "name", value))
def test_making_one_says_what_to_use(namespace: str, row: Any) -> None:
    page = v1.tpu if namespace else v2
    with pytest.raises(AttributeError) as caught:
        getattr(page, row.name)(1, key=2)
    assert row.absent
    assert str(caught.value).endswith(f"{row.name} does not exist in Lightwell. {row.absent}")


def test_making_one_that_derives_says_so() -> None:
    class Copier(v2.DNNRegressor):
        def __init__(self, name: str) -> None:
            raise AssertionError("the base comes first")

    with pytest.raises(
        AttributeError, match=r"Copier derives from tf\.estimator\.DNNRegressor, which does not exist in"
    ):
        Copier("best")


def test_there_is_one_of_each_and_it_is_not_listed() -> None:
    assert v1.DNNClassifier is v2.DNNClassifier is stand_in("tf.estimator.DNNClassifier", v2.DNNClassifier.hint)
    page = private_page("canned.dnn")
    assert page is not None
    assert page.targets["DNNClassifier"] == "lightwell.compat.v1.estimator:DNNClassifier"
    for face in (v1, v2):
        assert "DNNClassifier" not in face.__all__
        assert "DNNClassifier" not in dir(face)
    assert (v2.DNNClassifier.__name__, v2.DNNClassifier.__module__) == ("DNNClassifier", "tf.estimator")
