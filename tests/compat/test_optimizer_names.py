"""Optimizers by name: the classes, and the sentences, of the original."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell.compat.optimizer_names import get_optimizer_instance, get_optimizer_instance_v2
from lightwell.errors import UsageError

train = tf.compat.v1.train


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Adagrad", train.AdagradOptimizer, tf.keras.optimizers.Adagrad),
        ("Adam", train.AdamOptimizer, tf.keras.optimizers.Adam),
        ("Ftrl", train.FtrlOptimizer, tf.keras.optimizers.Ftrl),
        ("RMSProp", train.RMSPropOptimizer, tf.keras.optimizers.RMSprop),
        ("SGD", train.GradientDescentOptimizer, tf.keras.optimizers.SGD),
    ],
)
def test_names(name: str, old: type, new: type) -> None:
    assert type(get_optimizer_instance(name, 0.3)) is old
    made = get_optimizer_instance_v2(name, 0.3)
    assert type(made) is new
    assert float(made.learning_rate) == pytest.approx(0.3)


def test_the_learning_rate_of_the_name_is_used() -> None:
    weight = tf.Variable(1.0)
    get_optimizer_instance("SGD", 0.25).minimize(lambda: 2 * weight)
    assert float(weight) == 0.5


def test_functions_and_optimizers() -> None:
    old, new = train.AdamOptimizer(0.5), tf.keras.optimizers.Adam(0.5)
    assert get_optimizer_instance(old) is get_optimizer_instance(lambda: old) is old
    assert get_optimizer_instance_v2(new) is get_optimizer_instance_v2(lambda: new) is new
    assert isinstance(get_optimizer_instance(train.AdamOptimizer), train.AdamOptimizer)
    assert float(get_optimizer_instance_v2("Adam").learning_rate) == pytest.approx(0.001)


def test_what_is_refused() -> None:
    names = r"Supported names are: \('Adagrad', 'Adam', 'Ftrl', 'RMSProp', 'SGD'\)"
    for get in (get_optimizer_instance, get_optimizer_instance_v2):
        with pytest.raises(UsageError, match=rf"Unsupported optimizer name: adam\. {names}"):
            get("adam", 0.1)
    with pytest.raises(UsageError, match=r"learning_rate must be specified when opt is string; got opt='Adam' alone\."):
        get_optimizer_instance("Adam")
    with pytest.raises(UsageError, match=r"not an Optimizer instance\. Given: 3\. Pass one of tf\.compat\.v1\.train"):
        get_optimizer_instance(lambda: 3)
    with pytest.raises(UsageError, match=r"not a tf\.keras\.optimizers\.Optimizer instance\. Given: .*Adam"):
        get_optimizer_instance_v2(train.AdamOptimizer(0.1))
