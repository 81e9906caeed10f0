"""`est.predictor()`: a warm, thread-safe handle on a trained model, with taps. Takes arrays, gives arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from lightwell.engine.fetches import Fetches
from lightwell.engine.held import HeldSession
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan
from lightwell.errors import UsageError
from lightwell.sight.fed_inputs import Feeder
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import Request, as_list, key_of, make_request
from lightwell.sight.select import Selection

_MOST_KEPT = 64


class Predictor:
    """Predicts for arrays at hand, again and again, without building or loading anything anew.

    Use it as a function, from any number of threads: `p({"x": batch}, taps=["layers/dense"])`. It is a context manager;
    `close()` frees its session.

    Args:
        program: a prediction program whose inputs are placeholders.
        feeds: the structure of tensors that a call's input is fed to.
        plan: how to open its session.
    """

    def __init__(self, program: Program, feeds: Any, plan: SessionPlan) -> None:
        self._program = program
        self._feeder = Feeder(feeds)
        self._plan = plan
        self._requests: dict[Any, tuple[Request | None, Fetches]] = {}
        self._held = HeldSession(program, plan)

    def __call__(
        self,
        features: Any,
        taps: Sequence[Selection | Reduction] | str | None = None,
        predict_keys: Sequence[str] | str | None = None,
    ) -> Any:
        """Predicts for one batch.

        Args:
            features: arrays in the structure of the model's input: a dict, or one array.
            taps: paths to read beside the predictions.
            predict_keys: which predictions to compute; `[]` with taps for none.

        Returns:
            A dict of arrays, predictions by key and taps by path; one array where predictions are a single tensor and
            there are no taps.
        """
        chosen = (predict_keys,) if isinstance(predict_keys, str) else predict_keys
        key = (key_of(taps), None if chosen is None else tuple(chosen))
        ready = self._requests.get(key)
        if ready is None:
            ready = self._make_ready(taps, chosen)
            if len(self._requests) < _MOST_KEPT:  # a caller may make up new taps for each call
                self._requests[key] = ready
        request, fetches = ready
        fetched = self._held.run(fetches, self._feeder.tensors, self._feeder.arrays(features))
        predictions = fetched["predictions"]
        if request is None:
            return predictions
        named = predictions if isinstance(predictions, Mapping) else {"predictions": predictions}
        return {**named, **request.values(fetched["taps"])}

    def refresh(self) -> bool:
        """Takes up a newer checkpoint, or one written anew, if there is one; calls under way finish with the old
        weights."""
        return self._held.renew()

    def close(self) -> None:
        """Frees the session; calls under way finish first."""
        self._held.close()

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at interpreter exit, half of the world may be gone
            self.close()

    def __repr__(self) -> str:
        return f"<predictor of {self._plan.find_checkpoint()}, input {self._feeder}>"

    def _make_ready(self, taps: Any, predict_keys: Any) -> tuple[Request | None, Fetches]:
        predictions = self._program.spec.predictions
        if predict_keys is not None:
            if not isinstance(predictions, Mapping):
                raise UsageError("predictor: the model's predictions are a single tensor; predict_keys cannot be used.")
            unknown = [name for name in predict_keys if name not in predictions]
            if unknown:
                raise UsageError(f"predictor: no predictions {unknown}; the model has {sorted(predictions)}.")
            predictions = {name: predictions[name] for name in predict_keys}
        if taps is None:
            return None, Fetches(self._program.graph, {"predictions": predictions})
        request = make_request(self._program, as_list(taps), "predictor(taps=...)", as_taps=True)
        wanted = {"predictions": predictions, "taps": dict(request.fetches)}
        return request, Fetches(self._program.graph, wanted)
