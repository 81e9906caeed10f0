"""The programs of `tests/data/programs`: how each is spelled, and which TensorFlow runs it as it stands.

A program takes the model_dir as its first argument and prints one line of JSON last.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "programs"
TF1, TF2, COMPAT = "tf1", "tf2", "compat.v1"
RUN, EDITED = "run", "edited"
WAYS = (RUN, EDITED)

# The one line that the edited program has in place of the first one.
_EDITS = {
    TF1: ("import tensorflow as tf\n", "from lightwell import tf1 as tf\n"),
    TF2: ("import tensorflow as tf\n", "import lightwell; lightwell.install()\nimport tensorflow as tf\n"),
    COMPAT: ("import tensorflow.compat.v1 as tf\n", "from lightwell import tf1 as tf\n"),
}


@dataclass(frozen=True)
class Case:
    """One program.

    Attributes:
        name: of its file.
        spelling: for which TensorFlow it was written.
        runs_on: the release of TensorFlow that runs it, if one does: rows that TensorFlow never could do have none.
        arguments: its command line; `{model_dir}` is filled in.
    """

    name: str
    spelling: str
    runs_on: str = ""
    arguments: tuple[str, ...] = ("{model_dir}",)

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.py"

    def command_line(self, model_dir: str) -> list[str]:
        return [word.format(model_dir=model_dir) for word in self.arguments]

    def edited(self) -> str:
        """The source with the one line that a user edits."""
        old, new = _EDITS[self.spelling]
        source = self.file.read_text()
        if source.count(old) != 1:
            raise ValueError(f"{self.file} should contain {old!r} once")
        return source.replace(old, new)


CASES = (
    Case("predict_options", TF1, "1.15.5"),
    Case("dense_output", TF1, "1.15.5"),
    Case("softmax_tensor", TF1, "1.15.5", ("--model_dir", "{model_dir}", "--steps", "60")),
    Case("mnist_cnn", TF1, "1.15.5"),
    Case("columns", TF1, "1.15.5"),
    Case("kept_tensor", TF1),
    Case("values_of_attributes", TF1),
    Case("change_a_weight", TF1),
    Case("collections_in_hooks", TF2, "2.15.1"),
    Case("weights_in_hooks", TF2),
    Case("watch_features", TF2),
    Case("stop_on_values", TF2),
    Case("hook_mistakes", TF2),
    Case("keras_conv", TF2, "2.15.1"),
    Case("keras_lstm", TF2, "2.15.1"),
    Case("activations_over_data", TF2),
    # Switches the whole process, so it comes last.
    Case("disable_v2_behavior", COMPAT, "2.15.1"),
)
