"""A failing program by itself: what a `Lab` does for it, in few lines and with prints. Its source is copied."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import tensorflow as tf

WAYS = {
    "single": "fuse_steps=False",
    "compiled": "jit_compile=True",
}


class Alone:
    """Runs the program, and prints what it gives."""

    def __init__(self, program: Any, **way: Any) -> None:
        self.folder, self.way, self.program = tempfile.mkdtemp(), way, program
        self.closure, self.moves, self.made, self._est = {"factor": 1.0}, [], ("model_dir", {}), None

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def see(self, label: str, value: Any) -> None:
        print(label, value)

    def config(self, **settings: Any) -> Any:
        settings.pop("exact", None)
        way = self.way if "lightwell" in sys.modules else {}  # the original has one way
        return tf.estimator.RunConfig(**settings, **way)

    def move(self, folder: Any, **settings: Any) -> None:
        self.moves.append(folder)
        self.made, self._est = (folder or self.made[0], settings), None

    @property
    def est(self) -> Any:
        if self._est is None:
            self._est = self.program.estimator(self, self.path(self.made[0]), **self.made[1])
        return self._est

    def train(self, hooks: Any, **settings: Any) -> None:
        self.est.train(self.program.train_input, [*self.program.SETTLED, *hooks], **settings)
        newest = self.est.latest_checkpoint()
        print("trained to", newest and os.path.basename(newest))
        for name in sorted(self.est.get_variable_names()) if newest else ():
            print("  ", name, self.est.get_variable_value(name).ravel()[:4])

    def evaluate(self, hooks: Any, **settings: Any) -> None:
        print("evaluated", self.est.evaluate(self.program.eval_input, hooks=hooks, **settings))

    def open_predict(self, hooks: Any = (), **settings: Any) -> Any:
        return self.est.predict(self.program.predict_input, hooks=list(hooks), **settings)

    def predict(self, hooks: Any, rows: Any, **settings: Any) -> None:
        for place, row in enumerate(self.open_predict(hooks, **settings)):
            print("row", row)
            if rows is not None and place + 1 >= rows:
                break

    def export(self) -> None:
        folder = self.est.export_saved_model(self.path("export"), self.program.serving)
        loaded = tf.saved_model.load(folder.decode() if isinstance(folder, bytes) else folder)
        for name, run in loaded.signatures.items():
            print(name, run(**{k: tf.constant(v) for k, v in self.program.serving_rows().items()}))


TAIL = """
if __name__ == "__main__":
    lab = Alone(sys.modules["__main__"]{way})
    {flow}
    begin(lab, True)
    for call in calls(lab):
        call()
"""
