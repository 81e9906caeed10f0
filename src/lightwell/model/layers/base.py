"""`Layer`, the class every layer derives from, users' own included.

Owns the life of a layer: it takes a variable scope at its first call, is built once from the shape of its inputs, is
called any number of times with the same variables, and reports losses and updates to the graph's collections. The
inputs and outputs of each call pass the book of layers. Nothing here knows sessions or Keras.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.layers import identifiers
from lightwell.model.layers.attach import attach_layer
from lightwell.model.layers.input_spec import check_inputs
from lightwell.model.layers.introspection import CallHistory
from lightwell.model.layers.naming import next_layer_name, snake_case
from lightwell.model.layers.record import BookCall
from lightwell.model.layers.scopes import LayerScope
from lightwell.model.layers.variables import CreatedVariable, make_variable, pieces_of

# Keras' constructor took these; they carry no meaning for a layer that is called on tensors.
_IGNORED_OPTIONS = frozenset({"autocast", "batch_input_shape", "batch_size", "dynamic", "input_dim", "input_shape"})


class Layer(CallHistory):
    """A function of tensors that owns variables.

    Subclasses override `build(input_shape)`, which creates variables with `add_weight`, and `call(inputs)`.

    Args:
        trainable: whether the variables go to `GraphKeys.TRAINABLE_VARIABLES`.
        name: the layer's name and the base of its variable scope; made unique in the current variable scope.
        dtype: the dtype of the variables; taken from the first input if omitted.
        **kwargs: `_scope` (a scope to live in exactly), `_reuse` (share variables that exist), `activity_regularizer`.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__()
        scope, reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        self.activity_regularizer = identifiers.regularizer(kwargs.pop("activity_regularizer", None))
        _refuse_unknown(type(self).__name__, kwargs)
        self.trainable = trainable
        self.built = False
        self.input_spec: Any = None
        self._dtype: str | None = None if dtype is None else tf.as_dtype(dtype).name
        base_name = str(name) if name else snake_case(type(self).__name__)
        self._name = str(name) if name else next_layer_name(base_name)
        self._scope = LayerScope(base_name, reuse=reuse, scope=scope)
        self._variables: dict[str, Any] = {}
        self._trainable_names: set[str] = set()
        self._updates: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> str | None:
        return self._dtype

    @property
    def scope_name(self) -> str:
        """The variable scope of the layer: what its variables' names start with."""
        if not self._scope.is_open:
            raise UsageError(
                f"layer '{self.name}': scope_name is known once the layer was called, and it was not yet. "
                "Call the layer on a tensor first."
            )
        return self._scope.path

    def name_ahead(self, scope: Any = None) -> str:
        """The name in the book of layers of a call that comes next, before the layer has taken a scope."""
        return self._scope.path_ahead(scope) or self.name

    @property
    def weights(self) -> list[Any]:
        """All variables: trainable ones first, each kind in order of creation."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_weights(self) -> list[Any]:
        return self._pieces(lambda name: name in self._trainable_names) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        frozen = [] if self.trainable else self._pieces(lambda name: name in self._trainable_names)
        return frozen + self._pieces(lambda name: name not in self._trainable_names)

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def updates(self) -> list[Any]:
        """Operations to run with each training step; none when the layer is not trainable."""
        return list(self._updates) if self.trainable else []

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Updates that depend on the calls' inputs, which all do; with `None` there are none."""
        return [] if inputs is None else self.updates

    def count_params(self) -> int:
        """The number of scalars in all variables."""
        if not self.built:
            raise UsageError(
                f"layer '{self.name}': it has no parameters to count before it is built. Call the layer on a tensor, "
                "or call build(input_shape)."
            )
        return sum(int(weight.shape.num_elements()) for weight in self.weights)

    def build(self, input_shape: Any) -> None:
        """Creates the layer's variables. Override; the input shape is a `tf.TensorShape` or a structure of them."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs. Override."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape `call` gives for `input_shape`."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say which shape it gives. Override compute_output_shape(input_shape)."
        )

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.compat.v1.VariableAggregation.NONE,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Creates a variable of the layer, or shares it when the layer's scope says so; as `get_variable`.

        A `regularizer`'s loss goes to `GraphKeys.REGULARIZATION_LOSSES` once, when the variable is created.
        """
        wants_training = self._wants_training(name, trainable, synchronization)
        self._scope.settle()
        with self._scope.enter(share=self._calls > 0):
            created = make_variable(
                self.name,
                name,
                in_one_piece=bool(kwargs.get("in_one_piece", False)),
                shape=tuple(tf.TensorShape(shape).as_list()),
                dtype=tf.as_dtype(dtype or self._dtype or tf.float32),
                initializer=identifiers.initializer(initializer),
                trainable=wants_training and self.trainable,
                constraint=identifiers.constraint(constraint),
                use_resource=use_resource,
                synchronization=synchronization,
                aggregation=aggregation,
                partitioner=partitioner,
            )
            self._own(name, created, wants_training, identifiers.regularizer(regularizer))
        return created.variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """`add_weight` by its older name."""
        return self.add_weight(*args, **kwargs)

    def add_update(self, updates: Any) -> None:
        """Adds operations to `GraphKeys.UPDATE_OPS`, unless the layer is not trainable."""
        for update in tf.nest.flatten(updates):
            operation = update() if callable(update) else update
            operation = getattr(operation, "op", operation)
            self._updates.append(operation)
            if self.trainable and not tf.executing_eagerly():
                _collect(tf.compat.v1.GraphKeys.UPDATE_OPS, operation)

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer."""
        return self(*args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if need be and calls it; inputs and outputs pass the book of layers.

        Raises:
            UsageError: the inputs do not fit the layer, or belong to another graph than the layer's variables.
            WrongType: the inputs are no tensors.
        """
        scope = None
        if kwargs:
            call_parameters = inspect.signature(self.call).parameters
            scope = kwargs.get("scope") if "scope" in call_parameters else kwargs.pop("scope", None)
            if "training" in kwargs and not _accepts("training", call_parameters):
                kwargs.pop("training")
        inputs = _to_tensors(inputs, self.name)
        self._check_graph()
        self._scope.settle(scope)
        booked = BookCall(name=self._scope.path or self.name, kind=type(self).__name__, layer=self)
        inputs = booked.pass_inputs(inputs)
        with self._scope.enter(share=self._calls > 0):
            self._build_for(inputs)
            outputs = self.call(inputs, *args, **kwargs)
            self._penalise_activity(outputs)
        self._calls += 1
        variables = self._pieces(lambda _: True)
        outputs = booked.pass_outputs(outputs, variables=variables, arguments=((inputs, *args), kwargs))
        self._remember(inputs, outputs)
        attach_layer(outputs, inputs, self, self._variables)
        return outputs

    def _build_for(self, inputs: Any) -> None:
        tensors = tf.nest.flatten(inputs)
        if self._dtype is None and tensors:
            self._dtype = tensors[0].dtype.base_dtype.name
        check_inputs(self.input_spec, inputs, self.name)
        if self.built:
            return
        self.build(tf.nest.map_structure(lambda tensor: tensor.shape, inputs))
        self.built = True
        check_inputs(self.input_spec, inputs, self.name)

    def _check_graph(self) -> None:
        if not self._belongs_here() and self._variables:
            raise UsageError(
                f"layer '{self.name}': its variables belong to another graph than the one being built. "
                "Make a new layer for each graph; a layer object cannot move between graphs."
            )

    def _wants_training(self, name: str, trainable: bool | None, synchronization: Any) -> bool:
        on_read = synchronization == tf.VariableSynchronization.ON_READ
        if on_read and trainable:
            raise UsageError(
                f"layer '{self.name}', variable '{name}': a variable synchronised ON_READ cannot be trainable. "
                "Pass trainable=False."
            )
        return not on_read if trainable is None else bool(trainable)

    def _own(
        self, name: str, created: CreatedVariable, wants_training: bool, penalty: Callable[..., Any] | None
    ) -> None:
        self._variables[name] = created.variable
        if wants_training:
            self._trainable_names.add(name)
        if created.is_new and penalty is not None:
            self._penalise(name, created.pieces, penalty)

    def _pieces(self, selects: Callable[[str], bool]) -> list[Any]:
        return [piece for name, variable in self._variables.items() if selects(name) for piece in pieces_of(variable)]


