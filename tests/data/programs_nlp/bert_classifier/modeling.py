"""The main model and related functions."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import copy
import json
import math
import re
import numpy as np
import six
import tensorflow as tf


class BertConfig(object):
  def __init__(self, vocab_size, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
               hidden_act="gelu", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
               max_position_embeddings=16, type_vocab_size=2, initializer_range=0.2):
    self.vocab_size = vocab_size
    self.hidden_size = hidden_size
    self.num_hidden_layers = num_hidden_layers
    self.num_attention_heads = num_attention_heads
    self.intermediate_size = intermediate_size
    self.hidden_act = hidden_act
    self.hidden_dropout_prob = hidden_dropout_prob
    self.attention_probs_dropout_prob = attention_probs_dropout_prob
    self.max_position_embeddings = max_position_embeddings
    self.type_vocab_size = type_vocab_size
    self.initializer_range = initializer_range

  @classmethod
  def from_dict(cls, json_object):
    config = BertConfig(vocab_size=None)
    for (key, value) in six.iteritems(json_object):
      config.__dict__[key] = value
    return config

  @classmethod
  def from_json_file(cls, json_file):
    with tf.gfile.GFile(json_file, "r") as reader:
      text = reader.read()
    return cls.from_dict(json.loads(text))

  def to_json_string(self):
    return json.dumps(copy.deepcopy(self.__dict__), indent=2, sort_keys=True) + "\n"


class BertModel(object):
  def __init__(self, config, is_training, input_ids, input_mask=None, token_type_ids=None, scope=None):
    config = copy.deepcopy(config)
    if not is_training:
      config.hidden_dropout_prob = 0.0
      config.attention_probs_dropout_prob = 0.0
    batch_size, seq_length = get_shape_list(input_ids, expected_rank=2)
    if input_mask is None:
      input_mask = tf.ones(shape=[batch_size, seq_length], dtype=tf.int32)
    with tf.variable_scope(scope, default_name="bert"):
      with tf.variable_scope("embeddings"):
        (self.embedding_output, self.embedding_table) = embedding_lookup(input_ids, config)
        token_type_table = tf.get_variable(
            "token_type_embeddings", [config.type_vocab_size, config.hidden_size], initializer=create_initializer(config.initializer_range))
        one_hot_ids = tf.one_hot(tf.reshape(token_type_ids, [-1]), depth=config.type_vocab_size)
        self.embedding_output += tf.reshape(tf.matmul(one_hot_ids, token_type_table), [batch_size, seq_length, config.hidden_size])
        assert_op = tf.assert_less_equal(seq_length, config.max_position_embeddings)
        with tf.control_dependencies([assert_op]):
          full_position_embeddings = tf.get_variable(
              "position_embeddings", [config.max_position_embeddings, config.hidden_size], initializer=create_initializer(config.initializer_range))
          position_embeddings = tf.slice(full_position_embeddings, [0, 0], [seq_length, -1])
          self.embedding_output += tf.reshape(position_embeddings, [1, seq_length, config.hidden_size])
        self.embedding_output = layer_norm_and_dropout(self.embedding_output, config.hidden_dropout_prob)
      with tf.variable_scope("encoder"):
        attention_mask = tf.ones([batch_size, seq_length, 1]) * tf.cast(tf.reshape(input_mask, [batch_size, 1, seq_length]), tf.float32)
        self.all_encoder_layers = transformer_model(self.embedding_output, attention_mask, config)
      self.sequence_output = self.all_encoder_layers[-1]
      with tf.variable_scope("pooler"):
        first_token_tensor = tf.squeeze(self.sequence_output[:, 0:1, :], axis=1)
        self.pooled_output = tf.layers.dense(
            first_token_tensor, config.hidden_size, activation=tf.tanh, kernel_initializer=create_initializer(config.initializer_range))

  def get_pooled_output(self):
    return self.pooled_output


def gelu(input_tensor):
  cdf = 0.5 * (1.0 + tf.erf(input_tensor / tf.sqrt(2.0)))
  return input_tensor * cdf


def get_activation(activation_string):
  if not isinstance(activation_string, six.string_types):
    return activation_string
  act = activation_string.lower()
  return {"linear": None, "relu": tf.nn.relu, "gelu": gelu, "tanh": tf.tanh}[act]


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
  initialized_variable_names = {}
  name_to_variable = collections.OrderedDict()
  for var in tvars:
    name = var.name
    m = re.match("^(.*):\\d+$", name)
    if m is not None:
      name = m.group(1)
    name_to_variable[name] = var
  assignment_map = collections.OrderedDict()
  for x in tf.train.list_variables(init_checkpoint):
    (name, _) = (x[0], x[1])
    if name not in name_to_variable:
      continue
    assignment_map[name] = name
    initialized_variable_names[name] = 1
    initialized_variable_names[name + ":0"] = 1
  return (assignment_map, initialized_variable_names)


def dropout(input_tensor, dropout_prob):
  if dropout_prob is None or dropout_prob == 0.0:
    return input_tensor
  return tf.nn.dropout(input_tensor, 1.0 - dropout_prob)


def layer_norm_and_dropout(input_tensor, dropout_prob, name=None):
  output = tf.contrib.layers.layer_norm(inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)
  return dropout(output, dropout_prob)


def create_initializer(initializer_range=0.02):
  return tf.truncated_normal_initializer(stddev=initializer_range, seed=11)


def embedding_lookup(input_ids, config, word_embedding_name="word_embeddings"):
  if input_ids.shape.ndims == 2:
    input_ids = tf.expand_dims(input_ids, axis=[-1])
  embedding_table = tf.get_variable(
      name=word_embedding_name, shape=[config.vocab_size, config.hidden_size], initializer=create_initializer(config.initializer_range))
  output = tf.nn.embedding_lookup(embedding_table, tf.reshape(input_ids, [-1]))
  input_shape = get_shape_list(input_ids)
  return tf.reshape(output, input_shape[0:-1] + [input_shape[-1] * config.hidden_size]), embedding_table


def transformer_model(input_tensor, attention_mask, config):
  size = int(config.hidden_size / config.num_attention_heads)
  batch_size, seq_length, width = get_shape_list(input_tensor, expected_rank=3)
  prev_output = tf.reshape(input_tensor, [-1, width])
  init = create_initializer(config.initializer_range)
  all_layer_outputs = []

  def heads(tensor):
    return tf.transpose(tf.reshape(tensor, [batch_size, seq_length, config.num_attention_heads, size]), [0, 2, 1, 3])

  for layer_idx in range(config.num_hidden_layers):
    with tf.variable_scope("layer_%d" % layer_idx):
      with tf.variable_scope("attention"):
        with tf.variable_scope("self"):
          query, key, value = [heads(tf.layers.dense(prev_output, width, name=name, kernel_initializer=init)) for name in ("query", "key", "value")]
          attention_scores = tf.multiply(tf.matmul(query, key, transpose_b=True), 1.0 / math.sqrt(float(size)))
          adder = (1.0 - tf.expand_dims(attention_mask, axis=[1])) * -10000.0
          attention_probs = dropout(tf.nn.softmax(attention_scores + adder), config.attention_probs_dropout_prob)
          context = tf.reshape(tf.transpose(tf.matmul(attention_probs, value), [0, 2, 1, 3]), [batch_size * seq_length, width])
        with tf.variable_scope("output"):
          attention_output = tf.layers.dense(context, width, kernel_initializer=init)
          attention_output = layer_norm_and_dropout(attention_output + prev_output, config.hidden_dropout_prob)
      with tf.variable_scope("intermediate"):
        intermediate = tf.layers.dense(attention_output, config.intermediate_size, activation=get_activation(config.hidden_act), kernel_initializer=init)
      with tf.variable_scope("output"):
        layer_output = tf.layers.dense(intermediate, width, kernel_initializer=init)
        prev_output = layer_norm_and_dropout(layer_output + attention_output, config.hidden_dropout_prob)
      all_layer_outputs.append(tf.reshape(prev_output, [batch_size, seq_length, width]))
  return all_layer_outputs


def get_shape_list(tensor, expected_rank=None, name=None):
  if name is None:
    name = tensor.name
  if expected_rank is not None and tensor.shape.ndims != expected_rank:
    raise ValueError("For the tensor `%s` in scope `%s`, the actual rank is not %s" % (name, tf.get_variable_scope().name, expected_rank))
  shape = tensor.shape.as_list()
  non_static_indexes = [index for (index, dim) in enumerate(shape) if dim is None]
  if not non_static_indexes:
    return shape
  dyn_shape = tf.shape(tensor)
  for index in non_static_indexes:
    shape[index] = dyn_shape[index]
  return shape
