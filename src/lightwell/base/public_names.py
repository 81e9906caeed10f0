"""Every public name of `tf.estimator`, once: where it lives here, and how its v1 face differs.

Owns the one list behind both faces: `lightwell.estimator` (the names of `tf.estimator`, "v2") and
`lightwell.compat.v1.estimator` (those of `tf.compat.v1.estimator`, "v1"). A v1 name with another default is a field of
its row, never a second class. Gives `public_page`, which makes a face's module out of the rows. Imports nothing heavy.

    __getattr__, __dir__, __all__ = public_page(__name__, "v2", "export")
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lightwell.base.lazy import lazy_names, resolve

Face = Literal["v1", "v2"]

# The public pages of single parts, and the modules that they are another name of.
PAGES: Mapping[str, str] = {
    "lightwell.export": "lightwell.estimator.export",
    "lightwell.feature_columns": "lightwell.model.feature_columns",
    "lightwell.layers": "lightwell.model.layers",
    "lightwell.rnn_cell": "lightwell.model.rnn_cell",
    "lightwell.tf1": "lightwell.compat.tf1",
}

ROOTS: Mapping[Face, str] = {"v1": "lightwell.compat.v1.estimator", "v2": "lightwell.estimator"}
NAMESPACES: Mapping[Face, tuple[str, ...]] = {
    "v1": ("experimental", "export", "inputs", "tpu", "tpu.experimental"),
    "v2": ("experimental", "export"),
}


@dataclass(frozen=True)
class Row:
    """One public name.

    Attributes:
        name: as `tf.estimator` spells it.
        target: where it lives, a target of `lazy.resolve`.
        faces: which faces offer it.
        v1_defaults: constructor defaults that differ on the v1 face.
        v1_arguments: named arguments that stand among the positional ones there: name -> the one before it.
        v1_class: whether the class acts by its face: that of the v1 face is told so by its `_face`.
        absent: set while the name does not exist here: a sentence that says what to use. `target` may already say where
            it will live; a test fails as soon as it does, and then `absent` has to go.
    """

    name: str
    target: str = ""
    faces: tuple[Face, ...] = ("v1", "v2")
    v1_defaults: Mapping[str, object] = field(default_factory=dict)
    v1_arguments: Mapping[str, str] = field(default_factory=dict)
    v1_class: bool = False
    absent: str = ""


def _in(module: str, *names: str) -> tuple[Row, ...]:
    joint = "." if ":" in module else ":"
    return tuple(Row(name, f"{module}{joint}{name}") for name in names)


def _absent(hint: str, *names: str, faces: tuple[Face, ...] = ("v1", "v2")) -> tuple[Row, ...]:
    return tuple(Row(name, absent=hint, faces=faces) for name in names)


# TensorFlow still ships these; they are its own objects, so that `isinstance` holds on both sides.
_TENSORFLOWS_HOOKS = _in(
    "tensorflow:compat.v1.train",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "VocabInfo",
)

_NO_TPU_EMBEDDING = (
    "It configures embedding hardware of TPU hosts, which Lightwell does not drive: use tf.tpu.experimental.embedding."
)
_V1_LOSS_REDUCTION: Mapping[str, object] = {"loss_reduction": "weighted_sum"}

_HEADS = (
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
)
# Arguments that only the v1 face has: the name, and the argument after which it stands there.
_PARTITIONERS: Mapping[str, Mapping[str, str]] = {
    "DNN": {"input_layer_partitioner": "dropout"},
    "DNNLinearCombinedClassifier": {"input_layer_partitioner": "label_vocabulary"},
    "DNNLinearCombinedEstimator": {"input_layer_partitioner": "dnn_dropout"},
    "DNNLinearCombinedRegressor": {"input_layer_partitioner": "weight_column"},
    "Linear": {"partitioner": "config"},
}
_CANNED = tuple(
    Row(
        f"{model}{task}",
        f"lightwell.estimator.canned:{model}{task}",
        v1_defaults={} if task == "Estimator" else _V1_LOSS_REDUCTION,
        v1_arguments=_PARTITIONERS.get(f"{model}{task}", _PARTITIONERS.get(model, {})),
        v1_class=True,
    )
    for model in ("Baseline", "DNN", "DNNLinearCombined", "Linear")
    for task in ("Classifier", "Estimator", "Regressor")
)

ROWS: Mapping[str, tuple[Row, ...]] = {
    "": (
        Row("Estimator", "lightwell.estimator.core:Estimator"),
        Row("EstimatorSpec", "lightwell.model.spec:EstimatorSpec"),
        Row("ModeKeys", "lightwell.base.keys:ModeKeys"),
        Row("RunConfig", "lightwell.run.config:RunConfig"),
        *_in("lightwell.run.checkpoints", "WarmStartSettings"),
        *_in("lightwell.estimator.workflow.specs", "EvalSpec", "TrainSpec"),
        *_in("lightwell.estimator.workflow.train_and_evaluate", "train_and_evaluate"),
        *_in("lightwell.estimator.export.exporters", "BestExporter", "Exporter", "FinalExporter", "LatestExporter"),
        *_TENSORFLOWS_HOOKS,
        *_in(
            "lightwell.estimator.canned.boosted_trees",
            "BoostedTreesClassifier",
            "BoostedTreesEstimator",
            "BoostedTreesRegressor",
        ),
        *_in("lightwell.estimator.canned.add_metrics", "add_metrics"),
        *_in("lightwell.model.heads", *_HEADS),
        *_CANNED,
        *_in(
            "lightwell.model.feature_columns.parse_specs",
            "classifier_parse_example_spec",
            "regressor_parse_example_spec",
        ),
    ),
    "experimental": (
        *_in(
            "lightwell.estimator.stop_hooks",
            "make_early_stopping_hook",
            "make_stop_at_checkpoint_step_hook",
            "stop_if_higher_hook",
            "stop_if_lower_hook",
            "stop_if_no_decrease_hook",
            "stop_if_no_increase_hook",
        ),
        *_in("lightwell.estimator.in_memory_evaluator", "InMemoryEvaluatorHook"),
        *_in("lightwell.estimator.export.receiver_fns", "build_raw_supervised_input_receiver_fn"),
        *_in("lightwell.estimator.canned.logit_fns", "call_logit_fn"),
        *(
            Row(name, f"lightwell.estimator.canned.logit_fns:{name}", faces=("v1",))
            for name in ("dnn_logit_fn_builder", "linear_logit_fn_builder")
        ),
        Row("LinearSDCA", "lightwell.estimator.canned.sdca:LinearSDCA"),
        *(
            Row(name, f"lightwell.estimator.canned.rnn:{name}", faces=("v2",))
            for name in ("RNNClassifier", "RNNEstimator")
        ),
        Row("KMeans", "lightwell.estimator.canned.kmeans:KMeans", faces=("v1",)),
    ),
    "export": (
        *_in(
            "lightwell.model.outputs",
            "ClassificationOutput",
            "EvalOutput",
            "ExportOutput",
            "PredictOutput",
            "RegressionOutput",
        ),
        *_in("lightwell.estimator.export.receivers", "ServingInputReceiver", "TensorServingInputReceiver"),
        *_in(
            "lightwell.estimator.export.receiver_fns",
            "build_parsing_serving_input_receiver_fn",
            "build_raw_serving_input_receiver_fn",
        ),
    ),
    "inputs": tuple(
        Row(name, f"lightwell.run.inputs.{name}:{name}", faces=("v1",))
        for name in ("numpy_input_fn", "pandas_input_fn")
    ),
    "tpu": (
        *_in("lightwell.estimator.on_tpu.tpu_config", "InputPipelineConfig", "TPUConfig"),
        *_in("lightwell.estimator.on_tpu.run_config", "RunConfig"),
        *_in("lightwell.estimator.on_tpu.tpu_estimator", "TPUEstimator"),
        *_in("lightwell.estimator.on_tpu.tpu_spec", "TPUEstimatorSpec"),
    ),
    "tpu.experimental": _absent(_NO_TPU_EMBEDDING, "EmbeddingConfigSpec"),
}


def public_page(
    module_name: str, face: Face, namespace: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of one module of a face.

    Args:
        module_name: the module's `__name__`.
        face: `"v1"` or `"v2"`.
        namespace: `""` for the face itself, else `"export"`, `"experimental"`, ...
    """
    targets: dict[str, str | Callable[[], Any]] = {}
    absent: dict[str, str] = {}
    for row in ROWS[namespace]:
        if row.absent:
            absent[row.name] = row.absent
        elif face not in row.faces:
            absent[row.name] = f"It belongs to the other face: {_spelling(row.faces[0], namespace)}.{row.name}."
        elif face == "v1" and (row.v1_defaults or row.v1_class):
            targets[row.name] = functools.partial(_as_in_v1, row, module_name)
        else:
            targets[row.name] = row.target
    for child in _children(namespace):
        full = f"{namespace}.{child}".lstrip(".")
        if full in NAMESPACES[face]:
            targets[child] = f"{ROOTS[face]}.{full}"
        elif all(row.absent for row in ROWS[full]):
            absent[child] = ROWS[full][0].absent
        else:
            absent[child] = f"It belongs to the other face: {_spelling('v1', full)}."
    return lazy_names(module_name, targets, absent=absent, label=_as_written(namespace))


