"""The tables of private modules of the removed package that projects import.

They are below `tensorflow_estimator.python.estimator` and `tensorflow.python.estimator`. `private_page` returns the
targets and the absent names of one module. A public name is written with its face (`v1 Estimator`), so that it exists
here exactly when the face has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lightwell.base.public_names import ROOTS, ROWS, Face


@dataclass(frozen=True)
class PrivatePage:
    """The names of one private module: name -> target, and absent name -> hint."""

    targets: Mapping[str, str]
    absent: Mapping[str, str]


def _both_faces(*names: str) -> dict[str, str]:
    """Classes that the old package had twice: `X` was the v1 class and `XV2` the v2 one."""
    return {name: f"v1 {name}" for name in names} | {f"{name}V2": f"v2 {name}" for name in names}


def _shared(*names: str, namespace: str = "") -> dict[str, str]:
    prefix = f"{namespace}." if namespace else ""
    return {name: f"v1 {prefix}{name}" for name in names}


_OUTPUTS = _shared(
    "ClassificationOutput", "EvalOutput", "ExportOutput", "PredictOutput", "RegressionOutput", namespace="export"
)
_RECEIVERS = _shared(
    "ServingInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    namespace="export",
) | _shared("build_raw_supervised_input_receiver_fn", namespace="experimental")
_SUPERVISED = {
    "SupervisedInputReceiver": "lightwell.estimator.export.receivers:SupervisedInputReceiver",
    "build_supervised_input_receiver_fn_from_input_fn": (
        "lightwell.estimator.export.receiver_fns:build_supervised_input_receiver_fn_from_input_fn"
    ),
}
_RUN_HOOKS = _shared("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues")
_BASIC_HOOKS = _shared(
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
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
)
_STOPPING = _shared(
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
    namespace="experimental",
)
_INPUTS = _shared("numpy_input_fn", "pandas_input_fn", namespace="inputs")
_MODES = {"ModeKeys": "v1 ModeKeys"}
_EXPORT_MARK = {"estimator_export": "lightwell.compat.small:estimator_export"}
_KERAS = {"model_to_estimator": "lightwell.estimator.from_keras.convert:model_to_estimator"}
_SERVING_KEYS = {
    "CLASSIFY_SERVING_KEY": "lightwell.base.keys:CLASSIFY_SERVING_KEY",
    "DEFAULT_SERVING_KEY": "lightwell.base.keys:DEFAULT_SERVING_SIGNATURE",
    "PREDICT_SERVING_KEY": "lightwell.base.keys:PREDICT_SERVING_KEY",
    "REGRESS_SERVING_KEY": "lightwell.base.keys:REGRESS_SERVING_KEY",
}
_NO_EXECUTOR = "!Use train_and_evaluate(..., observers=[...]): what a task runs is not open for subclassing."

_MODULES: Mapping[str, Mapping[str, str]] = {
    "estimator": _both_faces("Estimator")
    | _shared("VocabInfo", "WarmStartSettings")
    | _MODES
    | {"maybe_overwrite_model_dir_and_session_config": "lightwell.estimator.model_dir:resolved_config"},
    "model_fn": _shared("EstimatorSpec")
    | _shared("call_logit_fn", namespace="experimental")
    | _MODES
    | {"LOSS_METRIC_KEY": "lightwell.base.keys:LOSS", "AVERAGE_LOSS_METRIC_KEY": "lightwell.base.keys:AVERAGE_LOSS"}
    | {"verify_model_fn_args": "!The Estimator checks model_fn's arguments itself."},
    "mode_keys": _MODES,
    "run_config": _shared("RunConfig") | {"TaskType": "lightwell.compat.small:TaskType"},
    "training": _shared("EvalSpec", "TrainSpec", "train_and_evaluate")
    | dict.fromkeys(("_TrainingExecutor", "_ContinuousEvalListener", "_EvalResult"), _NO_EXECUTOR)
    | {
        "_EvalStatus": "lightwell.estimator.workflow.rounds:EvalStatus",
        "_assert_eval_spec": "lightwell.estimator.workflow.train_and_evaluate:assert_eval_spec",
    },
    "exporter": _shared("BestExporter", "Exporter", "FinalExporter", "LatestExporter")
    | {
        "_SavedModelExporter": "lightwell.estimator.export.exporters.saved_model:SavedModelExporter",
        "_loss_smaller": "lightwell.estimator.export.exporters.best:loss_smaller",
    },
    "gc": {
        name: f"lightwell.compat.version_folders:{name.lstrip('_')}"
        for name in (
            "Path",
            "_get_paths",
            "_largest_export_versions",
            "_mod_export_version",
            "_negation",
            "_one_of_every_n_export_versions",
            "_union",
        )
    },
    "util": {
        "fn_args": "lightwell.compat.small:fn_args",
        "parse_input_fn_result": "lightwell.compat.small:parse_input_fn_result",
    },
    "extenders": _shared("add_metrics"),
    "early_stopping": _STOPPING | {"read_eval_metrics": "lightwell.run.events:read_metrics"},
    "estimator_export": _EXPORT_MARK,
    "export.export": _RECEIVERS | _SUPERVISED,
    "export.export_output": _OUTPUTS | {"TrainOutput": "lightwell.model.outputs:TrainOutput"},
    "export.export_lib": _RECEIVERS | _SUPERVISED | _OUTPUTS,
    "hooks.basic_session_run_hooks": _BASIC_HOOKS,
    "hooks.session_run_hook": _RUN_HOOKS,
    "hooks.hooks": _shared("InMemoryEvaluatorHook", "make_stop_at_checkpoint_step_hook", namespace="experimental"),
    "inputs.inputs": _INPUTS,
    "inputs.numpy_io": {"numpy_input_fn": "v1 inputs.numpy_input_fn"},
    "inputs.pandas_io": {"pandas_input_fn": "v1 inputs.pandas_input_fn"},
    "keras": _KERAS,
    "keras_lib": _KERAS,
    "canned.metric_keys": {"MetricKeys": "lightwell.base.keys:MetricKeys"},
    "canned.prediction_keys": {"PredictionKeys": "lightwell.base.keys:PredictionKeys"},
    "canned.optimizers": {
        name: f"lightwell.compat.optimizer_names:{name}"
        for name in ("get_optimizer_instance", "get_optimizer_instance_v2")
    },
    "canned.parsing_utils": _shared("classifier_parse_example_spec", "regressor_parse_example_spec"),
    "canned.head": _MODES
    | {"_all_class_ids": "lightwell.compat.small:all_class_ids", "_all_classes": "lightwell.compat.small:all_classes"}
    | {f"_{key}": target for key, target in _SERVING_KEYS.items()}
    | {
        "LossSpec": "lightwell.model.heads.v1_heads:LossSpec",
        "_Head": "lightwell.model.heads.v1_heads:V1Head",
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss": "lightwell.model.heads.v1_heads:binary_head",
        "_binary_logistic_or_multi_class_head": "lightwell.model.heads.v1_heads:binary_or_multi_class_head",
        "_multi_class_head_with_softmax_cross_entropy_loss": "lightwell.model.heads.v1_heads:multi_class_head",
        "_regression_head": "lightwell.model.heads.v1_heads:regression_head",
        "_summary_key": "lightwell.model.heads.v1_heads:summary_key",
    },
    "canned.boosted_trees": _shared("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"),
    "canned.baseline": _both_faces("BaselineClassifier", "BaselineEstimator", "BaselineRegressor"),
    "canned.dnn": _both_faces("DNNClassifier", "DNNEstimator", "DNNRegressor")
    | _shared("dnn_logit_fn_builder", namespace="experimental"),
    "canned.linear": _both_faces("LinearClassifier", "LinearEstimator", "LinearRegressor")
    | _shared("LinearSDCA", "linear_logit_fn_builder", namespace="experimental"),
    "canned.dnn_linear_combined": _both_faces(
        "DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor"
    ),
    "canned.kmeans": {"KMeansClustering": "v1 experimental.KMeans"},
    "canned.rnn": {"RNNClassifier": "v2 experimental.RNNClassifier", "RNNEstimator": "v2 experimental.RNNEstimator"},
    "head.base_head": _shared("Head") | _SERVING_KEYS,
    "head.binary_class_head": _shared("BinaryClassHead"),
    "head.head_utils": {"binary_or_multi_class_head": "lightwell.model.heads.multi_class:binary_or_multi_class_head"},
    "head.multi_class_head": _shared("MultiClassHead"),
    "head.multi_head": _shared("MultiHead"),
    "head.multi_label_head": _shared("MultiLabelHead"),
    "head.sequential_head": {
        "SequentialHeadWrapper": "lightwell.model.heads.sequential:SequentialHeadWrapper",
        "_SequentialHead": "lightwell.model.heads.sequential:SequentialHeadWrapper",
    },
    "head.regression_head": _shared("LogisticRegressionHead", "PoissonRegressionHead", "RegressionHead"),
    "tpu.tpu_config": _shared("InputPipelineConfig", "RunConfig", "TPUConfig", namespace="tpu"),
    "tpu.tpu_context": {"TPUContext": "!On CPU and GPU there is one replica: use config.num_worker_replicas."},
    "tpu.tpu_estimator": _shared("TPUEstimator", "TPUEstimatorSpec", namespace="tpu"),
    "tpu._tpu_estimator_embedding": {"EmbeddingConfigSpec": "v1 tpu.experimental.EmbeddingConfigSpec"},
}
_EVERYTHING = "estimator_lib"


def _all_modules() -> dict[str, Mapping[str, str]]:
    modules = dict(_MODULES)
    modules[_EVERYTHING] = {
        name: target
        for path, names in _MODULES.items()
        for name, target in names.items()
        if not name.startswith("_") and not path.startswith("tpu")
    } | _shared("TPUEstimator", namespace="tpu")
    for path in _MODULES:
        for depth in range(path.count(".") + 1):
            modules.setdefault(".".join(path.split(".")[:depth]), {})
    return modules


PRIVATE_MODULES: Mapping[str, Mapping[str, str]] = _all_modules()


def private_page(path: str) -> PrivatePage | None:
    """The page of the private module at `path` below the package's root, or None when there is none."""
    rows = PRIVATE_MODULES.get(path)
    if rows is None:
        return None
    targets: dict[str, str] = {}
    absent: dict[str, str] = {}
    for name, text in rows.items():
        target, hint = _look_up(text)
        if hint:
            absent[name] = hint
        else:
            targets[name] = target
    return PrivatePage(targets, absent)


def children_of(path: str) -> list[str]:
    """Names of the private modules directly below `path`."""
    prefix = f"{path}." if path else ""
    below = [name.removeprefix(prefix) for name in PRIVATE_MODULES if name and name.startswith(prefix)]
    return sorted(name for name in below if "." not in name)


def _look_up(text: str) -> tuple[str, str]:
    """Parse one cell of the tables into (target, hint); one of them is empty."""
    if text.startswith("!"):
        return "", text[1:]
    face, _, public_name = text.partition(" ")
    if not public_name:
        return text, ""
    return _public(face, public_name)


def _public(face: str, public_name: str) -> tuple[str, str]:
    namespace, _, name = public_name.rpartition(".")
    row = next(row for row in ROWS[namespace] if row.name == name)
    page: Face = "v1" if face == "v1" else "v2"
    return f"{ROOTS[page]}{'.' if namespace else ''}{namespace}:{name}", row.absent
