"""Sentences in text files: one file of words, one of tags."""
from pathlib import Path

import numpy as np

NAMES = ["John", "Mary", "Paris", "Rome"]
OTHERS = "went to see and the in big small saw".split()


def build(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.RandomState(0)
    for part, count in (("train", 24), ("testa", 8)):
        words, tags = [], []
        for _ in range(count):
            sentence = [str(rng.choice(NAMES if rng.rand() < 0.4 else OTHERS)) for _ in range(rng.randint(2, 6))]
            words.append(" ".join(sentence))
            tags.append(" ".join(("B-PER" if w in NAMES[:2] else "B-LOC") if w in NAMES else "O" for w in sentence))
        (folder / "{}.words.txt".format(part)).write_text("\n".join(words) + "\n")
        (folder / "{}.tags.txt".format(part)).write_text("\n".join(tags) + "\n")
    (folder / "vocab.words.txt").write_text("\n".join(NAMES[:3] + OTHERS))
    (folder / "vocab.tags.txt").write_text("\n".join(["O", "B-PER", "B-LOC"]))
    (folder / "vocab.chars.txt").write_text("\n".join("abcdefghijklmnopqrstuvwxyzJMPR"))
    np.savez_compressed(str(folder / "glove.npz"), embeddings=rng.randn(len(NAMES[:3] + OTHERS), 5).astype(np.float32) * 0.3)
    return folder
