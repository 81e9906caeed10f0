"""The programs of `tests/data/revived`: old programs of all kinds, in the spelling of TensorFlow 1.

Each prints one line of JSON last. A program is a script, a notebook, or a package that is run by `-m`. Read by the
recorder under Python 3.7 too: nothing newer may stand here, and nothing of `lightwell`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "revived"


@dataclass(frozen=True)
class Case:
    """One program.

    Attributes:
        name: of its file or package.
        words: what `lightwell run` is given after its own options; `{model_dir}` is filled in.
        options: options of `lightwell run`.
        recorded: whether TensorFlow 1.15.5 runs it as it stands. Those that it cannot run need what its wheel lacks.
        close: how near numbers must be to the recorded ones.
        slow: whether it takes seconds, and is left to the slow tests.
    """

    name: str
    words: tuple[str, ...]
    options: tuple[str, ...] = ()
    recorded: bool = True
    close: float = 1e-3
    slow: bool = False


def _script(name: str, *arguments: str, **more: object) -> Case:
    return Case(name, (name + ".py",) + (arguments or ("{model_dir}",)), **more)  # type: ignore[arg-type]


CASES = (
    _script("queue_input"),
    _script("shuffle_queue", "--train_dir={model_dir}"),
    _script("monitored_session"),
    _script("while_cond"),
    _script("py_func_feed"),
    _script("iterator_hook"),
    _script("saver_hook"),
    _script("summaries"),
    _script("variables_in_hooks"),
    _script("text_cnn", "--job-dir={model_dir}", slow=True),
    _script("text_lstm", "--model_dir={model_dir}", slow=True),
    _script("deepfm", "--model_dir={model_dir}", "--optimizer=Adam", slow=True),
    _script("dcn", slow=True),
    _script("xdeepfm"),
    _script("wide_deep", "--model_dir={model_dir}", slow=True),
    _script("matrix_factorization"),
    _script("word2vec"),
    _script("gan"),
    _script("vae"),
    _script("autoencoder"),
    _script("detection", slow=True),
    _script("time_series"),
    _script("seq2seq_reverse", slow=True),
    _script("resnet", "--model_dir={model_dir}", slow=True),
    Case("trainer", ("-m", "trainer.task", "--job-dir", "{model_dir}")),
    Case("research_repo", ("research_repo/scripts/train.py", "mlp", "{model_dir}")),
    Case("first_steps", ("first_steps.ipynb", "{model_dir}")),
    Case("custom_estimator", ("custom_estimator.ipynb", "{model_dir}")),
    _script("ner_crf", slow=True),
    _script("contrib_mnist"),
    _script("bert_tiny", "--output_dir={model_dir}", slow=True),
    _script("learn_experiment", "--job-dir={model_dir}", "--hparams=hidden=5,steps=10"),
    _script("slim_net"),
    _script("contrib_odds", slow=True),
    # `tf.examples` is not in the wheel of 1.15.5.
    _script("mnist_session", "--data_dir=mnist", recorded=False),
)


def words_of(case: Case, model_dir: str) -> list[str]:
    return [word.format(model_dir=model_dir) for word in case.words]
