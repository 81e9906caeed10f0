# coding: utf-8
"""树叶子 + LR (TensorFlow 1.13): sklearn 的 GBDT 产生叶子, numpy_input_fn, LinearClassifier, 阈值与 KS"""
import json
import numpy as np
import pandas as pd
import tensorflow as tf
from sklearn.tree import DecisionTreeClassifier
from sklearn.model_selection import KFold
from sklearn.metrics import roc_auc_score, log_loss

rng = np.random.RandomState(17)
df = pd.DataFrame(rng.rand(90, 4).round(2), columns=['x1', 'x2', 'x3', 'x4'])
df['y'] = ((df.x1 + df.x2 > 1) & (df.x3 > .3)).astype(int)
train, test = df.iloc[:60], df.iloc[60:]
trees = [DecisionTreeClassifier(max_depth=2, max_features=None, random_state=i).fit(train[['x1', 'x2', 'x3', 'x4']].values[i::2], train.y.values[i::2]) for i in range(2)]


def leaves(part):
    out = {'leaf_%d' % i: t.apply(part[['x1', 'x2', 'x3', 'x4']].values.astype(np.float32)).astype(np.int64) for i, t in enumerate(trees)}
    out['x1'] = part.x1.values.astype(np.float32)
    return out


columns = [tf.feature_column.categorical_column_with_identity('leaf_%d' % i, 8) for i in range(2)]
columns.append(tf.feature_column.numeric_column('x1'))
columns.append(tf.feature_column.crossed_column(['leaf_0', 'leaf_1'], 16))
est = tf.estimator.LinearClassifier(columns, n_classes=2, label_vocabulary=['坏', '好'], optimizer=lambda: tf.train.FtrlOptimizer(
    tf.train.exponential_decay(.5, tf.train.get_global_step(), 5, .9)), loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
to_text = lambda y: np.where(y == 1, '好', '坏')
est.train(tf.estimator.inputs.numpy_input_fn(leaves(train), to_text(train.y.values), batch_size=20, num_epochs=6, shuffle=False))
test_fn = tf.estimator.inputs.numpy_input_fn(leaves(test), to_text(test.y.values), batch_size=30, shuffle=False)
result = est.evaluate(test_fn)
rows = list(est.predict(test_fn))
p = np.array([r['probabilities'][1] for r in rows])
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'auc': float(roc_auc_score(test.y, p)), 'll': float(log_loss(test.y, p.astype(float))),
                  'classes': [r['classes'][0].decode('utf8') for r in rows[:6]], 'folds': [len(a) for a, _ in KFold(3).split(p)]}))
