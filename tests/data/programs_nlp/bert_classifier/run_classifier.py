"""BERT finetuning runner."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import csv
import json
import os
import modeling
import optimization
import tokenization
import tensorflow as tf

flags = tf.flags

FLAGS = flags.FLAGS

## Required parameters
flags.DEFINE_string("data_dir", None, "The input data dir. Should contain the .tsv files for the task.")
flags.DEFINE_string("output_dir", None, "The output directory.")
flags.DEFINE_string("task_name", "cola", "The name of the task to train.")

## Other parameters
flags.DEFINE_integer("max_seq_length", 12, "The maximum total input sequence length.")
flags.DEFINE_bool("do_train", False, "Whether to run training.")
flags.DEFINE_bool("do_eval", False, "Whether to run eval on the dev set.")
flags.DEFINE_bool("do_predict", False, "Whether to run the model in inference mode on the test set.")
flags.DEFINE_integer("train_batch_size", 4, "Total batch size for training.")
flags.DEFINE_float("learning_rate", 5e-3, "The initial learning rate for Adam.")
flags.DEFINE_float("num_train_epochs", 2.0, "Total number of training epochs to perform.")
flags.DEFINE_float("warmup_proportion", 0.2, "Proportion of training to perform warmup for.")
flags.DEFINE_integer("iterations_per_loop", 1000, "How many steps to make in each estimator call.")
flags.DEFINE_bool("use_tpu", False, "Whether to use TPU or GPU/CPU.")
tf.flags.DEFINE_string("master", None, "[Optional] TensorFlow master URL.")

WORDS = "good fine nice bad poor sad the film was ##ly ##ness".split()


class InputExample(object):
  def __init__(self, guid, text_a, text_b=None, label=None):
    self.guid, self.text_a, self.text_b, self.label = guid, text_a, text_b, label


class PaddingInputExample(object):
  """Fake example so the num input examples is a multiple of the batch size."""


class DataProcessor(object):
  @classmethod
  def _read_tsv(cls, input_file, quotechar=None):
    with tf.gfile.Open(input_file, "r") as f:
      return [line for line in csv.reader(f, delimiter="\t", quotechar=quotechar)]


class ColaProcessor(DataProcessor):
  def get_examples(self, data_dir, set_type):
    lines = self._read_tsv(os.path.join(data_dir, "%s.tsv" % set_type))
    return [InputExample("%s-%s" % (set_type, i), tokenization.convert_to_unicode(line[1]),
                         label=tokenization.convert_to_unicode(line[0])) for (i, line) in enumerate(lines)]

  def get_labels(self):
    return ["0", "1"]


def write_task(data_dir):
  tf.gfile.MakeDirs(data_dir)
  with tf.gfile.GFile(os.path.join(data_dir, "vocab.txt"), "w") as f:
    f.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + WORDS) + "\n")
  for name, count in (("train", 16), ("dev", 10), ("test", 5)):
    with tf.gfile.GFile(os.path.join(data_dir, name + ".tsv"), "w") as f:
      for i in range(count):
        f.write("%d\t%s\n" % (i % 2, "The film was " + ("Goodly fine", "badness sad", "nice odd", "poor")[(i * 7 + i // 2) % 4]))


def convert_single_example(example, label_list, max_seq_length, tokenizer):
  if isinstance(example, PaddingInputExample):
    return [0] * max_seq_length, [0] * max_seq_length, [0] * max_seq_length, 0, False
  tokens = ["[CLS]"] + tokenizer.tokenize(example.text_a)[0:max_seq_length - 2] + ["[SEP]"]
  input_ids = tokenizer.convert_tokens_to_ids(tokens)
  input_mask = [1] * len(input_ids)
  while len(input_ids) < max_seq_length:
    input_ids.append(0)
    input_mask.append(0)
  return input_ids, input_mask, [0] * max_seq_length, label_list.index(example.label), True


def file_based_convert_examples_to_features(examples, label_list, max_seq_length, tokenizer, output_file):
  writer = tf.python_io.TFRecordWriter(output_file)
  for example in examples:
    ids, mask, segments, label, real = convert_single_example(example, label_list, max_seq_length, tokenizer)

    def create_int_feature(values):
      return tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))

    features = collections.OrderedDict()
    features["input_ids"] = create_int_feature(ids)
    features["input_mask"] = create_int_feature(mask)
    features["segment_ids"] = create_int_feature(segments)
    features["label_ids"] = create_int_feature([label])
    features["is_real_example"] = create_int_feature([int(real)])
    writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
  writer.close()


def file_based_input_fn_builder(input_file, seq_length, is_training, drop_remainder):
  name_to_features = {name: tf.FixedLenFeature([seq_length], tf.int64) for name in ("input_ids", "input_mask", "segment_ids")}
  name_to_features.update({name: tf.FixedLenFeature([], tf.int64) for name in ("label_ids", "is_real_example")})

  def _decode_record(record, name_to_features):
    example = tf.parse_single_example(record, name_to_features)
    for name in list(example.keys()):
      t = example[name]
      if t.dtype == tf.int64:
        t = tf.to_int32(t)
      example[name] = t
    return example

  def input_fn(params):
    d = tf.data.TFRecordDataset(input_file)
    if is_training:
      d = d.repeat()
    return d.apply(tf.contrib.data.map_and_batch(
        lambda record: _decode_record(record, name_to_features), batch_size=params["batch_size"], drop_remainder=drop_remainder))

  return input_fn


def model_fn_builder(bert_config, num_labels, learning_rate, num_train_steps, num_warmup_steps, use_tpu):
  def model_fn(features, labels, mode, params):  # pylint: disable=unused-argument
    tf.logging.info("*** Features ***")
    for name in sorted(features.keys()):
      tf.logging.info("  name = %s, shape = %s" % (name, features[name].shape))
    label_ids = features["label_ids"]
    is_real_example = tf.cast(features["is_real_example"], dtype=tf.float32)
    is_training = (mode == tf.estimator.ModeKeys.TRAIN)
    model = modeling.BertModel(config=bert_config, is_training=is_training, input_ids=features["input_ids"],
                               input_mask=features["input_mask"], token_type_ids=features["segment_ids"])
    output_layer = model.get_pooled_output()
    hidden_size = output_layer.shape[-1].value
    output_weights = tf.get_variable("output_weights", [num_labels, hidden_size], initializer=tf.truncated_normal_initializer(stddev=0.2, seed=3))
    output_bias = tf.get_variable("output_bias", [num_labels], initializer=tf.zeros_initializer())
    with tf.variable_scope("loss"):
      logits = tf.nn.bias_add(tf.matmul(output_layer, output_weights, transpose_b=True), output_bias)
      probabilities = tf.nn.softmax(logits, axis=-1)
      log_probs = tf.nn.log_softmax(logits, axis=-1)
      per_example_loss = -tf.reduce_sum(tf.one_hot(label_ids, depth=num_labels, dtype=tf.float32) * log_probs, axis=-1)
      total_loss = tf.reduce_mean(per_example_loss)
    output_spec = None
    if mode == tf.estimator.ModeKeys.TRAIN:
      train_op = optimization.create_optimizer(total_loss, learning_rate, num_train_steps, num_warmup_steps, use_tpu)
      output_spec = tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=None)
    elif mode == tf.estimator.ModeKeys.EVAL:

      def metric_fn(per_example_loss, label_ids, logits, is_real_example):
        predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return {
            "eval_accuracy": tf.metrics.accuracy(labels=label_ids, predictions=predictions, weights=is_real_example),
            "eval_loss": tf.metrics.mean(values=per_example_loss, weights=is_real_example),
        }

      eval_metrics = (metric_fn, [per_example_loss, label_ids, logits, is_real_example])
      output_spec = tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, eval_metrics=eval_metrics)
    else:
      output_spec = tf.contrib.tpu.TPUEstimatorSpec(mode=mode, predictions={"probabilities": probabilities})
    return output_spec

  return model_fn


def main(_):
  tf.logging.set_verbosity(tf.logging.ERROR)
  if not FLAGS.do_train and not FLAGS.do_eval and not FLAGS.do_predict:
    raise ValueError("At least one of `do_train`, `do_eval` or `do_predict' must be True.")
  write_task(FLAGS.data_dir)
  tokenizer = tokenization.FullTokenizer(vocab_file=os.path.join(FLAGS.data_dir, "vocab.txt"))
  with tf.gfile.GFile(os.path.join(FLAGS.data_dir, "bert_config.json"), "w") as f:
    f.write(modeling.BertConfig(len(tokenizer.vocab)).to_json_string())
  bert_config = modeling.BertConfig.from_json_file(os.path.join(FLAGS.data_dir, "bert_config.json"))
  tf.gfile.MakeDirs(FLAGS.output_dir)
  processor = {"cola": ColaProcessor}[FLAGS.task_name.lower()]()
  label_list = processor.get_labels()
  run_config = tf.contrib.tpu.RunConfig(
      cluster=None, master=FLAGS.master, model_dir=FLAGS.output_dir, save_checkpoints_steps=1000,
      tpu_config=tf.contrib.tpu.TPUConfig(
          iterations_per_loop=FLAGS.iterations_per_loop, num_shards=8,
          per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2))
  train_examples = processor.get_examples(FLAGS.data_dir, "train")
  num_train_steps = int(len(train_examples) / FLAGS.train_batch_size * FLAGS.num_train_epochs)
  model_fn = model_fn_builder(bert_config, len(label_list), FLAGS.learning_rate, num_train_steps,
                              int(num_train_steps * FLAGS.warmup_proportion), FLAGS.use_tpu)
  estimator = tf.contrib.tpu.TPUEstimator(use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=run_config,
                                          train_batch_size=FLAGS.train_batch_size, eval_batch_size=8, predict_batch_size=8)
  found = {}
  if FLAGS.do_train:
    train_file = os.path.join(FLAGS.output_dir, "train.tf_record")
    file_based_convert_examples_to_features(train_examples, label_list, FLAGS.max_seq_length, tokenizer, train_file)
    estimator.train(input_fn=file_based_input_fn_builder(train_file, FLAGS.max_seq_length, True, True), max_steps=num_train_steps)
  if FLAGS.do_eval:
    eval_examples = processor.get_examples(FLAGS.data_dir, "dev")
    while len(eval_examples) % 8 != 0:
      eval_examples.append(PaddingInputExample())
    eval_file = os.path.join(FLAGS.output_dir, "eval.tf_record")
    file_based_convert_examples_to_features(eval_examples, label_list, FLAGS.max_seq_length, tokenizer, eval_file)
    result = estimator.evaluate(input_fn=file_based_input_fn_builder(eval_file, FLAGS.max_seq_length, False, True), steps=len(eval_examples) // 8)
    output_eval_file = os.path.join(FLAGS.output_dir, "eval_results.txt")
    with tf.gfile.GFile(output_eval_file, "w") as writer:
      for key in sorted(result.keys()):
        writer.write("%s = %s\n" % (key, str(result[key])))
    with tf.gfile.GFile(output_eval_file) as reader:
      found["eval"] = {line.split(" = ")[0]: float(line.split(" = ")[1]) for line in reader}
  if FLAGS.do_predict:
    predict_examples = processor.get_examples(FLAGS.data_dir, "test")
    predict_file = os.path.join(FLAGS.output_dir, "predict.tf_record")
    file_based_convert_examples_to_features(predict_examples, label_list, FLAGS.max_seq_length, tokenizer, predict_file)
    result = estimator.predict(input_fn=file_based_input_fn_builder(predict_file, FLAGS.max_seq_length, False, False))
    with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "test_results.tsv"), "w") as writer:
      for (i, prediction) in enumerate(result):
        writer.write("\t".join(str(p) for p in prediction["probabilities"]) + "\n")
    with tf.gfile.Open(os.path.join(FLAGS.output_dir, "test_results.tsv")) as reader:
      found["test"] = [[float(p) for p in line.split("\t")] for line in reader.read().splitlines()]
  print(json.dumps(found))


if __name__ == "__main__":
  flags.mark_flag_as_required("data_dir")
  flags.mark_flag_as_required("output_dir")
  tf.app.run()
