"""A program as plain data, and how one is drawn from a seed."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import asdict, dataclass, field
from typing import Any

# These fill the table of parts.
import tests.fuzz.blocks
import tests.fuzz.calls
import tests.fuzz.canned
import tests.fuzz.flow
import tests.fuzz.hooks
import tests.fuzz.inputs
import tests.fuzz.metrics
import tests.fuzz.more_blocks
import tests.fuzz.training  # noqa: F401
from tests.fuzz.parts import Kind, Part, kinds

EXTRAS = ("ids", "word", "seq", "bag")


@dataclass(frozen=True)
class Call:
    """A call with the hooks that it is given."""

    what: Part
    hooks: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A program.

    Attributes:
        seed: what it was drawn from.
        data: rows, width, seed and further features of its data.
        config: settings of `RunConfig`, and `exact`: no remapping of ops.
        control_flow_v2: whether conditionals and loops are functional.
        repeat: how often the training data come; -1 for without end.
        source: where the rows are from.
        stages: what is done with them.
        batches: how they become batches.
        handed: how `input_fn` hands them over.
        blocks: what the model is made of.
        loss: its loss.
        rate: its learning rate.
        optimizer: its optimizer.
        step: how a step is made of these.
        metrics: what an evaluation computes.
        canned: a ready-made model in the place of blocks, loss and optimizer; or none.
        hooks: hooks of its `EstimatorSpec`, by the mode.
        calls: what is done with it.
    """

    seed: int
    data: dict[str, Any]
    config: dict[str, Any]
    control_flow_v2: bool
    repeat: int
    source: Part
    stages: tuple[Part, ...]
    batches: Part
    handed: Part
    blocks: tuple[Part, ...]
    loss: Part
    rate: Part
    optimizer: Part
    step: Part
    metrics: tuple[Part, ...]
    canned: tuple[Part, ...] = ()
    hooks: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()

    def parts(self) -> list[Part]:
        """All parts of it."""
        found = [self.source, *self.stages, self.batches, self.handed, *self.canned]
        if not self.canned:
            found += [*self.blocks, self.loss, self.rate, self.optimizer, self.step, *self.metrics]
        for mode in sorted(self.hooks):
            found += self.hooks[mode]
        for call in self.calls:
            found += [call.what, *call.hooks]
        return found

    def tags(self) -> set[str]:
        return {tag for one in self.parts() for tag in one.what.tags}

    def names(self) -> list[str]:
        """Tensors that hooks may look at."""
        if self.canned:
            return []
        found = ["seen_loss:0", "seen_h:0"]
        for one in (*self.blocks, self.rate):
            found += [name for name in one.what.names if name not in found]
        return found

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def digest(self) -> str:
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]


def _part(given: Any) -> Part:
    return Part(given["family"], given["kind"], given["args"])


def from_json(text: str) -> Spec:
    given = json.loads(text)
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name == "calls":
            made[name] = tuple(Call(_part(c["what"]), tuple(map(_part, c["hooks"]))) for c in value)
        elif name == "hooks":
            made[name] = {mode: tuple(map(_part, found)) for mode, found in value.items()}
        elif isinstance(value, dict) and "family" in value:
            made[name] = _part(value)
        elif isinstance(value, list):
            made[name] = tuple(map(_part, value))
        else:
            made[name] = value
    return Spec(**made)


def _pick(rng: random.Random, found: list[Kind]) -> Kind:
    return rng.choices(found, [kind.weight for kind in found])[0]


def _some(rng: random.Random, family: str, most: int, allowed: Any = lambda kind: True) -> tuple[Part, ...]:
    found = [kind for kind in kinds(family) if allowed(kind)]
    return tuple(_pick(rng, found).drawn(rng) for _ in range(rng.randint(0, most)))


def _one(rng: random.Random, family: str) -> Part:
    return _pick(rng, kinds(family)).drawn(rng)


def _once(parts: tuple[Part, ...], which: Any) -> tuple[Part, ...]:
    """Without repetitions of kinds that can stand in a model once."""
    seen: set[str] = set()
    kept = []
    for one in parts:
        if which(one) and one.kind in seen:
            continue
        seen.add(one.kind)
        kept.append(one)
    return tuple(kept)


# Hooks that look at no tensor of the model by its name.
_OF_ANY_MODEL = ("reading", "stopping", "changing", "step_counter", "stop_after", "stop_at", "saver", "step_waiter")


def _hooks(rng: random.Random, mode: str, names: list[str], in_model: bool) -> tuple[Part, ...]:
    def allowed(kind: Kind) -> bool:
        return (
            ("train" not in kind.tags or mode == "train")
            and ("model" not in kind.tags or in_model)
            and ("keep" not in kind.tags or "keep:0" in names)
            and (bool(names) or kind.name in _OF_ANY_MODEL)
        )

    if mode == "predict":
        names = [name for name in names if name not in ("seen_loss:0", "learning_rate:0")]
    found = []
    for one in _some(rng, "hook", 3 if not in_model else 1, allowed):
        args = dict(one.args)
        for name in ("tensor", "fetch"):
            if name in args:
                # What is special about a model is what a hook should look at.
                chosen = rng.choice(names[-2:] if rng.random() < 0.6 else names)
                args[name] = chosen if name == "fetch" else chosen.split(":")[0]
        if one.kind in ("nan_guard",) and mode == "predict":
            continue
        found.append(Part("hook", one.kind, args))
    return _once(tuple(found), lambda one: True)


