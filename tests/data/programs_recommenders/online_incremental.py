# -*- coding: utf-8 -*-
"""增量训练 (TensorFlow 1.12): 每天一个目录, 从昨天的 checkpoint 热启动, Scaffold 里自定义 Saver 与 init_fn"""
import glob, json, os, shutil, time
import numpy as np
import tensorflow as tf

DAYS = ['20190101', '20190102', '20190103']
for d, day in enumerate(DAYS):
    rng = np.random.RandomState(d)
    tf.gfile.MakeDirs(day)
    np.savetxt(day + '/part-0', np.column_stack([rng.randint(0, 2, 20), rng.randint(0, 6, 20)]), fmt='%d', delimiter=' ')
    with tf.gfile.Open(day + '/_SUCCESS', 'w') as done:
        done.write('ok')


def input_fn(day):
    def fn():
        ds = tf.data.Dataset.list_files(day + '/part-*').flat_map(lambda f: tf.data.TextLineDataset(f))
        ds = ds.filter(lambda line: tf.not_equal(tf.substr(line, 0, 1), '#'))
        ds = ds.map(lambda line: tf.string_to_number(tf.string_split([line], ' ').values, tf.int32)).batch(5)
        ds = ds.map(lambda x: ({'id': x[:, 1]}, tf.to_float(x[:, 0])))
        return ds.make_one_shot_iterator().get_next()
    return fn


def model_fn(features, labels, mode, params):
    w = tf.get_variable('w', [6], initializer=tf.zeros_initializer())
    days = tf.get_variable('days', [], dtype=tf.int32, initializer=tf.zeros_initializer(), trainable=False)
    logits = tf.gather(w, features['id'])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'p': tf.sigmoid(logits)})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    init_fn = None
    if params.get('last'):
        assign = tf.contrib.framework.assign_from_checkpoint_fn(tf.train.latest_checkpoint(params['last']), [w, days], ignore_missing_vars=False)
        one_more = tf.assign_add(days, 1)

        def init_fn(scaffold, session):
            assign(session)
            session.run(one_more)
    scaffold = tf.train.Scaffold(init_fn=init_fn, saver=tf.train.Saver(max_to_keep=2, sharded=False))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(1.0).minimize(loss, tf.train.get_global_step()),
                                      scaffold=scaffold if mode == tf.estimator.ModeKeys.TRAIN else None, eval_metric_ops={'loss_mean': tf.metrics.mean(loss)})


last, history = None, []
for day in DAYS:
    if not tf.gfile.Exists(day + '/_SUCCESS'):
        time.sleep(1)
    est = tf.estimator.Estimator(model_fn, 'model_' + day, tf.estimator.RunConfig(keep_checkpoint_max=1), {'last': last})
    est.train(input_fn(day))
    history.append([{k: float(v) for k, v in est.evaluate(input_fn(day)).items()}, est.get_variable_value('w').tolist(), int(est.get_variable_value('days'))])
    last = 'model_' + day
shutil.copytree(last, 'latest')
print(json.dumps([history, sorted(os.path.basename(p) for p in glob.glob('latest/model.ckpt-*')), [float(r['p']) for r in tf.estimator.Estimator(model_fn, 'latest', params={}).predict(input_fn(DAYS[0]))][:3]]))
