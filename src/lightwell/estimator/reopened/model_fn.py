"""The model function of a SavedModel.

It imports the graph of a mode, and builds the `EstimatorSpec` from the signatures. Op names stay as they were exported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, LOSS, PREDICT_SERVING_KEY, ModeKeys
from lightwell.errors import InputFnError, ModelFnError, UsageError
from lightwell.estimator.export.reading import SavedModelFiles
from lightwell.estimator.export.saved_model import TAGS
from lightwell.estimator.reopened.join import joined, tensor_names
from lightwell.model.outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.restore import restore

v1 = tf.compat.v1
_METRICS, _PREDICTIONS = "metrics/", "predictions/"
_TRAIN_OPS = ("saved_model_train_op", "train_op")
_INIT_OPS = ("saved_model_main_op", "legacy_init_op")
_DOING = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "evaluate", ModeKeys.PREDICT: "predict"}


class SavedModelFn:
    """A model function.

    Args:
        files: the SavedModel.
        signature: by which signature to predict; None for the usual one.
    """

    def __init__(self, files: SavedModelFiles, signature: str | None) -> None:
        self._files = files
        self._signature = signature

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """Builds the model for a mode."""
        exported = self._exported(mode)
        name = self._signature_name(exported.signature_def, mode)
        signature = exported.signature_def[name]
        where = f"{self._files.directory}: signature {name!r}"
        inputs = joined(signature.inputs, features, None if mode == ModeKeys.PREDICT else labels, where)
        self._import_graph(exported, inputs)
        train_op = _train_op() if mode == ModeKeys.TRAIN else None
        scaffold = self._scaffold()
        _clear_export_collections()
        if mode == ModeKeys.PREDICT:
            outputs = _export_outputs(exported.signature_def, inputs)
            return EstimatorSpec(mode, _predictions(outputs, name), export_outputs=outputs, scaffold=scaffold)
        tensors = _outputs(signature)
        return EstimatorSpec(
            mode,
            predictions=_below(_PREDICTIONS, tensors),
            loss=_loss(tensors, where),
            train_op=train_op,
            eval_metric_ops=_metrics(tensors),
            scaffold=scaffold,
        )

    def specs(self) -> dict[str, tf.TensorSpec]:
        """The inputs of the signature for predictions, by name."""
        inputs = self._for_predictions().inputs
        return {name: tf.TensorSpec(info.tensor_shape, tf.as_dtype(info.dtype)) for name, info in inputs.items()}

    def output_names(self) -> list[str]:
        """The outputs of the signature for predictions, without those of other signatures."""
        return sorted(self._for_predictions().outputs)

    def _for_predictions(self) -> Any:
        signatures = self._exported(ModeKeys.PREDICT).signature_def
        return signatures[self._signature_name(signatures, ModeKeys.PREDICT)]

    def _exported(self, mode: str) -> Any:
        exported = self._files.graph(mode)
        if exported is None:
            raise UsageError(
                f"{_DOING[mode]}: the SavedModel {self._files.directory} has no graph with the tag {TAGS[mode]!r}; it "
                f"has {sorted(self._files.graphs)}. Export it with the graphs of all modes: "
                "estimator.experimental_export_all_saved_models(dir, {ModeKeys.TRAIN: …, ModeKeys.EVAL: …, "
                "ModeKeys.PREDICT: …})."
            )
        return exported

    def _signature_name(self, signatures: Mapping[str, Any], mode: str) -> str:
        """The name of the signature for a mode."""
        known = sorted(name for name in signatures if not name.startswith("__"))
        candidates: tuple[str | None, ...] = (mode,)
        if mode == ModeKeys.PREDICT:
            usual = (DEFAULT_SERVING_SIGNATURE, PREDICT_SERVING_KEY, known[0] if len(known) == 1 else None)
            candidates = (self._signature,) if self._signature else usual
        name = next((name for name in candidates if name in known), None)
        if name is None:
            raise UsageError(
                f"{_DOING[mode]}: the SavedModel {self._files.directory} has no signature {candidates[0]!r}; its graph "
                f"{TAGS[mode]!r} has {known}. Name one: from_saved_model(folder, signature=...)."
            )
        return name

    def _import_graph(self, exported: Any, inputs: Mapping[str, Any]) -> None:
        with tf.name_scope(self._files.free_scope("assets")):
            files = {name: tf.constant(path) for name, path in self._files.assets(exported).items()}
        graph = v1.get_default_graph()
        existing = {op.name for op in graph.get_operations()}
        clash = sorted(existing.intersection(node.name for node in exported.graph_def.node))
        if clash:
            raise InputFnError(
                f"The SavedModel {self._files.directory} and input_fn both have operations called {clash[:5]}. Make "
                "those of input_fn inside the function, not in the graph around it, or give them other names."
            )
        try:
            v1.train.import_meta_graph(exported, clear_devices=True, input_map={**files, **inputs})
        except ValueError as error:
            raise ModelFnError(
                f"The graph of the SavedModel {self._files.directory} cannot be brought in: {error}."
            ) from error
        graph.clear_collection(v1.GraphKeys.ASSET_FILEPATHS)  # its tensors have been replaced
        for path in files.values():
            graph.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        self._join_global_step(graph)

    def _join_global_step(self, graph: tf.Graph) -> None:
        """Leaves one object for the step counter: each collection has imported its own."""
        known = {variable.op.name: variable for variable in v1.global_variables()}
        counters = [known[counter.op.name] for counter in graph.get_collection(v1.GraphKeys.GLOBAL_STEP)]
        if not counters:
            raise UsageError(
                f"The SavedModel {self._files.directory} was not written by an Estimator: its graph has no global "
                "step. Load it with tf.saved_model.load, and call its signatures."
            )
        graph.clear_collection(v1.GraphKeys.GLOBAL_STEP)
        graph.add_to_collection(v1.GraphKeys.GLOBAL_STEP, counters[0])

    def _scaffold(self) -> Any:
        """Tables and local variables as the export initialises them; weights from it, where no checkpoint has them."""
        main = [op for name in _INIT_OPS for op in v1.get_collection(name)]
        local = [v1.local_variables_initializer(), v1.tables_initializer()]
        weights = self._files.weights

        def load(scaffold: Any, session: Any) -> None:
            if tf.io.gfile.exists(f"{weights}.index"):  # a model without variables has none
                restore(session, scaffold.saver, weights, exact=True)

        return v1.train.Scaffold(local_init_op=tf.group(*main, *local) if main else None, init_fn=load)


def _clear_export_collections() -> None:
    """Clears the collections that the export wrote for loaders; a new export writes its own."""
    for name in (*_INIT_OPS, _TRAIN_OPS[0]):
        v1.get_default_graph().clear_collection(name)


def _outputs(signature: Any) -> dict[str, Any]:
    graph = v1.get_default_graph()
    return {name: graph.as_graph_element(info.name) for name, info in signature.outputs.items() if info.name}


def _loss(tensors: Mapping[str, Any], where: str) -> Any:
    if LOSS not in tensors:
        raise UsageError(f"{where} has no output {LOSS!r}; it has {sorted(tensors)}. Export it with an Estimator.")
    return tensors[LOSS]


def _below(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _metrics(tensors: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    parts = _below(_METRICS, tensors)
    names = [name.removesuffix("/value") for name in parts if name.endswith("/value")]
    return {
        name: (parts[f"{name}/value"], parts[f"{name}/update_op"]) for name in names if f"{name}/update_op" in parts
    }


def _train_op() -> Any:
    found = next((op for name in _TRAIN_OPS for op in v1.get_collection(name)), None)
    if found is None:
        raise UsageError("train: the training graph of the SavedModel has no train_op. Export it with an Estimator.")
    return found


def _export_outputs(signatures: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, ExportOutput]:
    """The signatures that what is fed suffices for, as they were exported."""
    usable = {
        name: signature
        for name, signature in signatures.items()
        if not name.startswith("__") and tensor_names(signature.inputs) <= set(inputs)
    }
    return {name: _export_output(signature) for name, signature in usable.items()}


def _export_output(signature: Any) -> ExportOutput:
    tensors = _outputs(signature)
    if signature.method_name.endswith("/classify"):
        return ClassificationOutput(tensors.get("scores"), tensors.get("classes"))
    if signature.method_name.endswith("/regress"):
        return RegressionOutput(tensors["outputs"])
    return PredictOutput(tensors)


def _predictions(outputs: Mapping[str, ExportOutput], chosen: str) -> dict[str, Any]:
    """What the signatures give, by name; where two give different things under one name, the chosen one goes first
    and the other is called `signature/name`."""
    found: dict[str, Any] = {}
    for signature in sorted(outputs, key=lambda name: (name != chosen, name)):
        for name, tensor in _tensors_of(outputs[signature]).items():
            if found.setdefault(name, tensor) is not tensor:
                found[f"{signature}/{name}"] = tensor
    return found


def _tensors_of(output: ExportOutput) -> dict[str, Any]:
    if isinstance(output, PredictOutput):
        return dict(output.outputs)
    if isinstance(output, RegressionOutput):
        return {"outputs": output.value}
    parts = {"scores": getattr(output, "scores", None), "classes": getattr(output, "classes", None)}
    return {name: tensor for name, tensor in parts.items() if tensor is not None}
