"""`input_fn` is called with what it asks for."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from lightwell.errors import InputFnError, WrongType
from lightwell.inputs.call import call_input_fn, check_input_fn

GIVEN: dict[str, Any] = {"mode": "train", "params": {"a": 1}, "config": "config"}


class Pipeline:
    def __call__(self, params: Any) -> Any:
        return params

    def method(self, mode: str, *, config: Any) -> Any:
        return mode, config


@pytest.mark.parametrize(
    ("input_fn", "result"),
    [
        (lambda: "nothing", "nothing"),
        (lambda mode: mode, "train"),
        (lambda params, config: (params, config), ({"a": 1}, "config")),
        (lambda mode, params, config: (mode, params, config), ("train", {"a": 1}, "config")),
        (lambda size=3: size, 3),
        (lambda **kwargs: kwargs, {}),
        (Pipeline(), {"a": 1}),
        (Pipeline().method, ("train", "config")),
        (functools.partial(lambda path, mode: (path, mode), "file"), ("file", "train")),
        (functools.partial(lambda path, params: (path, params), path="file", params="mine"), ("file", "mine")),
    ],
)
def test_it_gets_what_it_asks_for(input_fn: Any, result: Any) -> None:
    assert call_input_fn(input_fn, **GIVEN) == result


def test_what_nobody_gives_it_is_named() -> None:
    def reader(path: str, batch_size: int, mode: str) -> None:
        pass

    text = (
        r"reader' needs the arguments \['batch_size', 'path'\]; .*\['mode', 'params', 'config'\] only\. Bind the others"
    )
    with pytest.raises(InputFnError, match=text):
        check_input_fn(reader)


@pytest.mark.parametrize("given", [None, 3, [1, 2]])
def test_what_is_no_function_is_refused(given: Any) -> None:
    text = f"input_fn must be a function that returns the input, got {type(given).__name__}.*lambda: "
    with pytest.raises(WrongType, match=text):
        check_input_fn(given)
