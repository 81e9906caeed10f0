import argparse, json, os, multiprocessing
import tensorflow as tf
from tensorflow.python.platform import gfile
from tensorflow import data

"""TextCNN over raw lines: vocabulary tables in model_fn, tf.string_split, numpy-free input, serving receiver."""

PADWORD = '[!"PAD"!]'
HEADER = ['SOURCE', 'TITLE']
HEADER_DEFAULTS = [['NA'], ['NA']]
LABELS = ['github', 'nytimes', 'techcrunch']
MAX_LEN = 6


def write_data(folder):
    if not os.path.isdir(folder):
        os.makedirs(folder)
    titles = {'github': ['show code repo', 'new repo tool for code', 'code tool'], 'nytimes': ['the city news today', 'war and peace news', 'news of city'],
              'techcrunch': ['startup raises money', 'money for startup phone', 'a phone raises money now again']}
    for name, rounds in (('train.csv', 4), ('eval.csv', 1)):
        with gfile.GFile(os.path.join(folder, name), 'w') as out:
            for _ in range(rounds):
                for index in range(3):
                    for label in LABELS:
                        out.write('{},{}\n'.format(label, titles[label][index]))
    words = sorted(set(' '.join(sum(titles.values(), [])).split()))
    with gfile.FastGFile(os.path.join(folder, 'vocab.txt'), 'wb') as f:
        f.write('{}\n'.format(PADWORD))
        for word in words[:-3]:
            f.write('{}\n'.format(word))
    return len(words) - 2


def input_fn(file_name, mode=tf.estimator.ModeKeys.EVAL, num_epochs=1, batch_size=6):
    def parse(line):
        columns = tf.decode_csv(tf.expand_dims(line, -1), record_defaults=HEADER_DEFAULTS)
        features = dict(zip(HEADER, [tf.squeeze(c, 0) for c in columns]))
        target = features.pop('SOURCE')
        table = tf.contrib.lookup.index_table_from_tensor(mapping=tf.constant(LABELS))
        return features, table.lookup(target)

    def _fn():
        num_threads = multiprocessing.cpu_count()
        dataset = data.TextLineDataset(filenames=[file_name]).skip(0)
        dataset = dataset.map(parse, num_parallel_calls=num_threads).batch(batch_size).repeat(num_epochs).prefetch(1)
        return dataset.make_initializable_iterator(), dataset
    def wrapped():
        iterator, _ = _fn()
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator.get_next()
    return wrapped


def cnn_model(features, labels, mode, params):
    table = tf.contrib.lookup.index_table_from_file(vocabulary_file=params.vocab, num_oov_buckets=1, default_value=-1)
    titles = tf.squeeze(features['TITLE']) if mode == 'serve' else features['TITLE']
    words = tf.string_split(titles)
    densewords = tf.sparse_tensor_to_dense(words, default_value=PADWORD)
    numbers = table.lookup(densewords)
    padding = tf.constant([[0, 0], [0, MAX_LEN]])
    padded = tf.pad(numbers, padding)
    sliced = tf.slice(padded, [0, 0], [-1, MAX_LEN])
    embeds = tf.contrib.layers.embed_sequence(sliced, vocab_size=params.n_words + 1, embed_dim=5, initializer=tf.random_uniform_initializer(-1, 1, seed=2))
    pooled = []
    for width in params.widths:
        conv = tf.layers.conv2d(tf.expand_dims(embeds, -1), 4, [width, 5], activation=tf.nn.relu, name='conv%d' % width,
                                kernel_initializer=tf.glorot_normal_initializer(seed=width))
        pooled.append(tf.layers.max_pooling2d(conv, [MAX_LEN - width + 1, 1], strides=1))
    words = tf.layers.flatten(tf.concat(pooled, 3))
    logits = tf.layers.dense(words, len(LABELS), activation=None, kernel_initializer=tf.glorot_normal_initializer(seed=1))
    predictions_dict = {'source': tf.gather(LABELS, tf.argmax(logits, 1)), 'class': tf.argmax(logits, 1), 'prob': tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions_dict, export_outputs={
            'classes': tf.estimator.export.PredictOutput(predictions_dict), tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY:
            tf.estimator.export.ClassificationOutput(scores=predictions_dict['prob'], classes=predictions_dict['source'])})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.contrib.layers.optimize_loss(loss, tf.contrib.framework.get_global_step(), optimizer='Adam', learning_rate=params.rate, clip_gradients=5.0)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
        'acc': tf.metrics.accuracy(labels, predictions_dict['class']), 'in_top2': tf.metrics.mean(tf.nn.in_top_k(logits, labels, 2))})


def serving_input_fn():
    feature_placeholders = {'TITLE': tf.placeholder(tf.string, [None])}
    return tf.estimator.export.ServingInputReceiver(feature_placeholders, feature_placeholders)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--job-dir', dest='output_dir', required=True)
    parser.add_argument('--rate', type=float, default=0.02)
    arguments = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    n_words = write_data('csv')
    hparams = tf.contrib.training.HParams(n_words=n_words, vocab='csv/vocab.txt', widths=[2, 3], rate=arguments.rate)
    estimator = tf.estimator.Estimator(model_fn=cnn_model, model_dir=arguments.output_dir, params=hparams,
                                       config=tf.estimator.RunConfig().replace(save_summary_steps=20, tf_random_seed=8))
    exporter = tf.estimator.LatestExporter('exporter', serving_input_fn)
    tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn('csv/train.csv', tf.estimator.ModeKeys.TRAIN, None), max_steps=40),
                                    tf.estimator.EvalSpec(input_fn('csv/eval.csv'), steps=None, exporters=exporter, start_delay_secs=0, throttle_secs=0))
    evaluated = estimator.evaluate(input_fn('csv/eval.csv'))
    base = os.path.join(arguments.output_dir, 'export', 'exporter')
    export = os.path.join(base, sorted(os.listdir(base))[-1])
    predict = tf.contrib.predictor.from_saved_model(export, signature_def_key='classes')
    answer = predict({'TITLE': ['code for startup', 'news today in the city of unknown words']})
    print(json.dumps({'evaluated': {k: float(v) for k, v in evaluated.items()}, 'sources': [s.decode() for s in answer['source']], 'prob': answer['prob'].tolist()}))
