"""Exports: what is written for which receiver, outputs and modes, and what receivers are made of.

`SCENES` maps a name to a function of (estimator module, directory) that gives plain values; the same code for both.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
VOCABULARY = ["a", "b", "c"]


def face(lib: Any) -> Any:
    """The module with the names of `tf.estimator`: `lightwell` has it as `lightwell.estimator`."""
    return getattr(lib, "estimator", lib)


def model(lib: Any, **fields: Any) -> Callable[..., Any]:
    """A `model_fn` with some fields of its spec replaced; a callable field is called with the mode and the output."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.constant_initializer(0.5))
        output = tf.matmul(features["x"] if isinstance(features, dict) else features, weight)
        loss = tf.reduce_mean(tf.square(output - (0.0 if labels is None else labels)))
        optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
        train_op = optimizer.minimize(loss, v1.train.get_global_step()) if mode == lib.ModeKeys.TRAIN else None
        usual = {"predictions": {"output": output}, "loss": loss, "train_op": train_op}
        changed = {key: value(mode, output) if callable(value) else value for key, value in fields.items()}
        return lib.EstimatorSpec(mode, **{**usual, **changed})

    return model_fn


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": np.ones([3, 2], np.float32)}, np.ones([3, 1], np.float32))).repeat()


def trained(lib: Any, folder: Path, model_fn: Any) -> Any:
    config = lib.RunConfig(tf_random_seed=1, save_checkpoints_steps=100)
    made = lib.Estimator(model_fn, str(folder / "model"), config)
    made.train(data, steps=1)
    return made


# What is fed.
def parsing(lib: Any) -> Any:
    return face(lib).export.build_parsing_serving_input_receiver_fn({"x": tf.io.FixedLenFeature([2], tf.float32)})


def raw(lib: Any) -> Any:
    def receiver_fn() -> Any:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        return face(lib).export.ServingInputReceiver({"x": x}, {"x": x})

    return receiver_fn


def supervised(lib: Any) -> Any:
    def receiver_fn() -> Any:
        x, y = v1.placeholder(tf.float32, [None, 2], name="x"), v1.placeholder(tf.float32, [None, 1], name="y")
        return face(lib).experimental.build_raw_supervised_input_receiver_fn({"x": x}, y)()

    return receiver_fn


def alternatives(lib: Any) -> Any:
    def receiver_fn() -> Any:
        examples = v1.placeholder(tf.string, [None], name="examples")
        x = tf.reshape(tf.io.decode_raw(examples, tf.float32), [-1, 2], name="decoded")
        elsewhere = v1.placeholder(tf.float32, [None], name="elsewhere")
        more = {"decoded": {"x": x}, "single": x, "not_enough": {"elsewhere": elsewhere}}
        return face(lib).export.ServingInputReceiver({"x": x}, {"examples": examples}, more)

    return receiver_fn


def sparse(lib: Any) -> Any:
    def receiver_fn() -> Any:
        x = v1.sparse_placeholder(tf.float32, [None, 2], name="x")
        return face(lib).export.ServingInputReceiver({"x": tf.sparse.to_dense(x)}, {"x": x})

    return receiver_fn


def one_tensor(lib: Any) -> Any:
    def receiver_fn() -> Any:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        return face(lib).export.TensorServingInputReceiver(x, x)

    return receiver_fn


# What is written.
def described(folder: bytes) -> dict[str, Any]:
    """A SavedModel as JSON can hold it."""
    path = Path(folder.decode())
    saved = saved_model_pb2.SavedModel()
    if (path / "saved_model.pb").is_file():
        saved.ParseFromString((path / "saved_model.pb").read_bytes())
    else:
        text_format.Parse((path / "saved_model.pbtxt").read_text(), saved)
    files = sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
    variables = [name for name, _ in tf.train.list_variables(str(path / "variables" / "variables"))]
    return {
        "returned": [type(folder).__name__, bool(re.fullmatch(r"\d{10}", path.name))],
        "files": files,
        "variables": variables,
        "graphs": [_graph(graph) for graph in saved.meta_graphs],
    }


def _graph(graph: Any) -> dict[str, Any]:
    saver = graph.saver_def
    return {
        "tags": list(graph.meta_info_def.tags),
        "stripped": graph.meta_info_def.stripped_default_attrs,
        "signatures": {name: _signature(graph.signature_def[name]) for name in sorted(graph.signature_def)},
        "collections": {name: _collection(graph.collection_def[name]) for name in sorted(graph.collection_def)},
        "saver": [saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name, saver.sharded],
        "assets": [[asset.filename, asset.tensor_info.name] for asset in graph.asset_file_def],
        "ops": [f"{node.name} {node.op}" for node in graph.graph_def.node],
    }


