"""The numbers that say how trees grow, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lightwell.errors import UsageError

PRUNING_MODES = ("none", "pre", "post")


@dataclass(frozen=True)
class TreeSettings:
    """How trees grow; the names are those of the arguments of `BoostedTreesClassifier`."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1_regularization: float
    l2_regularization: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float
    n_batches_per_layer: int
    train_in_memory: bool

    @property
    def most_splits(self) -> int:
        """How many nodes a tree can split."""
        return int((1 << self.max_depth) - 1)

    @property
    def buckets_of_numbers(self) -> int:
        """Into how many buckets numbers are put."""
        return int(1 / self.quantile_sketch_epsilon)

    def check(self, where: str) -> None:
        """Refuses numbers of which no tree can grow.

        Raises:
            UsageError: one is out of its range.
        """
        above_zero = {
            "n_trees": self.n_trees,
            "max_depth": self.max_depth,
            "learning_rate": self.learning_rate,
            "quantile_sketch_epsilon": self.quantile_sketch_epsilon,
        }
        not_negative = {
            "l1": self.l1_regularization,
            "l2": self.l2_regularization,
            "tree_complexity": self.tree_complexity,
            "min_node_weight": self.min_node_weight,
        }
        for name, value in above_zero.items():
            if not _is_number(value) or value <= 0:
                raise UsageError(f"{where}: Expected {name} > 0, received: {value}")
        for name, value in not_negative.items():
            if not _is_number(value) or value < 0:
                raise UsageError(f"{where}: Expected {name} >= 0, received: {value}")
        for name, count in (("n_trees", self.n_trees), ("max_depth", self.max_depth)):
            if int(count) != count:
                raise UsageError(f"{where}: {name} must be a whole number, got {count!r}.")
        if self.quantile_sketch_epsilon >= 1:
            raise UsageError(
                f"{where}: Expected quantile_sketch_epsilon < 1, received: {self.quantile_sketch_epsilon}. Numbers are "
                "put into 1 / quantile_sketch_epsilon buckets."
            )
        if not _is_number(self.n_batches_per_layer) or self.n_batches_per_layer < 0:
            raise UsageError(
                f"{where}: n_batches_per_layer must be the number of batches that a layer is grown of, got "
                f"{self.n_batches_per_layer!r}. It is usually the number of batches of the data."
            )

    def check_pruning(self, where: str) -> None:
        """Refuses a way of pruning that does not exist, or that has nothing to go by.

        Raises:
            UsageError: the mode is none of `PRUNING_MODES`, or `tree_complexity` is missing.
        """
        if self.pruning_mode not in PRUNING_MODES:
            raise UsageError(
                f"{where}: pruning_mode mode must be one of: {', '.join(sorted(PRUNING_MODES))}. Found: "
                f"{self.pruning_mode}"
            )
        if self.pruning_mode == "none" and self.tree_complexity > 0:
            raise UsageError(
                f"{where}: Tree complexity have no effect unless pruning mode is chosen. Set pruning_mode to 'pre' or "
                "'post', or leave tree_complexity out."
            )
        if self.pruning_mode != "none" and self.tree_complexity <= 0:
            raise UsageError(
                f"{where}: For pruning, tree_complexity must be positive. It is what a leaf costs: a branch that gains "
                f"less is pruned. It is {self.tree_complexity}."
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
