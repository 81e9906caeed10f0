"""What a user's function takes, whatever kind of function it is."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.base.callables import Parameters, arguments_of, name_of


def plain(features: Any, labels: Any, mode: str = "train", *, params: Any, config: Any = None) -> None:
    pass


class Model:
    def method(self, features: Any, labels: Any) -> None:
        pass

    @classmethod
    def of_class(cls, features: Any) -> None:
        pass

    @staticmethod
    def static(features: Any, mode: str) -> None:
        pass

    def __call__(self, features: Any, params: Any) -> None:
        pass


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return outer


def names(function: Any) -> tuple[str, ...]:
    return arguments_of(function).names


def test_a_plain_function_shows_names_defaults_and_keyword_only_arguments() -> None:
    takes = arguments_of(plain)
    assert takes == Parameters(("features", "labels", "mode", "params", "config"), takes.required, False)
    assert takes.required == {"features", "labels", "params"}
    assert takes.accepts("config")
    assert not takes.accepts("self")


def test_methods_leave_out_their_self() -> None:
    assert names(Model().method) == ("features", "labels")
    assert names(Model.of_class) == ("features",)
    assert names(Model.static) == ("features", "mode")
    assert names(Model()) == ("features", "params")


def test_a_decorated_function_shows_what_is_inside() -> None:
    assert names(wrapped(plain)) == names(plain)
    assert names(tf.function(Model.static)) == ("features", "mode")


def test_what_a_partial_has_bound_is_no_longer_asked_for() -> None:
    assert names(functools.partial(plain, params={})) == ("features", "labels", "mode", "config")
    assert names(functools.partial(plain, "x")) == ("labels", "mode", "params", "config")
    twice = functools.partial(functools.partial(plain, params={}), config=1)
    assert names(twice) == ("features", "labels", "mode")
    assert arguments_of(twice).required == {"features", "labels"}


def test_star_arguments() -> None:
    def loose(features: Any, *args: Any, **kwargs: Any) -> None:
        pass

    takes = arguments_of(loose)
    assert takes.names == ("features",)
    assert takes.has_kwargs
    assert not takes.accepts("labels")


def test_positional_only_arguments_cannot_be_given_by_name() -> None:
    def fixed(features: Any, /, labels: Any) -> None:
        pass

    assert names(fixed) == ("labels",)


def test_a_built_in_that_hides_its_signature_is_taken_to_want_nothing() -> None:
    assert arguments_of(dict).required == frozenset()


def test_names_are_those_that_authors_know() -> None:
    assert name_of(plain) == "plain"
    assert name_of(functools.partial(functools.partial(plain, 1), 2)) == "plain"
    assert name_of(Model().method) == "Model.method"
    assert name_of(Model()) == "Model"
    assert name_of(wrapped(plain)) == "plain"

    def inner() -> None: ...

    assert name_of(inner) == "inner"
    assert name_of(lambda: None) == "<lambda>"
