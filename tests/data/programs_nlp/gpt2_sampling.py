"""GPT-2 in small: HParams, past, conv1d by hand, top-k choice in a while_loop, gradients that are checkpointed by custom_gradient."""
import json
import os
import sys
import numpy as np
import tensorflow as tf
from tensorflow.contrib.training import HParams


def default_hparams():
    return HParams(n_vocab=20, n_ctx=8, n_embd=8, n_head=2, n_layer=2)


def shape_list(x):
    """Deal with dynamic shape in tensorflow cleanly."""
    static, dynamic = x.shape.as_list(), tf.shape(x)
    return [dynamic[i] if s is None else s for i, s in enumerate(static)]


def softmax(x, axis=-1):
    x = x - tf.reduce_max(x, axis=axis, keepdims=True)
    ex = tf.exp(x)
    return ex / tf.reduce_sum(ex, axis=axis, keepdims=True)


@tf.custom_gradient
def gelu(x):
    t = tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))

    def grad(dy):
        inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * tf.square(x))
        return dy * (0.5 * (1 + t) + 0.5 * x * (1 - tf.square(t)) * inner)
    return 0.5 * x * (1 + t), grad


def norm(x, scope, axis=-1, epsilon=1e-5):
    with tf.variable_scope(scope):
        n_state = x.shape[-1].value
        g = tf.get_variable('g', [n_state], initializer=tf.constant_initializer(1))
        b = tf.get_variable('b', [n_state], initializer=tf.constant_initializer(0))
        u = tf.reduce_mean(x, axis=axis, keepdims=True)
        s = tf.reduce_mean(tf.square(x - u), axis=axis, keepdims=True)
        return (x - u) * tf.rsqrt(s + epsilon) * g + b


def conv1d(x, scope, nf, w_init_stdev=0.2):
    with tf.variable_scope(scope):
        *start, nx = shape_list(x)
        w = tf.get_variable('w', [1, nx, nf], initializer=tf.random_normal_initializer(stddev=w_init_stdev, seed=nf))
        b = tf.get_variable('b', [nf], initializer=tf.constant_initializer(0))
        return tf.reshape(tf.matmul(tf.reshape(x, [-1, nx]), tf.reshape(w, [-1, nf])) + b, start + [nf])


def attention_mask(nd, ns, *, dtype):
    i, j = tf.range(nd)[:, None], tf.range(ns)
    return tf.cast(i >= j - ns + nd, dtype)


