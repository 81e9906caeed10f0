"""`tf.contrib.learn.preprocessing`: words, their numbers, and texts as rows of them.

A saved processor is a JSON file, where TensorFlow 1 wrote a pickle, which may run anything when it is read; one of
those is refused with what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|['\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class CategoricalVocabulary:
    """Words and their numbers; 0 is the unknown word.

    Args:
        unknown_token: the word of number 0.
        support_reverse: whether numbers can be turned into words.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping: list[Any] = [unknown_token]
        self._freq: dict[Any, int] = {}
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Whether new words are unknown from now on."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a word; a new one, unless frozen, if it has none."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a word."""
        if self.get(category) <= 0:
            return
        self._freq[category] = self._freq.get(category, 0) + count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps the words that came more than `min_frequency` times, and less than `max_frequency` if that is more than
        0; the most frequent ones first."""
        by_count = sorted(sorted(self._freq.items(), key=lambda pair: str(pair[0])), key=lambda pair: -pair[1])
        kept = [
            (word, count)
            for word, count in by_count
            if count > min_frequency and (max_frequency <= 0 or count < max_frequency)
        ]
        self._freq = dict(kept)
        self._reverse_mapping = [self._unknown_token, *self._freq]
        self._mapping = {word: number for number, word in enumerate(self._reverse_mapping)}

    def reverse(self, class_id: int) -> Any:
        """The word of a number."""
        if not self._support_reverse:
            raise UsageError(
                "CategoricalVocabulary: This vocabulary wasn't initialized with support_reverse to support it."
            )
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Texts as rows of the numbers of their words.

        processor = VocabularyProcessor(10)
        rows = np.array(list(processor.fit_transform(texts)))

    Args:
        max_document_length: how long a row is: longer texts are cut, shorter ones filled with 0.
        min_frequency: words that come no more often are unknown.
        vocabulary: a `CategoricalVocabulary` to begin with.
        tokenizer_fn: from texts to lists of words; `tokenizer` if None.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of texts, and no new ones afterwards."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[Any]:
        """Learns the words of texts, and returns their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """A row for each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, word in enumerate(words[: self.max_document_length]):
                row[place] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The words of each row, with spaces between."""
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(number)) for number in row)

    def save(self, filename: Any) -> None:
        """Writes words and settings to a JSON file; a tokenizer of your own is not part of it."""
        words = self.vocabulary_
        content = {
            "max_document_length": self.max_document_length,
            "min_frequency": self.min_frequency,
            "words": words._reverse_mapping,
            "counts": [words._freq.get(word, 0) for word in words._reverse_mapping],
            "frozen": words._freeze,
        }
        with tf.io.gfile.GFile(filename, "w") as opened:
            opened.write(json.dumps(content))

    @classmethod
    def restore(cls, filename: Any) -> VocabularyProcessor:
        """Reads what `save` wrote.

        Raises:
            UsageError: the file is the pickle of TensorFlow 1, or something else.
        """
        with tf.io.gfile.GFile(filename, "rb") as opened:
            text = opened.read()
        try:
            content = json.loads(text)
            words, counts = content["words"], content["counts"]
        except (ValueError, TypeError, KeyError):
            raise UsageError(
                f"VocabularyProcessor.restore: {filename} is not what save wrote here. TensorFlow 1 wrote a pickle of "
                "its own classes, which cannot be read safely: fit the processor on the same texts again, and save it."
            ) from None
        vocabulary = CategoricalVocabulary(words[0])
        vocabulary._reverse_mapping = words
        vocabulary._mapping = {word: number for number, word in enumerate(words)}
        vocabulary._freq = {word: count for word, count in zip(words, counts, strict=True) if count}
        vocabulary.freeze(content["frozen"])
        return cls(content["max_document_length"], content["min_frequency"], vocabulary)


class ByteProcessor:
    """Texts as rows of bytes.

    Args:
        max_document_length: how long a row is.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[Any]) -> ByteProcessor:
        """There is nothing to learn."""
        return self

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """A row for each text."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """A row for each text."""
        for text in x:
            given = np.frombuffer(text.encode("utf-8") if isinstance(text, str) else text, np.uint8)
            row = np.zeros(self.max_document_length, np.uint8)
            row[: len(given)] = given[: self.max_document_length]
            yield row

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """The text of each row."""
        for row in x:
            yield bytes(np.asarray(row, np.uint8)).rstrip(b"\0").decode("utf-8", "ignore")
