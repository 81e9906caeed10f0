"""The shared parts of `tf.contrib.layers`: a scope, variables by name, and the steps after a layer's result.

Owns `Making`, one call of one layer from its scope to its result. Takes what the user gave; gives the variables their
names, collections and losses, and passes the result through normalization, activation, the book and collections.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.variables import model_variable
from lightwell.compat.contrib.layers.initializers import xavier_initializer
from lightwell.model.layers.record import BookCall
from lightwell.model.layers.variables import pieces_of

# Default arguments of layers with weights.
WEIGHTS: Any = xavier_initializer()
BIASES: Any = tf.compat.v1.zeros_initializer()
RELU: Any = tf.nn.relu


@dataclass(eq=False)
class Making:
    """One call of a layer, inside its variable scope.

    Attributes:
        passing: the call at the book.
        path: the full name of the variable scope.
        inputs: what the layer computes with: what the function was called with, unless an edit changes it.
        trainable: whether its variables are trained.
        variables_collections: more collections for its variables: a list, or a dict by variable.
        outputs_collections: a collection for its result, or several.
        made: the variables that it has created.
    """

    passing: BookCall
    path: str
    inputs: Any
    trainable: bool = True
    variables_collections: Any = None
    outputs_collections: Any = None
    made: list[Any] = field(default_factory=list)

    def variable(
        self,
        name: str,
        shape: Sequence[int] | None,
        dtype: Any,
        initializer: Any,
        regularizer: Any = None,
        trainable: bool | None = None,
    ) -> Any:
        """Makes, or shares, the variable `name` below the scope."""
        variable = model_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=self.trainable if trainable is None else trainable,
            collections=self.collections_of(name),
        )
        self.made += pieces_of(variable)
        return variable

    def collections_of(self, name: str) -> list[str]:
        """The collections that the user wants a variable in."""
        wanted = self.variables_collections
        if isinstance(wanted, Mapping):
            wanted = wanted.get(name)
        return [wanted] if isinstance(wanted, str) else list(wanted or ())

    def with_biases(
        self,
        outputs: Any,
        size: int,
        normalizer_fn: Callable[..., Any] | None,
        normalizer_params: Mapping[str, Any] | None,
        biases_initializer: Any,
        biases_regularizer: Any,
        data_format: str | None = None,
    ) -> Any:
        """A result that is normalised, or has biases added, or stays as it is."""
        if normalizer_fn is not None:
            return normalizer_fn(outputs, **(normalizer_params or {}))
        if biases_initializer is None:
            return outputs
        biases = self.variable("biases", [size], outputs.dtype.base_dtype, biases_initializer, biases_regularizer)
        return tf.nn.bias_add(outputs, biases, data_format=data_format, name="BiasAdd")

    def finished(self, outputs: Any, activation_fn: Callable[[Any], Any] | None = None) -> Any:
        """The result, after its activation; noted in the book and in collections."""
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        outputs = self.passing.pass_outputs(outputs, variables=self.made)
        collections = self.outputs_collections
        for collection in [collections] if isinstance(collections, str) else collections or ():
            tf.compat.v1.add_to_collection(collection, outputs)
        if collections:  # `slim.utils.convert_collection_to_dict` finds end points by it
            outputs.aliases = [*getattr(outputs, "aliases", ()), self.path]
        return outputs


@contextlib.contextmanager
def making(
    kind: str, inputs: Any, scope: Any, default_scope: str, *, reuse: Any = None, **settings: Any
) -> Iterator[Making]:
    """Opens the variable scope of a layer; the block creates its variables and finishes its result."""
    with tf.compat.v1.variable_scope(scope, default_scope, [inputs], reuse=reuse) as opened:
        yield _made(kind, opened.name, inputs, settings)


@contextlib.contextmanager
def naming(kind: str, inputs: Any, scope: str | None, default_scope: str, **settings: Any) -> Iterator[Making]:
    """Opens the name scope of a layer that has no variables."""
    with tf.compat.v1.name_scope(scope, default_scope, [inputs]) as opened:
        yield _made(kind, opened.rstrip("/"), inputs, settings)


def _made(kind: str, path: str, inputs: Any, settings: dict[str, Any]) -> Making:
    passing = BookCall(name=path, kind=kind)
    return Making(passing, path, passing.pass_inputs(inputs), **settings)
