"""`lightwell export MODEL_DIR --to saved_model|tflite|onnx`: a trained model in another form, checked on rows.

Parses options and loads TensorFlow quietly; `export_model` does the work.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from lightwell.cli.output import complain, printable, show

_EPILOG = """\
What is exported: the newest SavedModel below MODEL_DIR/export; MODEL_DIR may also be a SavedModel itself. With --model,
the newest checkpoint of MODEL_DIR: weights alone are no model, so its code is needed. The inputs are then those that
the last training saw.

How it is checked: the model and the result are called on the same rows, and the largest difference is printed. The exit
code is 1 if rounding does not explain it, or if the result could not be called here.

examples:
  lightwell export runs/mnist --to tflite --rows test.npz
  lightwell export runs/mnist --to saved_model --model train:model_fn --params '{"learning_rate": 0.1}'
  lightwell export runs/mnist/export/best/1700000000 --to onnx --rows train:eval_input_fn
"""
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "export",
        help="write a trained model as SavedModel, TFLite or ONNX, and check it",
        description="Write a trained model in another form, and check it on rows.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model_dir", metavar="MODEL_DIR", help="a directory of a training, or a SavedModel")
    parser.add_argument("--to", required=True, choices=("saved_model", "tflite", "onnx"), help="the form to write")
    parser.add_argument("--out", metavar="PATH", help="where to; by default below MODEL_DIR/export")
    parser.add_argument("--model", metavar="MODULE:NAME", help="model_fn, an Estimator, or a function that makes one")
    parser.add_argument("--params", metavar="JSON", help="params for model_fn: JSON, or a file of it")
    parser.add_argument("--checkpoint", metavar="PATH", help="with --model: a checkpoint instead of the newest")
    parser.add_argument("--rows", metavar="FILE|MODULE:NAME", help="rows to check on: npz, npy, csv, json; an input_fn")
    parser.add_argument("--signature", metavar="NAME", help="the signature to convert; by default serving_default")
    parser.add_argument("--select-tf-ops", action="store_true", help="TFLite: ops it lacks may stay TensorFlow's")
    parser.set_defaults(call=_call, parser=parser)


def _call(arguments: argparse.Namespace) -> int:
    if arguments.model is None and (arguments.params or arguments.checkpoint):
        arguments.parser.error("--params and --checkpoint go with --model")
    if "tensorflow" not in sys.modules:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
    from lightwell.cli.export_model import export
    from lightwell.errors import LightwellError

    try:
        with _quiet():
            result = export(arguments)
    except LightwellError as error:
        complain(str(error), "export")
        return 2
    for line in result.notes:
        complain(line, "export")
    code = show(visible_lines(str(result.conversion)), "export")
    return code if result.conversion.is_close else 1


def visible_lines(text: str) -> str:
    """Text of several lines with control characters escaped."""
    return "\n".join(map(printable, text.splitlines()))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Capture what converters write to standard error, and print it only after an unexpected error."""
    import logging

    from lightwell.errors import LightwellError

    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        explained = False
        try:
            yield
            explained = True
        except LightwellError:
            explained = True
            raise
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            logger.setLevel(level)
            if not explained:
                file.seek(0)
                sys.stderr.write(file.read().decode(errors="replace"))
