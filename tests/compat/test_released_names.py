"""Every public name of TensorFlow 1.4 to 2.15 does what the table of names says: it works, or it says what to use."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests.contracts.sources import ROOT

import lightwell
from lightwell import tf1
from lightwell.cli.doctor_names import State
from lightwell.cli.name_coverage import DecidedName, coverage, decided_names
from lightwell.compat.retired.released_names import RELEASES, released_names, releases_of, when
from lightwell.compat.tf1.spelling import Version

DATA = Path(__file__).parents[1] / "data"
# A source that a page of 1.15 or 2.15 has imported for itself, which the older recordings took for names.
NOT_NAMES = {"mock", "python", "core", "tools", "examples", "compiler", "lite", "contrib"}


@pytest.fixture(scope="module")
def decided() -> list[DecidedName]:
    return list(decided_names())


@pytest.fixture(autouse=True)
def _doors() -> Iterator[None]:
    with lightwell.install():
        yield


def look_up(one: DecidedName) -> Any:
    root: Any = tf1 if one.version is Version.TF1 else tf
    return functools.reduce(getattr, one.path.split("."), root)


def test_the_table_has_what_was_recorded_elsewhere() -> None:
    for path, names in json.loads((DATA / "oracle-1.15.5/namespace.json").read_text())["names"].items():
        missing = [
            name for name in names if name not in NOT_NAMES and "1.15" not in releases_of(f"{path}.{name}".lstrip("."))
        ]
        assert not missing, (path, missing)
    original = json.loads((DATA / "oracle-2.15.1/estimator_names.json").read_text())
    for prefix, face in (("estimator", "v2"), ("compat.v1.estimator", "v1")):
        for path, names in original[face].items():
            base = f"{prefix}.{path}".rstrip(".")
            assert not [name for name in names if "2.15" not in releases_of(f"{base}.{name}")], base


def test_the_table_says_when() -> None:
    assert set().union(*released_names().values()) == set(RELEASES)
    assert releases_of("contrib.layers.fully_connected") == RELEASES[:4]
    assert when("train.AdamOptimizer") == "TensorFlow 1.4 to 1.15"
    assert when("keras.optimizers.AdamW") == "TensorFlow 2.15"
    assert when("train.NoSuchOptimizer") == ""
    with pytest.raises(AttributeError, match=r"'quantize_v9' \(neither today's nor that of TensorFlow 1\.15\)"):
        tf1.__getattr__("quantize_v9")


def test_every_name_resolves_or_says_what_to_use(decided: list[DecidedName]) -> None:
    wrong: list[str] = []
    for one in decided:
        try:
            look_up(one)
        except (AttributeError, ImportError) as error:
            works, text = False, str(error)
        else:
            works, text = True, ""
        if works != one.works:
            wrong.append(f"tf.{one.path} ({one.version.name}): {one.verdict.state}, but a run says {text or 'works'}")
        elif not works and not (one.verdict.advice and text):
            wrong.append(f"tf.{one.path} ({one.version.name}): refused without a word")
    assert not wrong, "\n".join(wrong[:40])
    assert len(decided) > 10_000


ONE_TENSOR = {"x", "input", "input_tensor", "tensor", "logits", "value", "features", "a", "values"}
REMOVED = re.compile(r"not available with Keras 3|module '[\w.]+' has no attribute|was removed|No module named")


def test_functions_of_one_tensor_can_be_called(decided: list[DecidedName]) -> None:
    """That a name resolves is not enough: TensorFlow leaves functions in place that only raise."""
    called = 0
    wrong: list[str] = []
    for one in decided:
        if (
            one.version is not Version.TF1
            or not one.works
            or one.path.startswith(("keras.", "raw_ops.", "contrib.slim"))
        ):
            continue
        function = look_up(one)
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        required = [
            each.name for each in parameters if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
        ]
        if len(required) != 1 or required[0] not in ONE_TENSOR:
            continue
        with tf.Graph().as_default():
            try:
                function(tf.constant([[0.5, 0.25], [0.25, 0.5]]))
                called += 1
            except Exception as error:
                if REMOVED.search(str(error)) and isinstance(error, AttributeError | ImportError):
                    wrong.append(f"tf.{one.path}: {error}")
    assert not wrong, "\n".join(wrong)
    assert called > 150


def test_the_page_promises_no_more_than_there_is() -> None:
    """The figures of docs/names.md, by TensorFlow and namespace."""
    text = (ROOT / "docs" / "names.md").read_text()
    rows = re.findall(r"^\| ([12]) \| `tf([\w.]*)` \| (\d+) \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    live: Counter[tuple[str, str]] = Counter()
    names: Counter[tuple[str, str]] = Counter()
    for row in coverage():
        live[row.version.value, row.namespace] = row.works + row.in_packages
        names[row.version.value, row.namespace] = row.names
    page = {(version, path.lstrip(".")): (int(count), int(work)) for version, path, count, _, work in rows}
    assert {key: count for key, (count, _) in page.items()} == dict(names)
    assert not {key: (work, live[key]) for key, (_, work) in page.items() if work > live[key]}


def test_what_a_package_carries_on_is_said_so(decided: list[DecidedName]) -> None:
    assert all("pip install" in one.verdict.advice for one in decided if one.verdict.state is State.PACKAGE)
