import common.options
import tensorflow as tf

DEFAULTS = {"units": 4, "activation": "tanh"}
_MODELS = {}


def register(name):
    def decorator(fn):
        _MODELS[name] = fn
        return fn
    return decorator


def get(name):
    return _MODELS[name]


def options():
    return tf.estimator.RunConfig(tf_random_seed=1), common.options.defaults()