def attn(x, scope, n_state, *, past, hparams):
    def split_heads(x):
        *start, m = shape_list(x)
        return tf.transpose(tf.reshape(x, start + [hparams.n_head, m // hparams.n_head]), [0, 2, 1, 3])
    with tf.variable_scope(scope):
        q, k, v = map(split_heads, tf.split(conv1d(x, 'c_attn', n_state * 3), 3, axis=2))
        present = tf.stack([k, v], axis=1)
        if past is not None:
            pk, pv = tf.unstack(past, axis=1)
            k, v = tf.concat([pk, k], axis=-2), tf.concat([pv, v], axis=-2)
        w = tf.matmul(q, k, transpose_b=True) * tf.rsqrt(tf.cast(v.shape[-1].value, x.dtype))
        _, _, nd, ns = shape_list(w)
        b = tf.reshape(attention_mask(nd, ns, dtype=w.dtype), [1, 1, nd, ns])
        a = tf.transpose(tf.matmul(softmax(w * b - tf.cast(1e10, w.dtype) * (1 - b)), v), [0, 2, 1, 3])
        *start, h, m = shape_list(a)
        return conv1d(tf.reshape(a, start + [h * m]), 'c_proj', n_state), present


def model(hparams, X, past=None, scope='model', reuse=False):
    with tf.variable_scope(scope, reuse=reuse):
        results = {}
        batch, sequence = shape_list(X)
        wpe = tf.get_variable('wpe', [hparams.n_ctx, hparams.n_embd], initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
        wte = tf.get_variable('wte', [hparams.n_vocab, hparams.n_embd], initializer=tf.random_normal_initializer(stddev=0.2, seed=2))
        past_length = 0 if past is None else tf.shape(past)[-2]
        positions = tf.tile(tf.expand_dims(past_length + tf.range(sequence), 0), [batch, 1])
        h = tf.gather(wte, X) + tf.gather(wpe, positions)
        presents = []
        pasts = tf.unstack(past, axis=1) if past is not None else [None] * hparams.n_layer
        for layer, p in enumerate(pasts):
            with tf.variable_scope('h%d' % layer):
                a, present = attn(norm(h, 'ln_1'), 'attn', hparams.n_embd, past=p, hparams=hparams)
                h = h + a
                h = h + conv1d(gelu(conv1d(norm(h, 'ln_2'), 'c_fc', 16)), 'c_proj', hparams.n_embd)
            presents.append(present)
        results['present'] = tf.stack(presents, axis=1)
        h = norm(h, 'ln_f')
        results['logits'] = tf.reshape(tf.matmul(tf.reshape(h, [batch * sequence, hparams.n_embd]), wte, transpose_b=True), [batch, sequence, hparams.n_vocab])
        return results


def top_k_logits(logits, k):
    values, _ = tf.nn.top_k(logits, k=k)
    min_values = values[:, -1, tf.newaxis]
    return tf.cond(tf.equal(k, 0), lambda: logits, lambda: tf.where(logits < min_values, tf.ones_like(logits, dtype=logits.dtype) * -1e10, logits))


def sample_sequence(*, hparams, length, context, top_k=1):
    def step(tokens, past=None):
        lm_output = model(hparams, tokens, past=past, reuse=tf.AUTO_REUSE)
        presents = lm_output['present']
        presents.set_shape([None, hparams.n_layer, 2, hparams.n_head, None, hparams.n_embd // hparams.n_head])
        return {'logits': lm_output['logits'][:, :, :hparams.n_vocab], 'presents': presents}
    with tf.name_scope('sample_sequence'):
        first = step(context[:, :-1])

        def body(past, prev, output):
            next_outputs = step(prev[:, tf.newaxis], past=past)
            logits = top_k_logits(next_outputs['logits'][:, -1, :], k=top_k)
            samples = tf.multinomial(logits, num_samples=1, output_dtype=tf.int32)
            return [tf.concat([past, next_outputs['presents']], axis=-2), tf.squeeze(samples, axis=[1]), tf.concat([output, samples], axis=1)]
        _, _, tokens = tf.while_loop(cond=lambda *args: True, body=body, maximum_iterations=length, loop_vars=[first['presents'], context[:, -1], context],
                                     shape_invariants=[tf.TensorShape([None, hparams.n_layer, 2, hparams.n_head, None, hparams.n_embd // hparams.n_head]), tf.TensorShape([None]), tf.TensorShape([None, None])], back_prop=False)
        return tokens


def gpt2_model(features, labels, mode, params):
    hparams = params['hparams']
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'tokens': sample_sequence(hparams=hparams, length=4, context=features, top_k=params['top_k'])})
    output = model(hparams, features, reuse=tf.AUTO_REUSE)
    loss_batch = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=output['logits'], labels=labels)
    loss = tf.reduce_mean(loss_batch)
    if mode == tf.estimator.ModeKeys.TRAIN:
        all_vars = [v for v in tf.trainable_variables() if 'model' in v.name]
        opt = tf.train.AdamOptimizer(learning_rate=.01)
        grads, _ = tf.clip_by_global_norm(tf.gradients(loss, all_vars), 1.0)
        opt_grads = list(zip(grads, all_vars))
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=opt.apply_gradients(opt_grads, global_step=tf.train.get_global_step()))
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops={'perplexity': tf.metrics.mean(tf.exp(loss)), 'accuracy': tf.metrics.accuracy(labels, tf.argmax(output['logits'], -1))})


def text_input(params):
    base = np.tile(np.arange(20), 5)
    x = np.stack([base[i * 3:i * 3 + 8] for i in range(24)]).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices((x[:, :-1], x[:, 1:])).apply(tf.data.experimental.shuffle_and_repeat(1, 6, 1)).apply(tf.data.experimental.map_and_batch(lambda a, b: (a, b), params['batch_size']))


if __name__ == '__main__':
    np.random.seed(0)
    tf.set_random_seed(0)
    est = tf.estimator.Estimator(gpt2_model, sys.argv[1], params={'batch_size': 8, 'hparams': default_hparams().override_from_dict({'n_ctx': 12}), 'top_k': 1})
    est.train(text_input)
    r = est.evaluate(text_input, steps=3)
    tokens = [p['tokens'].tolist() for p in est.predict(lambda: tf.constant([[1, 2, 3], [7, 8, 9]], tf.int32) if False else tf.data.Dataset.from_tensors(np.array([[1, 2, 3], [7, 8, 9]], np.int32)))]
    print(json.dumps({'r': {k: float(v) for k, v in r.items()}, 'tokens': tokens}))
