# -*- coding: utf-8 -*-
"""Wide & Deep 点击率 (TensorFlow 1.9): CSV 分区目录, DNNLinearCombinedClassifier, 分桶与交叉, 自定义 hook 打印"""
import json
import os
import sys
from collections import OrderedDict

import numpy as np
import tensorflow as tf

reload_needed = sys.version_info[0] == 2
CSV = OrderedDict([('label', [0]), ('os', ['']), ('age', [-1]), ('adid', [0]), ('score', [0.0]), ('tags', [''])])


def build_model_columns():
    os_ = tf.feature_column.categorical_column_with_vocabulary_list('os', ['ios', 'android'], default_value=0)
    age = tf.feature_column.numeric_column('age')
    age_bucket = tf.feature_column.bucketized_column(age, boundaries=[20, 30, 40])
    adid = tf.feature_column.categorical_column_with_identity('adid', num_buckets=10, default_value=0)
    score = tf.feature_column.numeric_column('score', normalizer_fn=lambda x: tf.log(x + 1.0))
    tags = tf.feature_column.categorical_column_with_hash_bucket('tags', 30)
    cross = tf.feature_column.crossed_column(['os', 'adid'], 50)
    deep = [score, tf.feature_column.indicator_column(age_bucket), tf.feature_column.indicator_column(os_),
            tf.feature_column.embedding_column(tags, 3, combiner='sqrtn', initializer=tf.constant_initializer(0.05))]
    return [os_, age_bucket, adid, cross, tags], deep


def write_partitions():
    rng = np.random.RandomState(11)
    for part in range(3):
        if not os.path.isdir('dt=2018060%d' % part):
            os.mkdir('dt=2018060%d' % part)
        with open('dt=2018060%d/part-00000' % part, 'w') as f:
            for _ in range(20):
                ad, age = rng.randint(10), rng.randint(15, 50)
                f.write('%d\t%s\t%d\t%d\t%.2f\t%s\n' % (ad > 4, rng.choice(['ios', 'android', 'wp']), age, ad, rng.rand() * 5, '|'.join('t%d' % t for t in rng.randint(0, 9, 2))))


def input_fn(files, epochs, batch_size):
    def parse(line):
        fields = dict(zip(CSV.keys(), tf.decode_csv(line, record_defaults=list(CSV.values()), field_delim='\t', na_value='NULL')))
        label = fields.pop('label')
        return fields, label

    def split(features, label):
        features['tags'] = tf.string_split(features['tags'], '|')
        return features, label
    ds = tf.data.TextLineDataset(files).map(parse).repeat(epochs).batch(batch_size).map(split)
    return ds.make_one_shot_iterator().get_next()


class PrintHook(tf.train.SessionRunHook):
    def begin(self):
        self.names = [v.name for v in tf.global_variables() if 'linear' in v.name and 'Ftrl' not in v.name]
        self.runs, self.report = 0, tf.report_uninitialized_variables()

    def after_create_session(self, session, coord):
        self.before = session.run(self.report).tolist()

    def after_run(self, run_context, run_values):
        self.runs += 1

    def end(self, session):
        self.bias = float(session.run([v for v in tf.global_variables() if v.op.name == 'linear/linear_model/bias_weights/part_0'][0])[0])


if __name__ == '__main__':
    write_partitions()
    wide, deep = build_model_columns()
    hook = PrintHook()
    config = tf.estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=100, session_config=tf.ConfigProto(intra_op_parallelism_threads=1, allow_soft_placement=True))
    lr = tf.estimator.LinearClassifier(wide, './lr', config=config, optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02))
    files = sorted(tf.gfile.Glob('dt=*/part-*'))
    lr.train(lambda: input_fn(files[:2], 4, 10), hooks=[hook])
    result = lr.evaluate(lambda: input_fn(files[2:], 1, 10))
    model = tf.estimator.DNNLinearCombinedClassifier(
        './wd', linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[8, 4], config=config,
        linear_optimizer=tf.train.FtrlOptimizer(0.1), dnn_optimizer=tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.001), dnn_dropout=0.1)
    model.train(lambda: input_fn(files[:2], 2, 10))
    both = model.evaluate(lambda: input_fn(files[2:], 1, 10))
    print(json.dumps({'lr': {k: float(v) for k, v in result.items()}, 'names': hook.names, 'runs': hook.runs, 'bias': hook.bias, 'left': hook.before,
                      'wd': [sorted(both), int(both['global_step']), sorted(model.get_variable_names())], 'files': files}))
