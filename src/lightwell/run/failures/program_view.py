"""`ProgramView`: the parts of a program that explain where in it something failed."""

from __future__ import annotations

from typing import Any, Protocol

import tensorflow as tf


class ProgramView(Protocol):
    """A built program, as `engine.Program` is one."""

    @property
    def graph(self) -> tf.Graph:
        """Its graph."""

    @property
    def mode(self) -> str:
        """A `ModeKeys` value."""

    @property
    def inputs(self) -> Any:
        """Features and labels."""

    @property
    def spec(self) -> Any:
        """What `model_fn` returned."""

    @property
    def layers(self) -> Any:
        """The book of layer calls."""

    @property
    def evaluation(self) -> Any:
        """The metrics' ops, in evaluation."""