def _as_written(namespace: str) -> str:
    """How programs write a namespace, on either face: `import tensorflow.compat.v1 as tf` is the usual way to the v1
    one."""
    return f"tf.estimator.{namespace}".rstrip(".")


def _spelling(face: Face, namespace: str) -> str:
    """The one way to write a namespace that tells the faces apart."""
    root = "tf.estimator" if face == "v2" else "tf.compat.v1.estimator"
    return f"{root}.{namespace}".rstrip(".")


def _children(namespace: str) -> list[str]:
    """Names of the namespaces one level below."""
    prefix = f"{namespace}." if namespace else ""
    return [
        full.removeprefix(prefix)
        for full in ROWS
        if full and full.startswith(prefix) and "." not in full.removeprefix(prefix)
    ]


def _as_in_v1(row: Row, module_name: str) -> type:
    """The class of a row as the v1 face shows it: the same class, with other defaults and places of arguments."""
    original: type[Any] = resolve(row.target)
    signature = inspect.signature(original)
    parameters = {name: one for name, one in signature.parameters.items() if name not in row.v1_arguments}
    ordered: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        ordered.append(parameter.replace(default=row.v1_defaults.get(name, parameter.default)))
        ordered += [
            signature.parameters[added].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for added, before in row.v1_arguments.items()
            if before == name
        ]
    changed = signature.replace(parameters=ordered)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original.__init__(self, **{**row.v1_defaults, **changed.bind(*args, **kwargs).arguments})

    members = {"__init__": __init__, "__doc__": original.__doc__, "__module__": module_name, "__signature__": changed}
    return type(row.name, (original,), {**members, **({"_face": "v1"} if row.v1_class else {})})
