"""Every call is written into the book of its graph, under the name its variables have."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.model.layers.record import LayerBook, recording

v1 = tf.compat.v1


def lines(book: LayerBook) -> list[tuple[str, int, str]]:
    return [(call.name, call.call, call.kind) for call in book]


def test_a_small_network() -> None:
    with recording(LayerBook()) as book:
        x = tf.ones([2, 6, 6, 1])
        with v1.variable_scope("block"):
            x = layers.conv2d(x, 3, 3)
            x = layers.max_pooling2d(x, 2, 2)
        x = layers.batch_normalization(x)
        x = layers.dropout(layers.flatten(x), name="drop")
        logits = layers.dense(layers.dense(x, 4), 2)
    layers.dense(x, 2)
    assert lines(book) == [
        ("block/conv2d", 0, "Conv2D"),
        ("block/max_pooling2d", 0, "MaxPooling2D"),
        ("batch_normalization", 0, "BatchNormalization"),
        ("flatten", 0, "Flatten"),
        ("drop", 0, "Dropout"),
        ("dense", 0, "Dense"),
        ("dense_1", 0, "Dense"),
    ]
    last = book.calls[-1]
    assert last.outputs is logits
    assert last.inputs is book.calls[-2].outputs
    assert [variable.name for variable in last.variables] == ["dense_1/kernel:0", "dense_1/bias:0"]
    assert last.layer is logits.layer


def test_shared_layers_are_numbered_by_call() -> None:
    with recording(LayerBook()) as book:
        layer = layers.Dense(3)
        layer(layer(tf.ones([2, 3])))
        layers.dense(tf.ones([2, 3]), 2, name="shared")
        layers.dense(tf.ones([2, 3]), 2, name="shared", reuse=True)
    assert lines(book) == [("dense", 0, "Dense"), ("dense", 1, "Dense"), ("shared", 0, "Dense"), ("shared", 1, "Dense")]


def test_own_layers_and_the_layers_inside_them() -> None:
    class Block(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return layers.dense(inputs, 2) * self.add_weight("scale", [])

    with recording(LayerBook()) as book:
        Block()(tf.ones([2, 3]))
    assert lines(book) == [("block/dense", 0, "Dense"), ("block", 0, "Block")]
    assert [variable.name for variable in book.calls[1].variables] == ["block/scale:0"]


def test_a_layer_in_the_root_scope_goes_by_its_own_name() -> None:
    with recording(LayerBook()) as book:
        layers.Dense(2, name="rootless", _scope=v1.get_variable_scope())(tf.ones([2, 3]))
    assert lines(book) == [("rootless", 0, "Dense")]
    assert len(book) == 1


def reasons(book: LayerBook) -> dict[str, str]:
    return dict(book.hidden)


@pytest.mark.parametrize("new_control_flow", [True, False])
def test_what_a_session_cannot_fetch_is_hidden_with_the_reason(new_control_flow: bool) -> None:
    (v1.enable_control_flow_v2 if new_control_flow else v1.disable_control_flow_v2)()
    try:
        with recording(LayerBook()) as book:
            x = layers.dense(tf.ones([1, 2]), 2, name="outside")
            tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, layers.dense(x, 2, name="looped")), (0, x))
            tf.cond(x[0, 0] > 0.0, lambda: layers.dense(x, 2, name="branched"), lambda: x)
            if new_control_flow:
                tf.function(lambda x: layers.flatten(x, name="inside"), autograph=False)(x)
    finally:
        v1.enable_control_flow_v2()
    assert [call.name for call in book] == ["outside"]
    way_out = ", whose values exist only while it runs; return the value from there and read what comes out"
    told = {
        "looped": f"is built inside tf.while_loop (tf.map_fn and tf.scan are such loops){way_out}",
        "branched": f"is built inside tf.cond{way_out}",
        "inside": f"is built inside tf.function{way_out}",
    }
    assert reasons(book) == {name: told[name] for name in (told if new_control_flow else ["looped", "branched"])}


def test_what_can_be_fetched_once_is_not_hidden() -> None:
    with recording(LayerBook()) as book:
        layer = layers.Dense(2)
        x = layer(tf.ones([1, 2]))
        tf.cond(x[0, 0] > 0.0, lambda: layer(x), lambda: x)
        layer(x)
    assert lines(book) == [("dense", 0, "Dense"), ("dense", 1, "Dense")]
    assert book.hidden == []


def test_other_threads_that_build_the_graph_write_into_its_book(graph: tf.Graph) -> None:
    one_at_a_time = threading.Lock()  # as TensorFlow wants it of those who build one graph

    def build(name: str) -> None:
        with one_at_a_time, graph.as_default():
            layers.dense(tf.ones([1, 2]), 2, name=name)

    with recording(LayerBook()) as book:
        threads = [threading.Thread(target=build, args=[f"part_{number}"]) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(lines(book)) == [(f"part_{number}", 0, "Dense") for number in range(8)]


def test_another_graph_and_eager_code_have_no_part_in_it() -> None:
    with recording(LayerBook()) as book:
        with tf.Graph().as_default():
            layers.dense(tf.ones([1, 2]), 2)
        eager = threading.Thread(target=lambda: layers.dense(tf.ones([1, 2]), 2))
        eager.start()
        eager.join()
    layers.dense(tf.ones([1, 2]), 2)
    assert len(book) == 0


def test_an_inner_book_takes_the_place_of_the_outer_one() -> None:
    with recording(LayerBook()) as outer:
        with recording(LayerBook()) as inner:
            layers.flatten(tf.ones([1, 2]))
        layers.dense(tf.ones([1, 2]), 2)
    assert [call.name for call in inner] == ["flatten"]
    assert [call.name for call in outer] == ["dense"]


def test_a_closed_book_keeps_no_graph_alive() -> None:
    graph = tf.Graph()
    with graph.as_default(), recording(LayerBook()):
        layers.dense(tf.ones([1, 2]), 2)
    kept = weakref.ref(graph)
    del graph
    gc.collect()
    assert kept() is None


def test_replicas_have_books_of_their_own() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    edit = lambda passing: passing.value * 0.0 if passing.path == "layers/dense" else passing.value  # noqa: E731

    def model() -> Any:
        return layers.dense(tf.ones([1, 2]), 3, bias_initializer=v1.ones_initializer()) + 1.0

    with recording(LayerBook(edits=[edit])) as book:
        outputs = strategy.run(model)
        layers.flatten(tf.ones([1, 2]))
    assert lines(book) == [("dense", 0, "Dense"), ("flatten", 0, "Flatten")]
    assert [lines(other) for other in book.replicas.values()] == [[("dense", 0, "Dense")]]
    with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(v1.global_variables_initializer())
        values = session.run(strategy.experimental_local_results(outputs))
    assert [value.tolist() for value in values] == [[[1.0, 1.0, 1.0]]] * 2
