"""Writing a SavedModel: the graphs of one or more modes, the weights of a checkpoint, the files they need.

Modes are written in the order of `tf.estimator`: train, eval, infer. The weights are those of the first one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.callables import name_of
from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger, without_lines_about
from lightwell.errors import UsageError, WrongKind
from lightwell.estimator.export.folders import check_assets, copy_assets, new_folder
from lightwell.estimator.export.signatures import export_outputs, signatures
from lightwell.estimator.export.taps import SIGNATURE as TAPS
from lightwell.estimator.export.taps import tapped_output
from lightwell.run.engine.build import Recipe, build
from lightwell.run.engine.program import Program
from lightwell.run.engine.session import SessionPlan, restored

TAGS = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "eval", ModeKeys.PREDICT: "serve"}
_TRAIN_OP = "saved_model_train_op"  # the graph collection in which loaders look for it
ReceiverFns = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export.

    Attributes:
        doing: the name of the verb, for errors.
        assets_extra: files to copy, by their path in `assets.extra`.
        as_text: whether the graphs are written as text.
        strip_default_attrs: whether to omit attributes with their default value, which older readers may not
            know.
        taps: paths that a signature of the serving graph returns beside the predictions.
    """

    doing: str
    assets_extra: Mapping[str, Any] | None = None
    as_text: bool = False
    strip_default_attrs: bool = True
    taps: Any = None


def write_saved_model(
    base: str,
    receiver_fns: ReceiverFns,
    recipe_of: Callable[[str, Any], Recipe],
    plan: SessionPlan,
    options: ExportOptions,
) -> str:
    """Writes a SavedModel into a new folder of `base` and returns that folder.

    Args:
        base: the directory of all exports of the model.
        receiver_fns: mode to the function that returns its receiver.
        recipe_of: returns the recipe of a program, from a mode and an input function.
        plan: names the checkpoint.
        options: the options.

    Raises:
        UsageError: no mode that can be exported was requested.
    """
    modes = [mode for mode in TAGS if receiver_fns.get(mode) is not None]
    if not modes:
        raise UsageError(
            f"{options.doing}: No valid modes for exporting found. Got {list(receiver_fns)}; expected receiver "
            f"functions by mode, of {list(TAGS)}."
        )
    files = check_assets(options.assets_extra, options.doing)
    # TensorFlow logs the folder before it is renamed, and warns about a deprecated function that only TensorFlow calls.
    with new_folder(base, options.doing) as folder, without_lines_about(folder.path, "build_tensor_info"):
        builder = tf.compat.v1.saved_model.Builder(folder.path)
        for mode in modes:
            receiver_call = _ReceiverCall(receiver_fns[mode], mode, options.doing)
            program = build(recipe_of(mode, receiver_call.inputs))
            with _restored(program, receiver_call.receiver, plan, options) as (session, settings), folder.writing():
                if mode == modes[0]:
                    builder.add_meta_graph_and_variables(session, **settings)
                else:
                    builder.add_meta_graph(**settings)
        with folder.writing():
            builder.save(options.as_text)
            copy_assets(files, folder.path)
            folder.publish()
    logger.info("SavedModel written to: %s/saved_model.%s", folder.final, "pbtxt" if options.as_text else "pb")
    return folder.final


class _ReceiverCall:
    """Calls a receiver function while a program builds its input, and stores the receiver."""

    def __init__(self, receiver_fn: Callable[[], Any], mode: str, doing: str) -> None:
        self._receiver_fn = receiver_fn
        self._where = f"{doing}: the receiver function {name_of(receiver_fn)!r} (mode {mode!r})"
        self.receiver: Any = None

    def inputs(self) -> tuple[Any, Any]:
        receiver = self._receiver_fn()
        if not hasattr(receiver, "features") or not hasattr(receiver, "receiver_tensors"):
            hint = "Is a `return` missing?" if receiver is None else "An input_fn is none; see build_raw_*_receiver_fn."
            raise WrongKind(
                f"{self._where} must return a ServingInputReceiver, TensorServingInputReceiver or "
                f"SupervisedInputReceiver, got {type(receiver).__name__} {receiver!r}. {hint}"
            )
        if not receiver.receiver_tensors:
            raise UsageError(
                f"{self._where} returned a receiver without tensors: receiver_tensors={receiver.receiver_tensors!r}, "
                "so nothing can be fed. Expected placeholders by name, from which its features are made."
            )
        self.receiver = receiver
        return receiver.features, getattr(receiver, "labels", None)


@contextlib.contextmanager
def _restored(
    program: Program, receiver: Any, plan: SessionPlan, options: ExportOptions
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A session with the weights of a mode's graph, and the other arguments of TensorFlow's builder."""
    spec, graph = program.spec, program.graph
    with graph.as_default():
        outputs = export_outputs(spec, program.mode)
        if options.taps is not None and program.mode == ModeKeys.PREDICT:
            outputs[TAPS] = tapped_output(program, options.taps, options.doing)
        alternatives = getattr(receiver, "receiver_tensors_alternatives", None)
        if spec.train_op is not None:
            graph.add_to_collection(_TRAIN_OP, spec.train_op)
        settings = {
            "tags": [TAGS[program.mode]],
            "signature_def_map": signatures(outputs, receiver.receiver_tensors, alternatives),
            "assets_collection": graph.get_collection(tf.compat.v1.GraphKeys.ASSET_FILEPATHS),
            "main_op": spec.scaffold.local_init_op or tf.compat.v1.train.Scaffold.default_local_init_op(),
            "strip_default_attrs": options.strip_default_attrs,
        }
        with restored(program, plan) as (session, saver):
            yield session, {**settings, "saver": saver}
