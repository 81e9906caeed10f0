"""Which weights a training leaves alone: `freeze`, `train_only` and `rates`, from patterns to variables.

Resolves patterns in a built program to the share of a step's change that each variable gets; `frozen_updates.py`
changes the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightwell.base.log import logger
from lightwell.errors import PathError, UsageError, WrongType
from lightwell.foreign import private_tf
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.optimizer_state import split_variables, weight_served_by
from lightwell.inside.paths.patterns import matches_weight, pattern_list, without_section
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.inside.weights.frozen_updates import freeze_updates
from lightwell.model.interop.variables import tf_variable
from lightwell.run.engine.program import Program


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
class FreezePlan:
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
        common = {
            private_tf.variable_name(variable) for variable in weights if not _is_of_model(variable, weights, layers)
        }
        names = {private_tf.variable_name(variable): private_tf.whole_variable(variable)[0] for variable in weights}
        shares = dict.fromkeys(names, 1.0)
        for pattern, share in (self.rates or {}).items():
            shares.update(dict.fromkeys(_matched(pattern, names, layers, "rates"), share))
        for pattern in self.freeze:
            shares.update(dict.fromkeys(_matched(pattern, names, layers, "freeze"), 0.0))
        if self.train_only is not None:
            trained = {name for one in self.train_only for name in _matched(one, names, layers, "train_only")}
            shares.update(dict.fromkeys(names.keys() - trained - common, 0.0))
        if not any(variable.trainable and shares[private_tf.variable_name(variable)] > 0.0 for variable in weights):
            raise UsageError(
                "train: all weights are frozen, and nothing is left to train. There are "
                f"{sorted(set(names.values()))[:10]}; freeze fewer of them."
            )
        _log_summary(weights, shares)
        updates = [
            (variable, share) for variable in weights if (share := shares[private_tf.variable_name(variable)]) != 1.0
        ]
        updates += [(one, 0.0) for one, owner in state if shares[owner] == 0.0]
        return freeze_updates(program.graph, program.spec.train_op, updates)


def checked_freeze_plan(freeze: Any, train_only: Any, rates: Any) -> FreezePlan | None:
    """The plan for the arguments of `train`; None where there are none.

    Raises:
        UsageError: they contradict each other.
        WrongType: one of them is no pattern.
    """
    if freeze is None and train_only is None and rates is None:
        return None
    if freeze is not None and train_only is not None:
        raise UsageError("train: freeze and train_only say the same in two ways; give one of them.")
    if rates is not None and not isinstance(rates, Rates):
        raise WrongType(f'train: rates must be made by lw.rates({{"embedding*": 0.1}}), got {rates!r}.')
    return FreezePlan(
        () if freeze is None else _patterns("freeze", freeze),
        None if train_only is None else _patterns("train_only", train_only),
        None if rates is None else rates.shares,
    )


def _patterns(argument: str, patterns: Any) -> tuple[str, ...]:
    listed = [] if isinstance(patterns, Mapping) else pattern_list(patterns)
    wrong = [one for one in listed if not isinstance(one, str)]
    if wrong or not listed:
        raise WrongType(
            f'train: {argument} must be a list of names or patterns of weights or layers, as ["conv*", "embedding"]; '
            f"got {patterns!r}."
        )
    for one in listed:
        if one.startswith(f"{SLOTS}/"):
            raise UsageError(f"train: {argument}={one!r} names optimizer state; name the weight, its slots go with it.")
    return tuple(listed)


def _layers(program: Program) -> dict[str, set[str]]:
    """By the name of each layer, its weights' names in the graph."""
    weights_of: dict[str, set[str]] = {}
    for call in program.layers:
        weights_of.setdefault(call.name, set()).update(
            private_tf.variable_name(tf_variable(variable)) for variable in call.variables
        )
    return weights_of


def _matched(pattern: str, names: Mapping[str, str], layers: Mapping[str, set[str]], argument: str) -> set[str]:
    """The weights that a pattern means: by their names, by those of what they stand below, by their layers'."""
    as_weight, as_layer = without_section(pattern, WEIGHTS), without_section(pattern, LAYERS)
    matched: set[str] = set()
    if as_layer == pattern:
        matched |= {
            own for own, whole in names.items() if matches_weight(whole, as_weight) or matches_weight(own, as_weight)
        }
    if as_weight == pattern:
        matched |= {
            name
            for layer, owned in layers.items()
            if matches_weight(layer, as_layer)
            for name in owned
            if name in names
        }
    if not matched:
        raise _nothing(pattern, as_layer, names, layers, argument)
    return matched


def _nothing(
    pattern: str, plain: str, names: Mapping[str, str], layers: Mapping[str, set[str]], argument: str
) -> PathError:
    known = sorted(set(names.values()))
    if plain in layers:
        return PathError(f"train: {argument}={pattern!r} is a layer without weights. The weights are {known[:10]}.")
    close = nearest_paths(plain, [*layers, *known]) or known[:10]
    return PathError(f"train: {argument}={pattern!r} matches no weight and no layer. The nearest are {close}.")


def _split(program: Program, layers: Mapping[str, set[str]]) -> tuple[list[Any], list[tuple[Any, str]]]:
    """The weights of a model, and the optimizer state of each, with the name of its weight."""
    weights, slots = split_variables(program.graph)
    trained = {private_tf.variable_name(variable) for variable in weights if variable.trainable}
    of_layers = set().union(*layers.values()) | trained
    owners = [
        (one, weight_served_by(private_tf.variable_name(one), trained, in_any_scope=True))
        for one in (*weights, *slots)
        if private_tf.variable_name(one) not in of_layers
    ]
    state = [(variable, owner) for variable, owner in owners if owner is not None]
    served = {private_tf.variable_name(variable) for variable, _ in state}
    return [variable for variable in weights if private_tf.variable_name(variable) not in served], state


def _is_of_model(variable: Any, weights: Sequence[Any], layers: Mapping[str, set[str]]) -> bool:
    """Whether a variable is part of the model, as moving statistics are, and nothing that an optimizer counts in."""
    name, scope = private_tf.variable_name(variable), private_tf.variable_name(variable).rpartition("/")[0]
    if variable.trainable or any(name in owned for owned in layers.values()):
        return True
    return bool(scope) and any(
        one.trainable and private_tf.variable_name(one).rpartition("/")[0] == scope for one in weights
    )


def _log_summary(weights: Sequence[Any], shares: Mapping[str, float]) -> None:
    def count(chosen: Sequence[Any]) -> int:
        return sum(int(variable.shape.num_elements() or 0) for variable in chosen)

    frozen = [variable for variable in weights if shares[private_tf.variable_name(variable)] == 0.0]
    slowed = [variable for variable in weights if shares[private_tf.variable_name(variable)] not in (0.0, 1.0)]
    if frozen:
        share = f"{count(frozen):,} of {count(weights):,} numbers"
        logger.info("Frozen: %d of %d weights (%s).", len(frozen), len(weights), share)
    for variable in slowed:
        logger.info(
            "Learning rate of %s: times %g.",
            private_tf.variable_name(variable),
            shares[private_tf.variable_name(variable)],
        )
