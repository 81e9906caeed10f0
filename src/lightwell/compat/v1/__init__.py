"""The v1 face: `lightwell.compat.v1.estimator` is what `tf.compat.v1.estimator` was."""

from lightwell.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "estimator": "lightwell.compat.v1.estimator",
        "layers": "lightwell.layers",
        "rnn_cell": "lightwell.rnn_cell",
    },
)
