"""What the errors for missing names send people to is there, and named as people write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell import tf1
from lightwell._names import ROWS
from lightwell.compat import keras_experimental
from lightwell.compat.private import PRIVATE_MODULES, private_page
from lightwell.compat.retired import CONTRIB, contrib_hint
from lightwell.compat.stand_in import StandIn

v1 = tf.compat.v1


def _hints() -> Iterator[str]:
    for rows in ROWS.values():
        yield from (row.absent for row in rows if row.absent)
    for namespace, cells in CONTRIB.items():
        yield from (contrib_hint(f"contrib.{namespace}.{name}") for name in [*cells, "no_such_name"])
    for path in PRIVATE_MODULES:
        page = private_page(path)
        yield from page.absent.values() if page else ()
    for module, name in (
        (keras_experimental, "LinearModel"),
        (tf1, "examples"),
    ):
        with pytest.raises(AttributeError) as caught:
            getattr(module, name)
        yield str(caught.value)


HINTS = sorted(set(_hints()))
IN_VAIN = re.compile(
    r"tf\.[\w.]+ (is gone|does not exist|went with)|Nothing under tf\.contrib\.\w+|tf\.contrib in 2\.0|Of tf\."
)


def _is_there(path: str) -> bool:
    found: Any = {"tf": tf, "estimator": lw.Estimator, "lightwell": lw}[path.partition(".")[0]]
    if path.startswith("tf.estimator"):
        found, path = lw, path.removeprefix("tf.")
    for part in path.rstrip(".").split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None and not isinstance(found, StandIn)


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
        assert not [name for name in names if isinstance(getattr(namespace, name), StandIn)]
    for page in (lw.estimator, lw.compat.v1.estimator):
        with pytest.raises(AttributeError, match=r"^module 'tf\.estimator' has no attribute 'TrainSpecs'\.$"):
            _ = page.TrainSpecs


def test_names_are_given_as_people_write_them() -> None:
    for page in (lw.estimator, lw.compat.v1.estimator):
        with pytest.raises(AttributeError, match=r"^tf\.estimator\.BoostedTreesClassifier does not exist in Lightwell"):
            _ = page.BoostedTreesClassifier
        with pytest.raises(AttributeError, match=r"^tf\.estimator\.TrainSpec does not exist in Lightwell"):
            page.TrainSpec(1)
    with pytest.raises(AttributeError, match=r"^tf\.estimator\.inputs\.pandas_input_fn does not exist in Lightwell"):
        _ = lw.compat.v1.estimator.inputs.pandas_input_fn
    with pytest.raises(AttributeError, match=r"^tf\.estimator\.inputs does not exist in Lightwell\. .* tf\.data\."):
        _ = lw.estimator.inputs
    with pytest.raises(AttributeError, match=r"^tf\.keras\.experimental\.WideDeepModel does not exist"):
        _ = keras_experimental.WideDeepModel


def test_the_way_out_of_layer_norm_makes_the_variables_of_contrib(tmp_path: Path) -> None:
    advice = re.findall(r"tf\.keras\.layers\.LayerNormalization\(.*?\)", contrib_hint("contrib.layers.layer_norm"))[0]

    def model_fn(features: Any, mode: str) -> Any:
        with v1.variable_scope("bert/embeddings"):
            x = eval(advice)(eval(advice)(features["x"]))
        loss = tf.reduce_sum(x)
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, x, loss, step)

    x = np.float32([[1, 2, 3]])
    est = lw.Estimator(model_fn, str(tmp_path)).train(lambda: tf.data.Dataset.from_tensors({"x": x}), steps=1)
    assert [name for name in est.get_variable_names() if name != "global_step"] == [
        f"bert/embeddings/LayerNorm{number}/{name}" for number in ("", "_1") for name in ("beta", "gamma")
    ]
