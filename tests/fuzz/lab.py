"""Where a program runs: its folder, its Estimator, and a record of everything that can be seen of it.

Owns `Lab`, which programs are given. Runs on TensorFlow 2.15.1 and on today's alike; the way in which Lightwell runs
(`way`) is chosen here, so that programs know nothing of it.
"""

from __future__ import annotations

import base64
import glob
import logging
import os
import re
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
_RATES = ("global_step/sec", "steps/sec", "examples/sec")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: arrays with their type, shape and bits.

    Kept to what both versions of NumPy write alike.
    """
    if isinstance(value, dict):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("latin1")
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return {"text": [plain(item) for item in array.ravel().tolist()], "shape": list(array.shape)}
    bits = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "bits": bits}


class _Lines(logging.Handler):
    """Log lines that tell values: their numbers are kept, their times are not."""

    def __init__(self, lab: Lab) -> None:
        super().__init__(logging.INFO)
        self.lab = lab

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("Steps run one by one"):
            self.lab.notes.append(text)
        if text.startswith("Warm-started"):  # Lightwell's own report, with names of variables in it
            return
        if "seen_" in text or re.match(r"(loss = |Loss for final step|Saving dict)", text):
            text = re.sub(r" \([\d.]+ sec\)", "", text).replace(self.lab.folder, "FOLDER")
            # The step in this line is read beside the step itself: the original tells the one before or the one after.
            text = re.sub(r"^(loss = .*), step = \d+", r"\1", text)
            self.lab.see("log", re.sub(r"\s+(?=\])|(?<=\[)\s+", "", re.sub(r"\s+", " ", text)))


class Lab:
    """What a program is given.

    Attributes:
        folder: everything the program writes is in it.
        way: how Lightwell runs it; `original` for tf.estimator.
        closure: what the program's functions close over and later calls may change.
        est: the Estimator at hand.
    """

    def __init__(self, folder: str, way: str, lw: Any = None) -> None:
        self.folder, self.way, self.lw = folder, way, lw
        self.records: list[Any] = []
        self.notes: list[str] = []  # told at the end, not compared
        self.closure: dict[str, Any] = {"factor": 1.0}
        self.moves: list[Any] = []
        self.skips: tuple[str, ...] = ()
        self._known: set[str] = set()
        self._est: Any = None
        self.program: Any = None

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def see(self, label: str, value: Any) -> None:
        """Keeps a value of the run, in the order of what happens."""
        self.records.append([label, plain(value)])

    # The Estimator, and the way in which it runs.

    def config(self, **settings: Any) -> Any:
        exact = settings.pop("exact", False)
        if exact:
            session = v1.ConfigProto()
            session.graph_options.rewrite_options.remapping = session.graph_options.rewrite_options.OFF
            settings["session_config"] = session
        if self.way == "single":
            settings["fuse_steps"] = False
        elif self.way == "compiled":
            settings["jit_compile"] = True
        elif self.way in ("mirrored", "original-mirrored"):
            settings["train_distribute"] = tf.distribute.MirroredStrategy(["/cpu:0"])
        return tf.estimator.RunConfig(**settings)

    def move(self, folder: str | None, **settings: Any) -> None:
        """Another Estimator from here on."""
        self.moves.append(folder)
        self._made = (folder or getattr(self, "_made", ("model_dir",))[0], settings)
        self._est = None

    @property
    def est(self) -> Any:
        if self._est is None or self.way == "fresh":
            folder, settings = getattr(self, "_made", ("model_dir", {}))
            self._est = self.program.estimator(self, self.path(folder), **settings)
        return self._est

    def _looks(self, mode: str) -> dict[str, Any]:
        """What a way adds to the arguments of a verb."""
        if self.way == "edited":
            return {"edits": [self.lw.scale("layers/*", 1.0)]}
        return {}

    def _hooks(self, hooks: Any, mode: str) -> Any:
        if self.way == "watched":
            paths = ["predictions/*", *([] if self.program.CANNED else ["layers/*"])]
            paths += ["loss"] if mode != "predict" else []
            paths += ["gradients/weights/*", "updates/weights/*"] if mode == "train" else []
            return [*hooks, self.lw.Watch(*paths, every=3, do=lambda step: None)]
        return hooks

    def train(self, hooks: Any, **settings: Any) -> None:
        hooks = self._hooks([*self.program.SETTLED, *hooks], "train")
        self.est.train(self.program.train_input, hooks, **settings, **self._looks("train"))

    def evaluate(self, hooks: Any, **settings: Any) -> None:
        hooks = self._hooks(hooks, "evaluate")
        found = self.est.evaluate(self.program.eval_input, hooks=hooks, **settings, **self._looks("evaluate"))
        self.see("evaluated", dict(found))  # its numbers, by name

    def open_predict(self, hooks: Any = (), **settings: Any) -> Any:
        hooks = self._hooks(list(hooks), "predict")
        return self.est.predict(self.program.predict_input, hooks=hooks, **settings, **self._looks("predict"))

    def predict(self, hooks: Any, rows: int | None, **settings: Any) -> None:
        generator = self.open_predict(hooks, **settings)
        for place, row in enumerate(generator):
            self.see("row", row)
            if rows is not None and place + 1 >= rows:
                break
        generator.close()

    def export(self) -> None:
        receiver = self.program.serving
        folder = self.est.export_saved_model(self.path("export"), receiver)
        loaded = tf.saved_model.load(folder.decode() if isinstance(folder, bytes) else folder)
        for name in sorted(loaded.signatures):
            given = loaded.signatures[name](**{k: tf.constant(v) for k, v in self.program.serving_rows().items()})
            self.see(f"exported/{name}", {key: value.numpy() for key, value in given.items()})

    # What a call left behind.

    def look_around(self) -> None:
        """Keeps checkpoints and their values as they are now."""
        for index in sorted(glob.glob(self.path("**/*.index"), recursive=True)):
            if "/export/" in index or "/variables/" in index:
                continue
            name = os.path.relpath(index, self.folder)[: -len(".index")]
            self.see("checkpoint", name)
            if name not in self._known:
                self._known.add(name)
                self.see(f"weights of {name}", self._weights(index[: -len(".index")]))
        for state in sorted(glob.glob(self.path("**/checkpoint"), recursive=True)):
            folder = os.path.dirname(state)
            held = tf.train.get_checkpoint_state(folder)
            listed = [] if held is None else [os.path.basename(path) for path in held.all_model_checkpoint_paths]
            self.see(f"state of {os.path.relpath(folder, self.folder)}", listed)

    def _weights(self, prefix: str) -> dict[str, Any]:
        reader = tf.train.load_checkpoint(prefix)
        return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}

    def events(self) -> dict[str, Any]:
        """What event files tell, by folder, tag and step."""
        v1.summary.FileWriterCache.clear()  # what the original still holds is written
        found: dict[str, Any] = {}
        for path in sorted(glob.glob(self.path("**/events.out.*"), recursive=True)):
            where = os.path.relpath(os.path.dirname(path), self.folder)
            where = where.replace("eval_edited", "eval")  # an edited model is evaluated beside the official results
            for event in v1.train.summary_iterator(path):
                for value in event.summary.value:
                    if value.tag not in _RATES:
                        found.setdefault(f"{where}:{value.tag}", []).append([event.step, _told(value)])
        return found


def _told(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return plain(np.float32(value.simple_value))
    if kind == "histo":
        return plain([np.float32(value.histo.min), np.float32(value.histo.max), np.float32(value.histo.num)])
    if kind == "tensor":
        made = tf.make_ndarray(value.tensor)
        # The path of a checkpoint: folders of runs differ.
        return os.path.basename(made.item()).decode() if made.dtype.kind in "OSU" and made.size == 1 else plain(made)
    return kind
