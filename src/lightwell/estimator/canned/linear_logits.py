"""The logits of a linear model: the columns, each times its weights, and a bias.

Owns `LinearLogits`, which builds them, below the scope `linear` of its caller's making, and `linear_part`, which makes
them a part of a model: `layers/linear`. Each column is a layer with a path: `layers/linear/linear_model/age`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightwell.base.public_names import Face
from lightwell.errors import UsageError
from lightwell.estimator.canned.columns import check_features
from lightwell.estimator.canned.summaries import show_linear
from lightwell.model.feature_columns import linear_model
from lightwell.model.feature_columns.book import distinct
from lightwell.model.layers.record import BookCall

SCOPE = "linear"
COMBINERS = ("mean", "sqrtn", "sum")


@dataclass(frozen=True)
class LinearLogits:
    """How the logits of a linear model come about.

    Attributes:
        where: the model, for errors.
        feature_columns: columns, dense or categorical.
        sparse_combiner: what several values of a categorical column give: "sum", "mean" or "sqrtn".
        face: whose summaries are written.
    """

    where: str
    feature_columns: tuple[Any, ...]
    sparse_combiner: str = "sum"
    face: Face = "v2"

    def __call__(self, features: Any, units: int) -> Any:
        """The logits, `[batch, units]`."""
        return self.with_variables(features, units)[0]

    def with_variables(self, features: Any, units: int) -> tuple[Any, dict[Any, Any], Any]:
        """The logits, the variables of each column, and the bias."""
        check_features(features, self.feature_columns, self.where)
        variables: dict[Any, Any] = {}
        logits = linear_model(features, list(self.feature_columns), units, self.sparse_combiner, cols_to_vars=variables)
        bias = variables.pop("bias")
        show_linear(bias, _flat(variables), self.face)
        return logits, variables, bias


def linear_part(linear: LinearLogits, features: Any, units: int) -> tuple[Any, dict[Any, Any], Any]:
    """The logits of the linear part of a model, which is a layer of it; the variables of each column, and the bias."""
    passing = BookCall(name=SCOPE, kind="Linear")
    logits, variables, bias = linear.with_variables(passing.pass_inputs(features), units)
    logits = passing.pass_outputs(logits, variables=distinct([*_flat(variables), *bias]))
    return logits, variables, bias


def _flat(variables: Mapping[Any, Sequence[Any]]) -> list[Any]:
    return [one for of_column in variables.values() for one in of_column]


def checked_combiner(combiner: Any, where: str, argument: str = "sparse_combiner") -> str:
    """How several values of a column become one.

    Raises:
        UsageError: there is no such way.
    """
    if combiner not in COMBINERS:
        raise UsageError(f"{where}: {argument} must be one of {list(COMBINERS)}, got {combiner!r}.")
    return str(combiner)