def _refuse_unknown(class_name: str, options: dict[str, Any]) -> None:
    unknown = sorted(set(options) - _IGNORED_OPTIONS)
    if unknown:
        raise WrongType(
            f"{class_name}: unknown argument(s) {', '.join(unknown)}. Known beside the ones in its signature: "
            "dtype, activity_regularizer, _scope, _reuse."
        )


def _accepts(name: str, parameters: Any) -> bool:
    return name in parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())


def _to_tensors(inputs: Any, layer_name: str) -> Any:
    """Turns arrays and plain numbers into tensors and keeps the structure of what holds tensors."""
    leaves: Sequence[Any] = tf.nest.flatten(inputs)
    if any(leaf is None for leaf in leaves):
        raise WrongType(f"layer '{layer_name}': inputs must be tensors, got None. Check what the layer is called with.")
    if leaves and not any(_is_tensor_like(leaf) for leaf in leaves):
        return tf.convert_to_tensor(inputs)
    return tf.nest.map_structure(lambda leaf: leaf if tf.is_tensor(leaf) else tf.convert_to_tensor(leaf), inputs)


def _is_tensor_like(value: Any) -> bool:
    return tf.is_tensor(value) or hasattr(value, "__array__") or hasattr(value, "dtype")


def _collect(key: str, value: Any) -> None:
    if not any(value is known for known in tf.compat.v1.get_collection_ref(key)):
        tf.compat.v1.add_to_collection(key, value)
