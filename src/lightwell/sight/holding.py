"""Which weights a training leaves alone: `freeze`, `train_only` and `rates`, from patterns to variables.

Takes patterns and a built program; gives the share of a step's change that each variable keeps. How they are held is
`held_weights.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from lightwell import _tf
from lightwell.engine.program import Program
from lightwell.errors import PathError, UsageError, WrongType
from lightwell.interop.variables import tf_variable
from lightwell.log import logger
from lightwell.sight.held_weights import hold_weights
from lightwell.sight.nearest import nearest_paths
from lightwell.sight.optimizer_state import split_variables
from lightwell.sight.sections.layers import LAYERS
from lightwell.sight.sections.variables import SLOTS, WEIGHTS


@dataclass(frozen=True)
class Rates:
    """Shares of the learning rate, by pattern; what `rates` gives."""

    shares: Mapping[str, float]


def rates(shares: Mapping[str, float]) -> Rates:
    """Learning rates by pattern, for `est.train(..., rates=lw.rates({"embedding*": 0.1}))`.

    Each number is a share of the optimizer's own learning rate: what a step changes in these weights is multiplied by
    it, whichever optimizer that is. 0.0 freezes them, slots and all. Where several patterns match a weight, the last
    one counts.

    Args:
        shares: weights or layers, by name or glob, to a number from 0 on.

    Raises:
        UsageError: a share is negative, or no number.
    """
    if not isinstance(shares, Mapping) or not shares:
        raise WrongType(f'rates: expected a dict such as {{"embedding*": 0.1}}, got {shares!r}.')
    for pattern, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < float("inf"):
            raise UsageError(f"rates: expected a number from 0 on for {pattern!r}, got {share!r}.")
    return Rates({str(pattern): float(share) for pattern, share in shares.items()})


@dataclass(frozen=True)
class Holding:
    """Which weights a training moves, and how far. Called with a built program, gives the op to train with.

    Attributes:
        freeze: patterns of weights that stay.
        train_only: patterns of those that do not; all others stay.
        rates: shares of the change, by pattern.
    """

    freeze: tuple[str, ...] = ()
    train_only: tuple[str, ...] | None = None
    rates: Mapping[str, float] | None = None

    def __call__(self, program: Program) -> Any:
        """The op to train with."""
        layers = _layers(program)
        weights, state = _split(program, layers)
        common = {_tf.variable_name(variable) for variable in weights if not _is_of_model(variable, weights, layers)}
        names = {_tf.variable_name(variable): _tf.whole_variable(variable)[0] for variable in weights}
        shares = dict.fromkeys(names, 1.0)
        for pattern, share in (self.rates or {}).items():
            shares.update(dict.fromkeys(_matched(pattern, names, layers, "rates"), share))
        for pattern in self.freeze:
            shares.update(dict.fromkeys(_matched(pattern, names, layers, "freeze"), 0.0))
        if self.train_only is not None:
            kept = {name for one in self.train_only for name in _matched(one, names, layers, "train_only")}
            shares.update(dict.fromkeys(names.keys() - kept - common, 0.0))
        if not any(variable.trainable and shares[_tf.variable_name(variable)] > 0.0 for variable in weights):
            raise UsageError(
                "train: all weights are frozen, and nothing is left to train. There are "
                f"{sorted(set(names.values()))[:10]}; freeze fewer of them."
            )
        _tell(weights, shares)
        held = [(variable, share) for variable in weights if (share := shares[_tf.variable_name(variable)]) != 1.0]
        held += [(one, 0.0) for one, owner in state if shares[owner] == 0.0]
        return hold_weights(program.graph, program.spec.train_op, held)


def checked_holding(freeze: Any, train_only: Any, given_rates: Any) -> Holding | None:
    """What the arguments of `train` ask for; None where they ask for nothing.

    Raises:
        UsageError: they contradict each other.
        WrongType: one of them is no pattern.
    """
    if freeze is None and train_only is None and given_rates is None:
        return None
    if freeze is not None and train_only is not None:
        raise UsageError("train: freeze and train_only say the same in two ways; give one of them.")
    if given_rates is not None and not isinstance(given_rates, Rates):
        raise WrongType(f'train: rates must be made by lw.rates({{"embedding*": 0.1}}), got {given_rates!r}.')
    return Holding(
        () if freeze is None else _patterns("freeze", freeze),
        None if train_only is None else _patterns("train_only", train_only),
        None if given_rates is None else given_rates.shares,
    )


def _patterns(argument: str, given: Any) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence | set) else [given]
    wrong = [one for one in listed if not isinstance(one, str)]
    if wrong or not listed:
        raise WrongType(
            f'train: {argument} must be a list of names or patterns of weights or layers, as ["conv*", "embedding"]; '
            f"got {given!r}."
        )
    for one in listed:
        if one.startswith(f"{SLOTS}/"):
            raise UsageError(f"train: {argument}={one!r} names optimizer state; name the weight, its slots go with it.")
    return tuple(listed)


def _layers(program: Program) -> dict[str, set[str]]:
    """By the name of each layer, its weights' names in the graph."""
    found: dict[str, set[str]] = {}
    for call in program.layers:
        found.setdefault(call.name, set()).update(
            _tf.variable_name(tf_variable(variable)) for variable in call.variables
        )
    return found


