"""`tf.contrib.learn.SKCompat`: an Estimator with the verbs of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from lightwell.compat.contrib.learn.estimators.base import BaseEstimator
from lightwell.run.inputs.numpy_input_fn import numpy_input_fn


class SKCompat:
    """Fits and predicts with arrays.

    Args:
        estimator: an Estimator, of `tf.contrib.learn` or of `tf.estimator`.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> SKCompat:
        """Trains on arrays."""
        if isinstance(self._estimator, BaseEstimator):
            self._estimator.fit(x, y, None, steps, batch_size, monitors, max_steps)
            return self
        given = numpy_input_fn(x, y, batch_size, None, shuffle=True)
        self._estimator.train(given, steps=steps, max_steps=max_steps, hooks=monitors)
        return self

    def score(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None, metrics: Any = None, name: Any = None
    ) -> Any:
        """Evaluates on arrays."""
        if isinstance(self._estimator, BaseEstimator):
            return self._estimator.evaluate(x, y, None, None, batch_size, steps, metrics, name)
        return self._estimator.evaluate(numpy_input_fn(x, y, batch_size, 1, shuffle=False), steps=steps, name=name)

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """Predictions for arrays: an array for each key, or one."""
        if isinstance(self._estimator, BaseEstimator):
            return self._estimator.predict(x, None, batch_size, outputs, as_iterable=False)
        rows = list(
            self._estimator.predict(numpy_input_fn(x, None, batch_size, 1, shuffle=False), predict_keys=outputs)
        )
        if rows and not isinstance(rows[0], dict):
            return np.stack(rows)
        return {key: np.stack([row[key] for row in rows]) for key in (rows[0] if rows else {})}
