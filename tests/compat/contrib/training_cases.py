"""Cases of `tf.contrib.training`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.compat.contrib.same import inputs

v1 = tf.compat.v1

PARSED = [
    "learning_rate=0.5",
    "learning_rate=3",
    "num_layers=4",
    "num_layers=4.0",
    "num_layers=1e2",
    "num_layers=4.5",
    "name=wide,num_layers=2",
    "name=a b c",
    "name=",
    "flag=true",
    "flag=False",
    "flag=1",
    "flag=0",
    "flag=yes",
    "sizes=[5,6,7]",
    "sizes=[]",
    "sizes[1]=9",
    "sizes=3",
    "rates=[0.5,1]",
    "names=[x,y z]",
    "names=[a,b],num_layers=3,name=q",
    "unknown=3",
    "num_layers=[1,2]",
    "num_layers=1,num_layers=2",
    "num_layers",
    "num_layers=abc",
    " num_layers = 3 , name = x ",
    "learning_rate=1e-4",
    "learning_rate=-0.5",
    "learning_rate=nan_not",
    "",
    "name=path/to-file.txt",
    "none=3",
    "none=text",
    "name=1",
    "name=[a]",
    "flags=[true,0]",
    "sizes[0]=1,sizes[2]=3",
    "sizes[a]=1",
    "num_layers=3;name=x",
    "num_layers = 3",
    "num_layers=3, name=x ",
    "name= x ,num_layers= 4 ",
    "name =x",
    "sizes=[1, 2]",
    "sizes=[ 1 2 ]",
    "sizes = [1]",
    "learning_rate=.5,",
    "name=a,,num_layers=3",
    "flag=TRUE",
    "flag= true",
    "names=[]",
    "names=[a,,b]",
    "num_layers=-3",
    "num_layers=+3",
    "num_layers= 7",
    "1name=3",
    "_x=3",
    "a.b=3",
    "learning_rate=1.,name=x=y",
]
SET = [
    ("num_layers", 3.0),
    ("num_layers", "5"),
    ("num_layers", 5.5),
    ("num_layers", True),
    ("learning_rate", 1),
    ("learning_rate", "0.25"),
    ("learning_rate", None),
    ("name", 3),
    ("name", None),
    ("flag", 1),
    ("flag", "true"),
    ("flag", "False"),
    ("sizes", (4, 5)),
    ("sizes", [1.5]),
    ("sizes", 4),
    ("num_layers", [1]),
    ("none", 7),
    ("none", [1, 2]),
    ("absent", 1),
]


def _set(params: Any, name: str, value: Any) -> Any:
    params.set_hparam(name, value)
    return params.values()


def _attempt(action: Callable[..., Any], *given: Any) -> Any:
    try:
        return action(*given)
    except Exception as error:
        return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def _params(contrib: Any) -> Any:
    return contrib.training.HParams(
        learning_rate=0.1,
        num_layers=2,
        name="model",
        flag=True,
        sizes=[1, 2, 3],
        rates=[0.1, 0.2],
        names=["p", "q"],
        flags=[True, False],
        none=None,
    )


def facts(contrib: Any) -> Any:
    """What HParams reads, keeps and refuses."""
    parsed = {text: _attempt(_params(contrib).parse, text) for text in PARSED}
    put = [_attempt(_set, _params(contrib), name, value) for name, value in SET]
    params = _params(contrib)
    return {
        "parsed": {text: getattr(given, "values", lambda given=given: given)() for text, given in parsed.items()},
        "set": put,
        "repr": str(params),
        "json": params.to_json(),
        "json_indented": params.to_json(indent=2, separators=(", ", ": "), sort_keys=True),
        "get": [params.get("name"), params.get("absent"), params.get("num_layers", 7), params.get("sizes", [1])],
        "get_wrong": _attempt(lambda: params.get("num_layers", "text")),
        "contains": ["name" in params, "absent" in params],
        "override": _attempt(lambda: params.override_from_dict({"num_layers": 9, "name": "z"}).values()),
        "override_absent": _attempt(lambda: params.override_from_dict({"absent": 9})),
        "parse_json": _attempt(lambda: params.parse_json('{"num_layers": 11, "sizes": [1]}').values()),
        "add_twice": _attempt(lambda: params.add_hparam("name", 1)),
        "add_method": _attempt(lambda: params.add_hparam("values", 1)),
        "add_empty_list": _attempt(lambda: params.add_hparam("empty", [])),
        "deleted": _attempt(lambda: (params.del_hparam("name"), params.values())[1]),
        "structure": _attempt(lambda: (params.set_model_structure("s"), params.get_model_structure())[1]),
        "with_callable": _with_callable(contrib),
        "parse_values": _attempt(
            lambda: contrib.training.parse_values("a=1,b[2]=x,c=[1.5,2]", {"a": int, "b": str, "c": float})
        ),
        "parse_values_unknown": _attempt(
            lambda: contrib.training.parse_values("a=1,z=2", {"a": int}, ignore_unknown=True)
        ),
        "tuple": contrib.training.HParams(sizes=(1, 2)).values(),
        "attributes": _attributes(contrib),
        "servers": _servers(contrib),
    }


def _servers(contrib: Any) -> Any:
    greedy = contrib.training.GreedyLoadBalancingStrategy(3, contrib.training.byte_size_load_fn)
    with tf.Graph().as_default():
        shapes = ([100], [10], [20, 2], [3], [], [50])
        operations = [v1.get_variable(f"v{place}", shape).op for place, shape in enumerate(shapes)]
        return [greedy(one) for one in operations]


def _attributes(contrib: Any) -> Any:
    params = contrib.training.HParams(depth=1)
    params.depth = 3
    params.extra = 4
    return [params.values(), params.depth, params.get("depth"), json.loads(params.to_json())]


def _with_callable(contrib: Any) -> Any:
    params = contrib.training.HParams(act=np.tanh, n=1)
    return [
        "act" in params.values(),
        _attempt(params.to_json) in ("TypeError",),
        params.get("n"),
    ]


def gradients(contrib: Any) -> Any:
    x = tf.constant(inputs(4, 3))
    weights = v1.get_variable("w", [3, 2])
    bias = v1.get_variable("b", [2])
    loss = tf.reduce_sum(tf.square(tf.matmul(x, weights) + bias))
    step = v1.train.get_or_create_global_step()
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = contrib.training.create_train_op(
        loss, optimizer, transform_grads_fn=contrib.training.clip_gradient_norms_fn(0.5)
    )
    multiplied = contrib.training.multiply_gradients([(tf.constant([1.0, 2.0]), bias)], {bias: 3.0})
    clipped = contrib.training.clip_gradient_norms([(tf.constant([3.0, 4.0]), weights), (None, bias)], 1.0)
    return {
        "multiplied": multiplied[0][0],
        "clipped": clipped[0][0],
        "losses": [train_op] * 4,
        "step": step,
        "weights": weights + 0,
        "in_collection": tf.constant(v1.get_collection(v1.GraphKeys.TRAIN_OP)[-1] is train_op),
    }


CASES = {"gradients": gradients}
