"""Kinds of calls: what a program does with its Estimator, one after the other."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tensorflow as tf
from tests.fuzz.parts import FLAG, Whole, one_of, part
from tests.fuzz.runtime import write

v1 = tf.compat.v1


@part("call", weight=5, steps=Whole(3, 30), tags=("hooks", "train"))
def train(lab: Any, hooks: Any, steps: int) -> None:
    lab.train(hooks, steps=steps)


@part("call", weight=2, steps=Whole(5, 40), tags=("hooks", "train"))
def train_up_to(lab: Any, hooks: Any, steps: int) -> None:
    lab.train(hooks, max_steps=steps)


@part("call", weight=1, steps=Whole(3, 20), tags=("hooks", "train", "listeners"))
def train_and_listen(lab: Any, hooks: Any, steps: int) -> None:
    lab.train(hooks, steps=steps, saving_listeners=[Listening(lab)])  # noqa: F821


@part("call", weight=3, steps=one_of(None, 2, 4), name=one_of(None, "other"), tags=("hooks", "evaluate"))
def evaluate(lab: Any, hooks: Any, steps: Any, name: Any) -> None:
    lab.evaluate(hooks, steps=steps, name=name)


@part("call", weight=2, rows=one_of(None, 3, 7), single=one_of(True, False), tags=("hooks", "predict"))
def predict(lab: Any, hooks: Any, rows: Any, single: bool) -> None:
    lab.predict(hooks, rows, yield_single_examples=single)


@part("call", weight=0.7, tags=("predict",))
def predict_two_at_once(lab: Any) -> None:
    one, other = lab.open_predict(), lab.open_predict()
    for place, pair in enumerate(zip(one, other, strict=False)):
        lab.see("interleaved", pair)
        if place == 3:
            break
    # The last opened is the first to be closed: the original stays in its graph until then.
    other.close()
    for place, row in enumerate(one):
        lab.see("after the other closed", row)
        if place == 2:
            break
    one.close()


@part("call", weight=0.7, tags=("predict",))
def predict_while_training(lab: Any) -> None:
    rows = lab.open_predict()
    lab.see("before", next(rows))
    lab.train([], steps=2)
    lab.see("after", next(rows))
    rows.close()


@part("call", weight=1)
def values(lab: Any) -> None:
    for name in sorted(lab.est.get_variable_names()):
        lab.see(f"value/{name}", lab.est.get_variable_value(name))


@part("call", weight=0.7, tags=("export",))
def export(lab: Any) -> None:
    lab.export()


@part("call", weight=1, number=one_of("0.25", "-1.5"))
def rewrite_number(lab: Any, number: str) -> None:
    write(lab.path("number.txt"), number)


@part("call", weight=1)
def add_matched(lab: Any) -> None:
    write(lab.path(f"matched/{1 + len(os.listdir(lab.path('matched')))}.txt"), "1")


@part("call", weight=1, seed=Whole(1, 5))
def rewrite_vocabulary(lab: Any, seed: int) -> None:
    words = [f"w{number}" for number in range(8)]
    np.random.RandomState(seed).shuffle(words)
    write(lab.path("vocabulary.txt"), "".join(word + "\n" for word in words[:5]))


@part("call", weight=0.7, value=one_of(0.5, 2.0))
def change_closure(lab: Any, value: float) -> None:
    lab.closure["factor"] = value


@part("call", weight=0.5, tags=("warm",))
def warm_start_elsewhere(lab: Any) -> None:
    lab.move("warm", warm_start_from=lab.est.model_dir)


@part("call", weight=0.5, fresh=FLAG)
def another_estimator(lab: Any, fresh: bool) -> None:
    """The same program with a new object, in the same folder or in an empty one."""
    lab.move(f"fresh-{len(lab.moves)}" if fresh else None)


@part("call", weight=0.8)
def new_process(lab: Any) -> None:
    """What follows runs in another process."""
