"""Members of an `Estimator` that a subclass may override, and what an override changes.

Owns `model_fn`, `latest_checkpoint` and the private members that packages call, override or replace: thin faces over
what the verbs are made of, which build in the default graph of their caller. All others are in `sealed`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from lightwell.callables import arguments_of
from lightwell.checkpoints.index import checked_path, latest_checkpoint, newest_usable
from lightwell.spec import EstimatorSpec


class Overridable:
    """The members; `Estimator` sets the fields."""

    _model_fn: Callable[..., EstimatorSpec]
    _model_dir: str
    _params: Any

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function with parameters bound: `model_fn(features, labels, mode, config)`.

        In a subclass that overrides it, verbs call what it gives.
        """

        def bound(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return bound

    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint in `model_dir`, or None.

        In a subclass that overrides it, `evaluate` and `predict` take the checkpoint that it gives.
        """
        return latest_checkpoint(self._model_dir)

    @staticmethod
    def _assert_members_are_not_overridden(self: Any) -> None:  # static and with `self`: so do packages replace it
        """Nothing: the check is made when a class is defined. A class that replaces this one takes that on itself."""

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        """Makes the step counter in `graph`. Verbs call it; an override may make another one.

        Returns:
            The counter, an integer variable in the collection `GLOBAL_STEP`, or None if `model_fn` makes it.
        """
        from lightwell.estimator import verbs

        return verbs.create_global_step(graph)

    def _call_model_fn(self, features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        """Calls `model_fn` in the default graph with what it asks for, and checks that a spec comes back."""
        from lightwell.estimator import verbs

        return verbs.call_alone(self._model_fn, copy.deepcopy(self._params), features, labels, mode, config)

    def _lightwell_model_fn(self) -> Callable[..., EstimatorSpec]:
        """What verbs call: `model_fn` as it was given, unless a subclass says otherwise."""
        if _is_overridden(self, "_call_model_fn"):
            return self._call_model_fn
        if not _is_overridden(self, "model_fn"):
            return self._model_fn
        takes = arguments_of(self.model_fn)  # a method without features makes a model function, and is none
        return self.model_fn if takes.accepts("features") or takes.anything else self._model_fn

    def _lightwell_newest(self) -> str | None:
        """The newest checkpoint that can be read, unless a subclass chooses another one."""
        if not _is_overridden(self, "latest_checkpoint"):
            return newest_usable(self._model_dir)
        chosen = self.latest_checkpoint()
        return None if chosen is None else checked_path(chosen, "latest_checkpoint()")


def _is_overridden(made: Overridable, name: str) -> bool:
    return inspect.getattr_static(type(made), name) is not vars(Overridable)[name]
