"""Finding variables by scope, name and collection, as `tf.contrib.framework` did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType

_KEYS = tf.compat.v1.GraphKeys


def get_variables(scope: Any = None, suffix: str | None = None, collection: str = _KEYS.GLOBAL_VARIABLES) -> list[Any]:
    """The variables of a collection whose names begin with `scope` and end with `suffix`.

    Args:
        scope: the beginning of names, a regular expression; or a variable scope.
        suffix: the end of names.
        collection: the collection to look in.
    """
    start = getattr(scope, "name", scope)
    found = tf.compat.v1.get_collection(collection, start)
    return [one for one in found if suffix is None or one.op.name.endswith(suffix)]


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of `GraphKeys.MODEL_VARIABLES`: the variables of layers."""
    return get_variables(scope, suffix, _KEYS.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of `GraphKeys.LOCAL_VARIABLES`."""
    return get_variables(scope, suffix, _KEYS.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of `GraphKeys.TRAINABLE_VARIABLES`."""
    return get_variables(scope, suffix, _KEYS.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end with `suffix`."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables of that name, in any scope: `weights` finds `conv1/weights`."""
    last = re.compile(f"(.*/)?{re.escape(given_name)}$")
    return [one for one in get_variables(scope) if last.match(one.op.name)]


def get_unique_variable(var_op_name: str) -> Any:
    """The one variable of that full name.

    Raises:
        UsageError: there is none, or several begin with it and none is of that very name.
    """
    found = get_variables(scope=re.escape(var_op_name))
    if not found:
        raise UsageError(f"get_unique_variable: Couldn't find variable {var_op_name}.")
    for one in found:
        if one.op.name == var_op_name:
            return one
    raise UsageError(
        f"get_unique_variable: Variable {var_op_name} does not uniquely identify a variable; there are "
        f"{[one.op.name for one in found]}."
    )


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The variables to read from a checkpoint.

        to_restore = get_variables_to_restore(exclude=["resnet/logits", "global_step"])

    Args:
        include: scopes whose variables to take; all if None.
        exclude: scopes whose variables to leave.

    Raises:
        WrongType: one of them is not a list or tuple.
    """
    for name, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, list | tuple):
            raise WrongType(f"get_variables_to_restore: {name} must be a list or a tuple, got {given!r}.")
    taken = get_variables() if include is None else [one for scope in include for one in get_variables(scope)]
    left = {id(one) for scope in exclude or () for one in get_variables(scope)}
    return [one for one in taken if id(one) not in left]


def get_variable_full_name(var: Any) -> str:
    """The name of a variable in checkpoints; that of the whole, for a piece of one."""
    info = var._get_save_slice_info() if hasattr(var, "_get_save_slice_info") else None
    return str(info.full_name) if info else str(var.op.name)


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match a pattern, and none of those to exclude.

    Args:
        var_list: variables.
        include_patterns: regular expressions; all variables if None.
        exclude_patterns: regular expressions, likewise.
        reg_search: whether a pattern may match anywhere in a name, or only from its start.
    """
    find = re.search if reg_search else re.match

    def matches(variable: Any, patterns: Sequence[str]) -> bool:
        return any(find(pattern, variable.op.name) for pattern in patterns)

    return [
        one
        for one in var_list
        if (include_patterns is None or matches(one, include_patterns))
        and not (exclude_patterns is not None and matches(one, exclude_patterns))
    ]