def _matched(pattern: str, names: Mapping[str, str], layers: Mapping[str, set[str]], argument: str) -> set[str]:
    """The weights that a pattern means: by their names, by those of what they stand below, by their layers'."""
    as_weight, as_layer = pattern.removeprefix(f"{WEIGHTS}/"), pattern.removeprefix(f"{LAYERS}/")
    found: set[str] = set()
    if as_layer == pattern:
        found |= {own for own, whole in names.items() if _means(as_weight, whole) or _means(as_weight, own)}
    if as_weight == pattern:
        found |= {name for layer, owned in layers.items() if _means(as_layer, layer) for name in owned if name in names}
    if not found:
        raise _nothing(pattern, as_layer, names, layers, argument)
    return found


def _means(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}/*")


def _nothing(
    pattern: str, plain: str, names: Mapping[str, str], layers: Mapping[str, set[str]], argument: str
) -> PathError:
    known = sorted(set(names.values()))
    if plain in layers:
        return PathError(f"train: {argument}={pattern!r} is a layer without weights. The weights are {known[:10]}.")
    close = nearest_paths(plain, [*layers, *known]) or known[:10]
    return PathError(f"train: {argument}={pattern!r} matches no weight and no layer. The nearest are {close}.")


def _split(program: Program, layers: Mapping[str, set[str]]) -> tuple[list[Any], list[tuple[Any, str]]]:
    """The weights of a model, and what is kept for each of them, with its name."""
    weights, slots = split_variables(program.graph)
    trained = {_tf.variable_name(variable) for variable in weights if variable.trainable}
    of_layers = set().union(*layers.values()) | trained
    owners = [
        (one, _owner(_tf.variable_name(one), trained))
        for one in (*weights, *slots)
        if _tf.variable_name(one) not in of_layers
    ]
    state = [(variable, owner) for variable, owner in owners if owner is not None]
    served = {_tf.variable_name(variable) for variable, _ in state}
    return [variable for variable in weights if _tf.variable_name(variable) not in served], state


def _is_of_model(variable: Any, weights: Sequence[Any], layers: Mapping[str, set[str]]) -> bool:
    """Whether a variable is part of the model, as moving statistics are, and nothing that an optimizer counts in."""
    name, scope = _tf.variable_name(variable), _tf.variable_name(variable).rpartition("/")[0]
    if variable.trainable or any(name in owned for owned in layers.values()):
        return True
    return bool(scope) and any(one.trainable and _tf.variable_name(one).rpartition("/")[0] == scope for one in weights)


def _owner(name: str, trained: set[str]) -> str | None:
    """The weight that a variable serves: it stands below its name, with some optimizers in a scope of their own."""
    parts = name.split("/")
    for start in range(min(3, len(parts))):  # dense/kernel/Adam, Adam/dense/kernel/m, training/Adam/dense/kernel/m
        for end in range(len(parts) - 1, start, -1):
            owner = "/".join(parts[start:end])
            if owner in trained:
                return owner
    return None


def _tell(weights: Sequence[Any], shares: Mapping[str, float]) -> None:
    def count(chosen: Sequence[Any]) -> int:
        return sum(int(variable.shape.num_elements() or 0) for variable in chosen)

    frozen = [variable for variable in weights if shares[_tf.variable_name(variable)] == 0.0]
    slowed = [variable for variable in weights if shares[_tf.variable_name(variable)] not in (0.0, 1.0)]
    if frozen:
        told = f"{count(frozen):,} of {count(weights):,} numbers"
        logger.info("Frozen: %d of %d weights (%s).", len(frozen), len(weights), told)
    for variable in slowed:
        logger.info("Learning rate of %s: times %g.", _tf.variable_name(variable), shares[_tf.variable_name(variable)])
