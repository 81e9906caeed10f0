"""Sequence to sequence without contrib: an encoder, a decoder with teacher forcing, attention by hand, greedy decoding in a loop."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
SYMBOLS, UNITS, LENGTH = 6, 8, 4
GO = 0


def attend(query, memory, projection):
    keys = tf.tensordot(memory, projection, [[2], [0]])
    scores = tf.reduce_sum(keys * tf.expand_dims(query, 1), 2)
    return tf.reduce_sum(memory * tf.expand_dims(tf.nn.softmax(scores), 2), 1)


def model_fn(features, labels, mode, params):
    source = features["source"]
    with tf.variable_scope("seq2seq", initializer=tf.glorot_uniform_initializer(seed=1)):
        embedding = tf.get_variable("embedding", [SYMBOLS, 5])
        projection = tf.get_variable("attention", [UNITS, UNITS])
        out_w = tf.get_variable("out_w", [2 * UNITS, SYMBOLS])
        encoder, decoder = tf.nn.rnn_cell.GRUCell(UNITS, name="encoder"), tf.nn.rnn_cell.GRUCell(UNITS, name="decoder")
        memory, state = tf.nn.dynamic_rnn(encoder, tf.nn.embedding_lookup(embedding, source), dtype=tf.float32, time_major=False)

        def step(inputs, state):
            output, state = decoder(tf.nn.embedding_lookup(embedding, inputs), state)
            both = tf.concat([output, attend(output, memory, projection)], 1)
            return tf.matmul(both, out_w), state

        if mode == tf.estimator.ModeKeys.PREDICT:
            batch = tf.shape(source)[0]
            found = tf.TensorArray(tf.int32, LENGTH)

            def body(time, last, state, found):
                logits, state = step(last, state)
                best = tf.argmax(logits, 1, output_type=tf.int32)
                return time + 1, best, state, found.write(time, best)

            start = (tf.constant(0), tf.fill([batch], GO), state, found)
            _, _, _, found = tf.while_loop(lambda time, *_: time < LENGTH, body, start)
            return tf.estimator.EstimatorSpec(mode, {"decoded": tf.transpose(found.stack())})
        go = tf.fill([tf.shape(labels)[0], 1], GO)
        inputs = tf.concat([go, labels[:, :-1]], 1)
        all_logits = []
        for time in range(LENGTH):
            logits, state = step(inputs[:, time], state)
            all_logits.append(logits)
        logits = tf.stack(all_logits, 1)
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    weights = tf.to_float(tf.not_equal(labels, GO))
    loss = tf.reduce_sum(cross * weights) / tf.reduce_sum(weights)
    optimizer = tf.train.AdamOptimizer(0.02)
    pairs = [(tf.clip_by_norm(gradient, 5.0), variable) for gradient, variable in optimizer.compute_gradients(loss) if gradient is not None]
    train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())
    predicted = tf.argmax(logits, 2, output_type=tf.int32)
    metrics = {"token_accuracy": tf.metrics.accuracy(labels, predicted, weights), "perplexity": tf.metrics.mean(tf.exp(loss))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn(epochs=1):
    source = np.random.RandomState(2).randint(1, SYMBOLS, [24, LENGTH]).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"source": source}, source[:, ::-1].copy())).repeat(epochs).batch(12)


model = tf.estimator.Estimator(model_fn, sys.argv[1])
model.train(lambda: input_fn(None), steps=15)
metrics = model.evaluate(input_fn)
rows = [row["decoded"].tolist() for row in model.predict(input_fn)]
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "rows": rows[:3]}))
