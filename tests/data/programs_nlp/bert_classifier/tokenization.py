"""Tokenization classes."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import unicodedata
import six
import tensorflow as tf


def convert_to_unicode(text):
  """Converts `text` to Unicode (if it's not already), assuming utf-8 input."""
  if six.PY3:
    if isinstance(text, str):
      return text
    elif isinstance(text, bytes):
      return text.decode("utf-8", "ignore")
    raise ValueError("Unsupported string type: %s" % (type(text)))
  raise ValueError("Not running on Python 3?")


def load_vocab(vocab_file):
  """Loads a vocabulary file into a dictionary."""
  vocab = collections.OrderedDict()
  index = 0
  with tf.gfile.GFile(vocab_file, "r") as reader:
    while True:
      token = convert_to_unicode(reader.readline())
      if not token:
        break
      token = token.strip()
      vocab[token] = index
      index += 1
  return vocab


class WordpieceTokenizer(object):
  """Greedy longest-match-first."""

  def __init__(self, vocab, unk_token="[UNK]", max_input_chars_per_word=100):
    self.vocab = vocab
    self.unk_token = unk_token
    self.max_input_chars_per_word = max_input_chars_per_word

  def tokenize(self, text):
    output_tokens = []
    for token in convert_to_unicode(text).strip().split():
      chars = list(token)
      is_bad, start, sub_tokens = False, 0, []
      while start < len(chars):
        end, cur_substr = len(chars), None
        while start < end:
          substr = "".join(chars[start:end])
          if start > 0:
            substr = "##" + substr
          if substr in self.vocab:
            cur_substr = substr
            break
          end -= 1
        if cur_substr is None:
          is_bad = True
          break
        sub_tokens.append(cur_substr)
        start = end
      output_tokens.extend([self.unk_token] if is_bad else sub_tokens)
    return output_tokens


class FullTokenizer(object):
  def __init__(self, vocab_file, do_lower_case=True):
    self.vocab = load_vocab(vocab_file)
    self.inv_vocab = {v: k for k, v in self.vocab.items()}
    self.do_lower_case = do_lower_case
    self.wordpiece_tokenizer = WordpieceTokenizer(vocab=self.vocab)

  def tokenize(self, text):
    text = convert_to_unicode(text)
    if self.do_lower_case:
      text = unicodedata.normalize("NFD", text.lower())
      text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    return self.wordpiece_tokenizer.tokenize(text)

  def convert_tokens_to_ids(self, tokens):
    return [self.vocab[token] for token in tokens]
