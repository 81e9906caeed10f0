"""The functions of `tf.compat.v1.layers`, made from the classes.

Owns `functional`, which turns a layer class into a function: its arguments are `inputs`, those of the class, and
`reuse`. A function and its class can so never drift apart. Also owns `signature`, for classes that share a constructor
but take other arguments or show other defaults.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from lightwell.errors import WrongType
from lightwell.model.layers.base import Layer

LayerClass = TypeVar("LayerClass", bound=type[Layer])
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def functional(layer_class: type[Layer], name: str, *, shares_variables: bool = True) -> Callable[..., Any]:
    """Makes the function `name` out of `layer_class`.

    Args:
        layer_class: the class; the function makes one layer of it and calls it once.
        name: the function's name.
        shares_variables: whether the function takes `reuse`; a layer without variables has nothing to share.
    """
    own = [p for p in inspect.signature(layer_class).parameters.values() if p.kind is not p.VAR_KEYWORD]
    parameters = [inspect.Parameter("inputs", _POSITIONAL), *own]
    if shares_variables:
        parameters.append(inspect.Parameter("reuse", _POSITIONAL, default=None))
    shown = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        arguments = _bind(name, shown, args, kwargs)
        inputs, reuse = arguments.pop("inputs"), arguments.pop("reuse", None)
        sharing = {"_scope": arguments.get("name"), "_reuse": reuse} if shares_variables else {}
        return layer_class(**arguments, **sharing)(inputs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = layer_class.__module__
    function.__doc__ = _describe(layer_class, shares_variables)
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


def signature(*, without: tuple[str, ...] = (), **defaults: Any) -> Callable[[LayerClass], LayerClass]:
    """Gives a class its own signature over the constructor it inherits.

    Args:
        without: inherited arguments that the class does not take.
        **defaults: other defaults than the inherited ones.
    """

    def decorate(layer_class: LayerClass) -> LayerClass:
        inherited = layer_class.__init__
        everything = inspect.signature(inherited)
        shown = everything.replace(
            parameters=[
                parameter.replace(default=defaults.get(name, parameter.default))
                for name, parameter in everything.parameters.items()
                if name not in without
            ]
        )

        @functools.wraps(inherited)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            arguments = _bind(layer_class.__name__, shown, (self, *args), kwargs)
            more = arguments.pop("kwargs", {})
            inherited(**arguments, **more)

        __init__.__signature__ = shown  # type: ignore[attr-defined]
        layer_class.__init__ = __init__  # type: ignore[method-assign]
        return layer_class

    return decorate


def _bind(name: str, shown: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        return shown.bind(*args, **kwargs).arguments
    except TypeError as error:
        arguments = ", ".join(parameter for parameter in shown.parameters if parameter not in ("self", "kwargs"))
        raise WrongType(f"{name}: {error}. Its arguments are {arguments}.") from error


def _describe(layer_class: type[Layer], shares_variables: bool) -> str:
    reuse = "\n    reuse: `True` or `tf.compat.v1.AUTO_REUSE` to share the variables of the layer called `name`."
    return (
        f"Calls a new `{layer_class.__name__}` on `inputs`.\n\n{inspect.getdoc(layer_class)}"
        f"{reuse if shares_variables else ''}\n\n"
        "Returns:\n    The output tensor. It knows its layer: `.layer`, and its variables by name, as `.kernel`.\n"
    )
