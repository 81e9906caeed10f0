"""The programs of `tests/data/row_programs`: TensorFlow 1 spelling, arrays and frames, a `model_fn` of their own.

Each takes the model_dir as its argument and prints one line of JSON last, of what does not hang on random numbers.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "row_programs"
PROGRAMS = sorted(FOLDER.glob("*.py"))
# tf.contrib is of TensorFlow 1 only, so that no recording of 2.15.1 has it.
NOT_RECORDED = ("learn_io",)


def arguments(program: Path, model_dir: Path) -> list[str]:
    """The command line of a program."""
    named = "flags.DEFINE_string" in program.read_text()
    return ["--model_dir", str(model_dir)] if named else [str(model_dir)]


def for_tensorflow_2(program: Path) -> str:
    """The source as TensorFlow 2.15 can run it: the one line changed that says which TensorFlow it is written for.

    Text of a frame is of the type it was of before pandas 3, which `tf.estimator` never knew.
    """
    old, new = "import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\n"
    source = program.read_text()
    if source.count(old) != 1:
        raise ValueError(f"{program} should contain {old!r} once")
    return source.replace(old, f"{new}import pandas\npandas.set_option('future.infer_string', False)\n")
