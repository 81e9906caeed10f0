"""The names of `tf.compat.v1.estimator.tpu.experimental`, looked up on first use."""

from lightwell.base.public_names import public_page

__getattr__, __dir__, __all__ = public_page(__name__, "v1", "tpu.experimental")
