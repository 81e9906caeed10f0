"""`lightwell inspect MODEL_DIR [PATH ...]`: the parts of a trained model, from its files alone.

Parses options and loads TensorFlow quietly; `inspect_data` reads the model, `inspect_text` renders it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from lightwell.cli.output import complain, show

_EPILOG = """\
A PATH is a name of the model: weights/dense/kernel, layers/dense, a glob such as weights/*/kernel, or a bare name
(dense, dense/kernel). Each is shown in detail, weights with their history over the checkpoints. MODEL_DIR may also be
one checkpoint, as runs/mnist/model.ckpt-100, or the folder of a capture, whose columns are shown, and of a PATH its
statistics. No program is needed, and none is run.
"""
_CAPTURE = "capture.json"
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "inspect",
        help="show layers, weights and checkpoints of a model_dir",
        description="Show what a trained model is made of: layers, weights with statistics, checkpoints.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "model_dir", metavar="MODEL_DIR", help="a directory with checkpoints, one checkpoint, or a capture"
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", default=[], help="what to show in detail")
    parser.add_argument("--lineage", action="store_true", help="show where its checkpoints come from, edits included")
    parser.add_argument("--json", action="store_true", help="print plain data instead of tables")
    parser.set_defaults(call=_call, parser=parser)


def _shown_capture(arguments: argparse.Namespace) -> str:
    """A capture; of paths in it, statistics."""
    from lightwell.inside.captures.store import open_capture

    store = open_capture(arguments.model_dir)
    stats = {path: store.stats(path) for path in arguments.paths}
    if arguments.json:
        data = {path: one.to_dict() for path, one in stats.items()} or store.to_dict()
        return json.dumps(data, indent=1)
    return "\n\n".join(f"{path}: {one!r}" for path, one in stats.items()) or str(store)


def _call(arguments: argparse.Namespace) -> int:
    if "tensorflow" not in sys.modules:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
    from lightwell.cli.inspect_data import open_model
    from lightwell.cli.inspect_text import shown, shown_in_detail
    from lightwell.errors import LightwellError

    try:
        if arguments.lineage:
            return show(_lineage(arguments), "inspect")
        if os.path.exists(os.path.join(arguments.model_dir, _CAPTURE)):
            return show(_shown_capture(arguments), "inspect")
        model = open_model(arguments.model_dir)
        details = [model.detail(path) for path in model.select(arguments.paths)]
        if arguments.json:
            data = {"paths": [detail.to_dict() for detail in details]} if arguments.paths else model.to_dict()
            text = json.dumps(data, indent=1, allow_nan=False)
        else:
            text = "\n\n".join(map(shown_in_detail, details)) if arguments.paths else shown(model)
    except LightwellError as error:
        complain(str(error), "inspect")
        return 2
    return show(text, "inspect")


def _lineage(arguments: argparse.Namespace) -> str:
    from lightwell.cli.inspect_data import open_model
    from lightwell.cli.output import printable
    from lightwell.inside.weights.lineage import read_lineage

    lineage = read_lineage(open_model(arguments.model_dir).directory)
    if arguments.json:
        return json.dumps(lineage.to_dict(), indent=1)
    return "\n".join(printable(str(lineage).splitlines()))