def draw(seed: int) -> Spec:
    """The program of a seed."""
    rng = random.Random(seed)
    extras = [name for name in EXTRAS if rng.random() < 0.5]
    data = {
        "rows": rng.randint(9, 40),
        "width": rng.randint(2, 4),
        "seed": rng.randint(1, 999),
        "extras": extras,
    }
    handed = _one(rng, "handed")
    if handed.kind == "bare_features":
        data["extras"] = extras = []

    def fits(kind: Kind) -> bool:
        return kind.needs <= set(extras)

    blocks = tuple(_pick(rng, [k for k in kinds("block") if fits(k)]).drawn(rng) for _ in range(rng.randint(1, 5)))
    blocks = _once(blocks, lambda one: bool(one.what.names) or one.kind in ("moving_average",))
    rate = _one(rng, "rate")
    config: dict[str, Any] = {
        "tf_random_seed": rng.choice([1, 7, 42]),
        "save_summary_steps": rng.choice([1, 3, 5, 100]),
        "save_checkpoints_steps": rng.choices([None, 2, 5, 7, 1000], [1, 4, 4, 4, 4])[0],
        "keep_checkpoint_max": rng.choice([5, 2, 1, 0]),
        "log_step_count_steps": rng.choice([None, 1, 4, 100]),
        "exact": rng.random() < 0.5,
    }
    spec = Spec(
        seed=seed,
        data=data,
        config=config,
        control_flow_v2=rng.random() < 0.7,
        repeat=rng.choice([-1, -1, -1, 1, 3]),
        source=_one(rng, "source"),
        stages=_once(_some(rng, "stage", 3), lambda one: True),
        batches=_one(rng, "batches"),
        handed=handed,
        blocks=blocks,
        loss=_one(rng, "loss"),
        rate=rate,
        optimizer=_one(rng, "optimizer"),
        step=_one(rng, "step"),
        metrics=_once(_some(rng, "metric", 3), lambda one: True),
    )
    if rng.random() < 0.15:
        spec = _with_a_canned_model(rng, spec)
    names = spec.names()
    modes = {mode: _hooks(rng, mode, names, True) for mode in ("train", "evaluate", "predict") if rng.random() < 0.25}
    if spec.canned:
        modes = {}
    has = {part.kind for part in spec.blocks} | {tag for part in spec.blocks for tag in part.what.tags}
    calls = _calls(rng, names, has | ({"vocabulary"} if spec.canned and "word" in extras else set()))
    if "endless" in handed.what.tags:
        calls = tuple(_bounded(call) for call in calls)
    return Spec(**{**vars(spec), "hooks": {mode: found for mode, found in modes.items() if found}, "calls": calls})


def _bounded(call: Call) -> Call:
    """A call that ends by itself although its input does not."""
    most = {"steps": 3, "rows": 5}
    args = {name: most.get(name, value) if value is None else value for name, value in call.what.args.items()}
    return Call(Part(call.what.family, call.what.kind, args), call.hooks)


def _with_a_canned_model(rng: random.Random, spec: Spec) -> Spec:
    canned = _one(rng, "canned")
    given: dict[str, Any] = {**vars(spec), "canned": (canned,), "blocks": (), "metrics": ()}
    given["data"] = {**spec.data, "classes": "classes" in canned.what.tags}
    if "bare" in spec.handed.what.tags or spec.handed.kind == "dict_labels":
        given["handed"] = Part("handed", "as_dataset")
    if spec.source.kind in ("generated", "records", "text_lines"):
        given["source"] = Part("source", "slices")
    given["stages"] = tuple(stage for stage in spec.stages if stage.kind != "conditional")
    return Spec(**given)


# Calls that change a file: which blocks, by kind or tag, would see it.
_CHANGES = {"rewrite_number": "read_a_file", "add_matched": "match_files", "rewrite_vocabulary": "vocabulary"}


def _calls(rng: random.Random, names: list[str], has: set[str]) -> tuple[Call, ...]:
    def call(kind: Kind) -> Call:
        mode = next((mode for mode in ("train", "evaluate", "predict") if mode in kind.tags), "")
        given = _hooks(rng, mode, names, False) if "hooks" in kind.tags else ()
        return Call(kind.drawn(rng), given)

    by_name = {kind.name: kind for kind in kinds("call")}
    found = [call(by_name[rng.choice(["train", "train", "train_up_to", "train_and_listen"])])]
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        found.append(call(_pick(rng, [kind for kind in kinds("call") if kind.name not in _CHANGES])))
    for name, of in _CHANGES.items():
        if of in has and rng.random() < 0.7:
            # The same call before and after the change: a session that is used again must see it.
            again = call(by_name[rng.choice(["train", "evaluate", "predict"])])
            again = again if rng.random() < 0.3 else Call(again.what)
            found += [again, call(by_name[name]), again]
    # A change is seen by a call after it.
    if not found[-1].what.what.tags & {"train", "evaluate", "predict", "export"}:
        found.append(call(by_name[rng.choice(["train", "evaluate", "predict"])]))
    return tuple(found)