def _signature(signature: Any) -> dict[str, Any]:
    return {
        "method_name": signature.method_name,
        "inputs": {key: _tensor(signature.inputs[key]) for key in sorted(signature.inputs)},
        "outputs": {key: _tensor(signature.outputs[key]) for key in sorted(signature.outputs)},
    }


def _tensor(info: Any) -> list[Any]:
    sizes = None if info.tensor_shape.unknown_rank else [dim.size for dim in info.tensor_shape.dim]
    name = info.name or str(info.coo_sparse).split('"')[1::2]
    return [name, tf.as_dtype(info.dtype).name, sizes]


def _collection(collection: Any) -> list[Any]:
    if collection.HasField("bytes_list"):
        from tensorflow.core.framework import variable_pb2

        return [variable_pb2.VariableDef.FromString(value).variable_name for value in collection.bytes_list.value]
    if collection.HasField("any_list"):
        found = []
        for value in collection.any_list.value:
            asset = meta_graph_pb2.AssetFileDef()
            value.Unpack(asset)
            found.append([asset.filename, asset.tensor_info.name])
        return found
    return list(collection.node_list.value)


@contextmanager
def _log_lines() -> Iterator[list[str]]:
    """What is logged about an export: level and text, without paths and addresses."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if re.search("ignature|SavedModel|sset|renamed", text) and "deprecated" not in text:
                text = re.sub(r"/\S+/(temp-)?\d+/", "<folder>/", text)
                lines.append(f"{record.levelname} {text}")

    logger, listener = tf.get_logger(), Listener()
    level = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.setLevel(level)
        logger.removeHandler(listener)


def _exports(name: str, receiver: Callable[[Any], Any], outputs: Any = None, **arguments: Any) -> None:
    def run(lib: Any, folder: Path) -> Any:
        fields = {} if outputs is None else {"export_outputs": lambda mode, output: outputs(face(lib).export, output)}
        made = trained(lib, folder, model(lib, **fields))
        return described(made.export_saved_model(str(folder / "out"), receiver(lib), **arguments))

    SCENES[name] = run


def _three(export: Any, output: Any) -> Any:
    classes = tf.as_string(output)
    return {
        "serving_default": export.PredictOutput({"a": output, "b": classes}),
        "scores": export.ClassificationOutput(scores=output),
        "both": export.ClassificationOutput(scores=output, classes=classes),
        "value": export.RegressionOutput(output),
    }


_exports("raw, export_outputs left out", raw)
_exports("parsing, export_outputs left out", parsing)
_exports("parsing, a single tensor", parsing, lambda export, output: {"one": export.PredictOutput(output)})
_exports("parsing, of every kind", parsing, _three)
_exports("raw, of every kind", raw, _three)
_exports("alternatives, of every kind", alternatives, _three)
_exports("parsing, a classification by default", parsing, lambda e, o: {"c": e.ClassificationOutput(scores=o)})
_exports("raw, a classification alone", raw, lambda e, o: {"c": e.ClassificationOutput(scores=o)})
_exports("sparse", sparse)
_exports("features are one tensor", one_tensor)
_exports("as text", raw, as_text=True)
_exports("training", supervised, experimental_mode="train")
_exports("evaluation", supervised, experimental_mode="eval")
_exports("serving with labels", supervised)
_exports("training without labels", raw, experimental_mode="train")


def _all_modes(lib: Any, folder: Path) -> Any:
    def metrics(mode: str, output: Any) -> Any:
        return {"mean": v1.metrics.mean(output), "of/an_op": (tf.reduce_sum(output), tf.no_op("nothing"))}

    made = trained(lib, folder, model(lib, eval_metric_ops=metrics))
    receivers = {"infer": parsing(lib), "eval": supervised(lib), "train": supervised(lib)}
    return described(made.experimental_export_all_saved_models(str(folder / "out"), receivers))


def _two_modes(lib: Any, folder: Path) -> Any:
    made = trained(lib, folder, model(lib, predictions=lambda mode, output: output))
    receivers = {"infer": raw(lib), "eval": supervised(lib), "train": None}
    return described(made.experimental_export_all_saved_models(str(folder / "out"), receivers))


def _without_predictions(lib: Any, folder: Path) -> Any:
    def predictions(mode: str, output: Any) -> Any:
        return output if mode == "infer" else None

    made = trained(lib, folder, model(lib, predictions=predictions))
    receivers = {"eval": supervised(lib), "infer": raw(lib)}
    return described(made.experimental_export_all_saved_models(str(folder / "out"), receivers))


def _vocabulary_model(lib: Any, folder: Path) -> Callable[..., Any]:
    files = [folder / "one" / "words.txt", folder / "two" / "words.txt"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("\n".join(VOCABULARY))

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        places = []
        for file in files:
            index = tf.lookup.TextFileIndex
            start = tf.lookup.TextFileInitializer(
                str(file), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, vocab_size=3
            )
            places.append(tf.lookup.StaticVocabularyTable(start, 1).lookup(tf.as_string(features["x"])))
        output = weight * tf.cast(places[0] + places[1], tf.float32)
        return lib.EstimatorSpec(mode, output, tf.reduce_sum(output), v1.assign_add(v1.train.get_global_step(), 1))

    return model_fn


def _assets(lib: Any, folder: Path) -> Any:
    made = trained(lib, folder, _vocabulary_model(lib, folder))
    extra = {"deep/down/words.txt": str(folder / "one" / "words.txt"), "words": str(folder / "two" / "words.txt")}
    return described(made.export_saved_model(str(folder / "out"), raw(lib), assets_extra=extra))


def _scaffold(lib: Any, folder: Path) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.ones_initializer())
        v1.get_variable("other", [1], initializer=v1.ones_initializer())
        local = v1.get_local_variable("local", [1], initializer=v1.ones_initializer())
        output = tf.matmul(features["x"], weight)
        scaffold = v1.train.Scaffold(
            saver=v1.train.Saver([weight, v1.train.get_global_step()], name="own_saver"),
            local_init_op=tf.group(local.initializer, name="own_init"),
        )
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return lib.EstimatorSpec(mode, output, tf.reduce_sum(output), train_op, scaffold=scaffold)

    made = trained(lib, folder, model_fn)
    return described(made.export_saved_model(str(folder / "out"), raw(lib)))


def _log_of(receiver: Callable[[Any], Any], **arguments: Any) -> Scene:
    def run(lib: Any, folder: Path) -> Any:
        made = trained(lib, folder, model(lib, export_outputs=lambda mode, output: _three(face(lib).export, output)))
        with _log_lines() as lines:
            made.export_saved_model(str(folder / "out"), receiver(lib), **arguments)
        return [line for line in lines if not line.startswith("INFO '")]

    return run


SCENES.update(
    {
        "all modes, with metrics": _all_modes,
        "two modes, predictions are one tensor": _two_modes,
        "evaluation without predictions": _without_predictions,
        "vocabulary files and extra ones": _assets,
        "a scaffold of its own": _scaffold,
        "log: parsing": _log_of(parsing),
        "log: raw": _log_of(raw),
        "log: training": _log_of(supervised, experimental_mode="train"),
    }
)


# What receivers are made of.
def _placeholder(*sizes: int | None, name: str | None = None) -> Any:
    return v1.placeholder(tf.float32, list(sizes), name=name)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _shown(part) for key, part in value.items()}
    if isinstance(value, tf.Tensor):
        return [value.name, value.dtype.name, None if value.shape.rank is None else value.shape.as_list()]
    return None if value is None else type(value).__name__


def _receives(name: str, make: Callable[[Any, Any], Any]) -> None:
    def run(lib: Any, folder: Path) -> Any:
        with tf.Graph().as_default():
            receiver = make(face(lib).export, face(lib).experimental)
            fields = {field: _shown(getattr(receiver, field)) for field in receiver._fields}
            return [type(receiver).__name__, fields, [_shown(part) for part in receiver]]

    SCENES[f"receiver: {name}"] = run


EAGER = np.ones([3, 2], np.float32)
_receives("a dict", lambda e, x: e.ServingInputReceiver({"a": _placeholder(None)}, {"b": _placeholder(None)}))
_receives("single tensors", lambda e, x: e.ServingInputReceiver(_placeholder(None), _placeholder(None)))
_receives("keys that are numbers", lambda e, x: e.ServingInputReceiver({1: _placeholder(None)}, _placeholder(None)))
_receives("no features", lambda e, x: e.ServingInputReceiver({}, _placeholder(None)))
_receives(
    "alternatives",
    lambda e, x: e.ServingInputReceiver(
        {"a": _placeholder(None)}, {"b": _placeholder(None)}, {"c": _placeholder(2), "d": {"e": _placeholder(1)}}
    ),
)
_receives("one tensor", lambda e, x: e.TensorServingInputReceiver(_placeholder(None), _placeholder(None)))
_receives(
    "a sparse feature", lambda e, x: e.TensorServingInputReceiver(v1.sparse_placeholder(tf.int64), _placeholder(1))
)
_receives("raw", lambda e, x: e.build_raw_serving_input_receiver_fn({"a": _placeholder(7, 2, name="mine")})())
_receives("raw, sized", lambda e, x: e.build_raw_serving_input_receiver_fn({"a": _placeholder(None, 2)}, 4)())
_receives(
    "raw, of any shape", lambda e, x: e.build_raw_serving_input_receiver_fn({"a": v1.placeholder(tf.float32)}, 4)()
)
_receives(
    "parsing", lambda e, x: e.build_parsing_serving_input_receiver_fn({"a": tf.io.FixedLenFeature([2], tf.int64)})()
)
_receives(
    "parsing, sized",
    lambda e, x: e.build_parsing_serving_input_receiver_fn(
        {"a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.VarLenFeature(tf.string)}, default_batch_size=5
    )(),
)
_receives(
    "supervised", lambda e, x: x.build_raw_supervised_input_receiver_fn({"a": _placeholder(2)}, _placeholder(3))()
)
_receives(
    "supervised, single tensors, sized",
    lambda e, x: x.build_raw_supervised_input_receiver_fn(_placeholder(2), {"l": _placeholder(3)}, 4)(),
)


# What goes wrong.
def _wrong(name: str, make: Callable[[Any, Any], Any]) -> None:
    def run(lib: Any, folder: Path) -> Any:
        with tf.Graph().as_default():
            try:
                make(face(lib).export, face(lib).experimental)
            except Exception as error:
                known = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
                return [known, re.split(r"(?<=[^.])\.(?:\s|$)", str(error))[0]]
        return "nothing"

    SCENES[f"wrong: {name}"] = run


_wrong("features None", lambda e, x: e.ServingInputReceiver(None, _placeholder(1)))
_wrong("tensors None", lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, None))
_wrong("a feature's name", lambda e, x: e.ServingInputReceiver({("a", "b"): _placeholder(1)}, _placeholder(1)))
_wrong("a tensor's name", lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, {1: _placeholder(1)}))
_wrong("a feature is an array", lambda e, x: e.ServingInputReceiver({"a": EAGER}, _placeholder(1)))
_wrong("features are a list", lambda e, x: e.ServingInputReceiver([_placeholder(1)], _placeholder(1)))
_wrong("a tensor is a number", lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, {"b": 3}))
_wrong("alternatives are a number", lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, _placeholder(1), 3))
_wrong(
    "an alternative is a number", lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, _placeholder(1), {"c": 3})
)
_wrong(
    "an alternative's name",
    lambda e, x: e.ServingInputReceiver({"a": _placeholder(1)}, _placeholder(1), {"c": {3: _placeholder(1)}}),
)
_wrong("one tensor is None", lambda e, x: e.TensorServingInputReceiver(None, _placeholder(1)))
_wrong("one tensor is a dict", lambda e, x: e.TensorServingInputReceiver({"a": _placeholder(1)}, _placeholder(1)))
_wrong(
    "features and labels share a name",
    lambda e, x: x.build_raw_supervised_input_receiver_fn({"a": _placeholder(1)}, {"a": _placeholder(1)})(),
)


def _refused(name: str, words: str, call: Callable[[Any, Any, Path], Any], steps: int = 1) -> None:
    def run(lib: Any, folder: Path) -> Any:
        made = lib.Estimator(model(lib), str(folder / "model"))
        if steps:
            made.train(data, steps=steps)
        try:
            call(lib, made, folder / "out")
        except Exception as error:
            known = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            return [known, words, words in str(error)]
        return "nothing"

    SCENES[f"refused: {name}"] = run


_refused(
    "no checkpoint",
    "Couldn't find trained model at",
    lambda lib, made, out: made.export_saved_model(str(out), raw(lib)),
    steps=0,
)
_refused(
    "an unknown mode",
    "No valid modes for exporting found. Got",
    lambda lib, made, out: made.export_saved_model(str(out), raw(lib), experimental_mode="no"),
)
_refused(
    "no mode",
    "No valid modes for exporting found. Got",
    lambda lib, made, out: made.experimental_export_all_saved_models(str(out), {}),
)
_refused(
    "a receiver that is missing",
    "An input_receiver_fn must be defined",
    lambda lib, made, out: made.export_saved_model(str(out), None, experimental_mode="eval"),
)
