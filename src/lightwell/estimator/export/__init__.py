"""The names of `tf.estimator.export`, looked up on first use; beside this page, what writes SavedModels."""

from lightwell.base.public_names import public_page

__getattr__, __dir__, __all__ = public_page(__name__, "v2", "export")
