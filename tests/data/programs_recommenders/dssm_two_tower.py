# encoding=utf8
"""双塔 DSSM 召回 (TensorFlow 1.10): 余弦相似度, batch 内负采样, 导出两个签名"""
import json
import numpy as np
import tensorflow as tf

TRIGRAM_D, NEG, BS = 30, 3, 6


def gen(number):
    rng = np.random.RandomState(0)
    for _ in range(number):
        query = rng.randint(0, TRIGRAM_D, 4)
        doc = np.concatenate([query[:2], rng.randint(0, TRIGRAM_D, 3)])
        yield query.tolist(), doc.tolist()


def sparse_input_fn(number, epochs):
    ds = tf.data.Dataset.from_generator(lambda: gen(number), (tf.int64, tf.int64), (tf.TensorShape([4]), tf.TensorShape([5])))

    def to_dict(q, d):
        to_hot = lambda ids: tf.minimum(tf.reduce_sum(tf.one_hot(ids, TRIGRAM_D), axis=1), 1.0)
        return {'query': to_hot(q), 'doc': to_hot(d)}
    return ds.batch(BS).map(to_dict).repeat(epochs)


def tower(x, name, seed):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for i, out in enumerate([10, 5]):
            rng = np.sqrt(6.0 / (x.shape[-1].value + out))
            w = tf.get_variable('w%d' % i, [x.shape[-1].value, out], initializer=tf.random_uniform_initializer(-rng, rng, seed=seed + i))
            b = tf.get_variable('b%d' % i, [out], initializer=tf.random_uniform_initializer(-rng, rng, seed=seed + i + 9))
            x = tf.tanh(tf.matmul(x, w) + b)
    return x


def model_fn(features, mode, params):
    query_y, doc_y = tower(features['query'], 'query', 1), tower(features['doc'], 'doc', 5)
    if mode == tf.estimator.ModeKeys.PREDICT:
        q, d = tf.nn.l2_normalize(query_y, -1), tf.nn.l2_normalize(doc_y, -1)
        sim = tf.reduce_sum(q * d, -1)
        return tf.estimator.EstimatorSpec(mode, predictions={'q': q, 'd': d, 'sim': sim}, export_outputs={
            'serving_default': tf.estimator.export.PredictOutput({'sim': sim}), 'user': tf.estimator.export.PredictOutput({'vec': q}),
            'item': tf.estimator.export.PredictOutput({'vec': d})})
    with tf.name_scope('FD_rotate'):
        # 随机负样本: 滚动文档
        temp = tf.tile(doc_y, [1, 1])
        batch = tf.shape(doc_y)[0]
        for i in range(NEG):
            doc_y = tf.concat([doc_y, tf.slice(temp, [i + 1, 0], [batch - i - 1, -1]), tf.slice(temp, [0, 0], [i + 1, -1])], 0)
    with tf.name_scope('Cosine_Similarity'):
        query_norm = tf.tile(tf.sqrt(tf.reduce_sum(tf.square(query_y), 1, True)), [NEG + 1, 1])
        doc_norm = tf.sqrt(tf.reduce_sum(tf.square(doc_y), 1, True))
        prod = tf.reduce_sum(tf.multiply(tf.tile(query_y, [NEG + 1, 1]), doc_y), 1, True)
        cos_sim_raw = tf.truediv(prod, tf.multiply(query_norm, doc_norm))
        cos_sim = tf.transpose(tf.reshape(tf.transpose(cos_sim_raw), [NEG + 1, batch])) * 20
    prob = tf.nn.softmax(cos_sim)
    hit_prob = tf.slice(prob, [0, 0], [-1, 1])
    loss = -tf.reduce_mean(tf.log(hit_prob))
    correct = tf.cast(tf.equal(tf.argmax(prob, 1), 0), tf.float32)
    train_op = tf.train.GradientDescentOptimizer(params.learning_rate).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={'acc': tf.metrics.mean(correct), 'hit': tf.metrics.mean(hit_prob)})


params = tf.contrib.training.HParams(learning_rate=0.1, neg=NEG)
params.parse('learning_rate=0.05')
est = tf.estimator.Estimator(model_fn, model_dir='dssm', params=params)
est.train(lambda: sparse_input_fn(30, 4))
metrics = est.evaluate(lambda: sparse_input_fn(30, 1))
rows = list(est.predict(lambda: sparse_input_fn(6, 1), yield_single_examples=False))
path = est.export_savedmodel('export', tf.estimator.export.build_raw_serving_input_receiver_fn({
    'query': tf.placeholder(tf.float32, [None, TRIGRAM_D]), 'doc': tf.placeholder(tf.float32, [None, TRIGRAM_D])}))
user_fn = tf.contrib.predictor.from_saved_model(tf.compat.as_str_any(path), signature_def_key='user')
vector = user_fn({'query': np.eye(TRIGRAM_D)[:2], 'doc': np.zeros((2, TRIGRAM_D))})['vec']
print(json.dumps({'metrics': {k: float(v) for k, v in metrics.items()}, 'sim': rows[0]['sim'].tolist(), 'shape': list(rows[0]['q'].shape), 'vector': vector.tolist()}))
