"""What the errors for missing names send people to is there, and named as people write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

import lightwell as lw
from lightwell import tf1
from lightwell.base.public_names import ROWS
from lightwell.compat import keras_experimental
from lightwell.compat.private import PRIVATE_MODULES, private_page
from lightwell.compat.retired import CONTRIB, contrib_hint

v1 = tf.compat.v1


def _hints() -> Iterator[str]:
    for rows in ROWS.values():
        yield from (row.absent for row in rows if row.absent)
    for namespace, cells in CONTRIB.items():
        yield from (contrib_hint(f"contrib.{namespace}.{name}") for name in [*cells, "no_such_name"])
    for path in PRIVATE_MODULES:
        page = private_page(path)
        yield from page.absent.values() if page else ()
    with pytest.raises(AttributeError) as caught:
        _ = keras_experimental.LinearModel
    yield str(caught.value)


HINTS = sorted(set(_hints()))
IN_VAIN = re.compile(
    r"tf\.[\w.]+ (is gone|does not exist|went with)|Nothing under tf\.contrib\.\w+|tf\.contrib in 2\.0|Of tf\."
)


def _is_there(path: str) -> bool:
    found: Any = {"tf": tf, "estimator": lw.Estimator, "lightwell": lw}[path.partition(".")[0]]
    if path.startswith("tf.estimator"):
        found, path = lw.estimator, path.removeprefix("tf.")
    for part in path.rstrip(".").split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


def test_nobody_is_sent_to_what_is_not_there() -> None:
    named = {
        (path, hint)
        for hint in HINTS
        for path in re.findall(r"(?<![\w.])(?:tf|estimator|lightwell)\.[a-zA-Z][\w.]*", IN_VAIN.sub("", hint))
    }
    assert len(named) > 50
    with lw.install():
        assert [(path, hint) for path, hint in sorted(named) if not _is_there(path)] == []


def test_lists_of_names_are_lists_of_what_is_there() -> None:
    lists = [hint for hint in HINTS if " there is: " in hint]
    assert len(lists) > 3
    for hint in lists:
        namespace = getattr(tf1.contrib, re.findall(r"Of tf\.contrib\.(\w+)", hint)[0])
        names = hint.partition(" there is: ")[2].rstrip(".").split(", ")
        assert [name for name in names if getattr(namespace, name, None) is None] == []
    for page in (lw.estimator, lw.compat.v1.estimator):
        with pytest.raises(AttributeError, match=r"no attribute 'DNNClassifiers'\. Nearest names: DNNClassifier"):
            _ = page.DNNClassifiers


def test_names_are_given_as_people_write_them() -> None:
    embedding = r"^tf\.estimator\.tpu\.experimental\.EmbeddingConfigSpec does not exist in Lightwell"
    with pytest.raises(AttributeError, match=embedding):
        _ = lw.compat.v1.estimator.tpu.experimental.EmbeddingConfigSpec
    with pytest.raises(
        AttributeError, match=r"^tf\.estimator\.inputs does not .* tf\.compat\.v1\.estimator\.inputs\.$"
    ):
        _ = lw.estimator.inputs
    with pytest.raises(AttributeError, match=r"^tf\.keras\.experimental\.WideDeepModel does not exist"):
        _ = keras_experimental.WideDeepModel
