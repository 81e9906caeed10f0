"""`est.predictor()`: a warm, thread-safe handle on a trained model, with taps and edits. Takes arrays, gives arrays."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.request import TapRequest, as_list, key_of, make_request
from lightwell.inside.paths.select import Selection
from lightwell.inside.watches.fed_inputs import Feeder
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.pinned_session import PinnedSession
from lightwell.run.engine.program import Program
from lightwell.run.engine.session import SessionPlan

_MOST_KEPT = 64
_MOST_EDITED = 8


class Edited(Protocol):
    """A program with edits in it."""

    program: Program
    feeds: Any
    tensors: list[Any]
    counts: dict[str, Any]

    def arrays(self, edits: Sequence[Any], batch: int | None) -> list[Any]:
        """What to feed for the edits of a call."""

    def tell(self, edits: Sequence[Any], counts: dict[str, Any]) -> None:
        """Says so where an edit changed nothing."""


class EditedProgramSource(Protocol):
    """Makes programs with edits in them."""

    def checked(self, edits: Any) -> tuple[Any, ...]:
        """The edits of a call; each has a `form`."""

    def program(self, edits: Sequence[Any]) -> Edited:
        """A program for edits of these forms."""


class Predictor:
    """Predicts for arrays, repeatedly, without building or loading again.

    Use it as a function, from any number of threads: `p({"x": batch}, taps=["layers/dense"])`. It is a context manager;
    `close()` frees its session.

    Args:
        program: a prediction program whose inputs are placeholders.
        feeds: the structure of tensors that a call's input is fed to.
        plan: how to open its session.
        editing: makes programs with edits in them.

    Attributes:
        program: the prediction program.
        feeds: its placeholders.
    """

    def __init__(self, program: Program, feeds: Any, plan: SessionPlan, editing: EditedProgramSource) -> None:
        self.program, self.feeds = program, feeds
        self._plan = plan
        self._editing = editing
        self._plain = _Handle(program, feeds, plan)
        self._edited: OrderedDict[Any, tuple[_Handle, Edited]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(
        self,
        features: Any,
        taps: Sequence[Selection | Reduction] | str | None = None,
        predict_keys: Sequence[str] | str | None = None,
        edits: Sequence[Any] | None = None,
    ) -> Any:
        """Predicts for one batch.

        Args:
            features: arrays in the structure of the model's input: a dict, or one array.
            taps: paths to read beside the predictions.
            predict_keys: which predictions to compute; `[]` with taps for none.
            edits: changes of values on their way: `[lw.zero("layers/dense", unit=3)]`. The first call with edits of a
                form builds a program for it; after that units, factors and arrays may be others with each call.

        Returns:
            A dict of arrays, predictions by key and taps by path; one array where predictions are a single tensor and
            there are no taps.
        """
        chosen = (predict_keys,) if isinstance(predict_keys, str) else predict_keys
        edit_list = self._editing.checked(edits)
        if not edit_list:
            return self._plain.run(features, taps, chosen)
        handle, edited = self._for_edits(edit_list)
        return handle.run(features, taps, chosen, edited, edit_list)

    def refresh(self) -> bool:
        """Takes up a newer checkpoint, or one written anew, if there is one; calls under way finish with the old
        weights."""
        with self._lock:
            others = [handle for handle, _ in self._edited.values()]
        renewed = [one.session.renew() for one in (self._plain, *others)]  # all of them
        return any(renewed)

    def close(self) -> None:
        """Frees the session; calls under way finish first."""
        self._plain.session.close()
        with self._lock:
            others, self._edited = list(self._edited.values()), OrderedDict()
        for handle, _ in others:
            handle.session.close()

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at interpreter exit, half of the world may be gone
            self.close()

    def __repr__(self) -> str:
        return f"<predictor of {self._plan.find_checkpoint()}, input {self._plain.feeder}>"

    def _for_edits(self, edits: Sequence[Any]) -> tuple[_Handle, Edited]:
        """The program for edits of these forms; the one unused for longest makes room."""
        form = tuple(edit.form for edit in edits)
        with self._lock:
            self._plain.session.check_open()
            entry = self._edited.get(form)
            if entry is None:
                edited = self._editing.program(edits)
                entry = self._edited[form] = (_Handle(edited.program, edited.feeds, self._plan), edited)
            self._edited.move_to_end(form)
            surplus = self._edited.popitem(last=False)[1][0] if len(self._edited) > _MOST_EDITED else None
        if surplus is not None:
            surplus.session.close()
        return entry


class _Handle:
    """One program of a predictor, with its session."""

    def __init__(self, program: Program, feeds: Any, plan: SessionPlan) -> None:
        self._program = program
        self.feeder = Feeder(feeds)
        self._requests: dict[Any, tuple[TapRequest | None, Fetches]] = {}
        self._told: set[str] = set()
        self.session = PinnedSession(program, plan)

    def run(
        self, features: Any, taps: Any, predict_keys: Any, edited: Edited | None = None, edits: Sequence[Any] = ()
    ) -> Any:
        """Predicts for one batch."""
        fed, values = self.feeder.tensors, self.feeder.arrays(features)
        counts: dict[str, Any] = {}
        if edited is not None:
            batch = next((len(array) for array in values if np.ndim(array)), None)
            fed, values = [*fed, *edited.tensors], [*values, *edited.arrays(edits, batch)]
            counts = self._counts(edited, edits)
        request, fetches = self._ready(taps, predict_keys, counts)
        fetched = self.session.run(fetches, fed, values)
        if edited is not None and counts:
            edited.tell(edits, fetched["counts"])
        predictions = fetched["predictions"]
        if request is None:
            return predictions
        named = predictions if isinstance(predictions, Mapping) else {"predictions": predictions}
        return {**named, **request.values(fetched["taps"])}

    def _counts(self, edited: Edited, edits: Sequence[Any]) -> dict[str, Any]:
        """What edits change is looked at once for each."""
        name = repr(edits)
        if name in self._told or len(self._told) >= _MOST_KEPT:
            return {}
        self._told.add(name)
        return edited.counts

    def _ready(self, taps: Any, predict_keys: Any, counts: dict[str, Any]) -> tuple[TapRequest | None, Fetches]:
        key = (key_of(taps), None if predict_keys is None else tuple(predict_keys), bool(counts))
        ready = self._requests.get(key)
        if ready is None:
            ready = self._make_ready(taps, predict_keys, counts)
            if len(self._requests) < _MOST_KEPT:  # a caller may make up new taps for each call
                self._requests[key] = ready
        return ready

    def _make_ready(self, taps: Any, predict_keys: Any, counts: dict[str, Any]) -> tuple[TapRequest | None, Fetches]:
        predictions = self._program.spec.predictions
        if predict_keys is not None:
            if not isinstance(predictions, Mapping):
                raise UsageError("predictor: the model's predictions are a single tensor; predict_keys cannot be used.")
            unknown = [name for name in predict_keys if name not in predictions]
            if unknown:
                raise UsageError(f"predictor: no predictions {unknown}; the model has {sorted(predictions)}.")
            predictions = {name: predictions[name] for name in predict_keys}
        fetches = {"predictions": predictions, "counts": counts}
        if taps is None:
            return None, Fetches(self._program.graph, fetches)
        request = make_request(self._program, as_list(taps), "predictor(taps=...)", as_taps=True)
        return request, Fetches(self._program.graph, {**fetches, "taps": dict(request.fetches)})
