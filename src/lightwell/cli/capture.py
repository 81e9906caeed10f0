"""`lightwell capture MODULE:NAME --input MODULE:NAME --tap PATH --to FOLDER`: writes values of a data set to disk.

Parses options, loads TensorFlow quietly, and calls `Estimator.capture`.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from lightwell.cli.output import complain, show

_EPILOG = """\
A capture runs the program's own code, so that is what is named: MODEL is an Estimator, a function that makes one, or a
model_fn (then with --model-dir); INPUT is its input_fn, which gives the data once. Modules are looked for in the
current directory first. Killed and called again, it goes on where it was; complete, it is opened as it is.

examples:
  lightwell capture train.py:make_estimator --input train.py:eval_input_fn --tap 'layers/*' --tap labels --to acts
  lightwell capture train:model_fn --model-dir runs/mnist --input train:eval_input_fn --tap dense --key id --to acts
  lightwell inspect acts                    what is in it
"""
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def add_parser(commands: Any) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "capture",
        help="keep values of a model over a data set on disk, as Arrow files",
        description="Run a trained model over a data set, and keep what is tapped as Arrow files.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="MODULE:NAME or FILE.py:NAME")
    parser.add_argument("--input", required=True, metavar="MODULE:NAME", help="the input_fn: gives the data, once")
    parser.add_argument(
        "--tap",
        required=True,
        action="append",
        metavar="PATH",
        help="what to keep, a path or a pattern: 'layers/*', labels, features/id; give it again for more",
    )
    parser.add_argument("--to", required=True, metavar="FOLDER", help="the folder to keep it in, a new one")
    parser.add_argument("--key", metavar="FEATURE", help="the feature that identifies an example: captures join by it")
    parser.add_argument("--steps", type=int, metavar="N", help="how many batches to take; by default all")
    parser.add_argument("--budget", metavar="SIZE", help="the most that it may take on disk: 500MB, 2GB")
    parser.add_argument(
        "--beyond",
        choices=("sample", "statistics"),
        default="sample",
        help="what to keep where all is more than the budget: one example of so many (the default), or mean, std, min, "
        "max and zeros of each unit over all examples, and no rows",
    )
    parser.add_argument("--checkpoint", metavar="PATH", help="a checkpoint of the model; by default the newest")
    parser.add_argument("--model-dir", metavar="DIR", help="with a model_fn: where the model lives")
    parser.add_argument("--params", metavar="JSON", help="params for a model_fn: JSON, or a file of it")
    parser.add_argument("--overwrite", action="store_true", help="replace what is in the folder")
    parser.set_defaults(call=_call, parser=parser)


def _call(arguments: argparse.Namespace) -> int:
    if "tensorflow" not in sys.modules:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
    from lightwell.cli.estimators import named_estimator
    from lightwell.cli.object_reference import load_object
    from lightwell.errors import LightwellError

    try:
        estimator = named_estimator(arguments.model, "MODEL", arguments.model_dir, arguments.params)
        store = estimator.capture(
            load_object(arguments.input, "--input"),
            arguments.tap,
            arguments.to,
            key=arguments.key,
            steps=arguments.steps,
            budget=arguments.budget,
            beyond=arguments.beyond,
            checkpoint_path=arguments.checkpoint,
            overwrite=arguments.overwrite,
        )
    except LightwellError as error:
        as_here = str(error).removeprefix("capture: ").replace("capture(..., overwrite=True)", "--overwrite")
        complain(as_here, "capture")
        return 2
    return show(str(store), "capture")
