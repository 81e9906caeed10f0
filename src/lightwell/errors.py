"""Every exception Lightwell raises on purpose.

    LightwellError
    ├── UsageError (ValueError)            a call, a setting or a returned value does not make sense
    │   ├── ModelFnError                   model_fn, or the EstimatorSpec it returned
    │   │   ├── UnknownFeature (KeyError)  a feature that input_fn does not provide
    │   │   ├── WrongFeature (TypeError)   a feature of a type that its column cannot read
    │   │   ├── NotInitialised (RuntimeError)   variables without an initial value
    │   │   └── NoRows (IndexError)        a prediction without a batch dimension
    │   ├── InputFnError                   input_fn, or what it returned
    │   ├── ModelFileError (OSError)       the file of a Keras model is missing
    │   ├── PathError (KeyError)           a path that names nothing in this model and mode
    │   └── UnknownMetric (KeyError)       a metric that evaluations do not have
    ├── WrongType (TypeError)              an argument of the wrong type
    │   ├── NotAnArray (AttributeError)    a list, a number or the like where an array or a frame belongs
    │   └── WrongKind (UsageError, AttributeError)   a value that lacks what one of the expected kind has
    ├── SettingIsFixed (AttributeError)    an assignment to a setting of a RunConfig
    ├── HookError (RuntimeError)           a hook asked for something that does not exist
    │   ├── EmptyCollection (IndexError)   a graph collection without members
    │   └── UnknownName (KeyError, …)      a name that no tensor, operation or path has
    ├── WatchError (RuntimeError)          the function of a watch raised
    ├── NotEvaluated (RuntimeError)        train_and_evaluate could not evaluate a checkpoint
    ├── ModelDirError (OSError)            model_dir cannot be created, read or written
    ├── CaptureError (OSError)             the files of a capture cannot be written or read
    ├── ForkedProcess (RuntimeError)       a process that was forked after its parent had opened a session
    ├── ModelInUse (RuntimeError)          a training, or an edit of weights, is under way in model_dir
    └── CheckpointError (ValueError)       a checkpoint cannot be used
        ├── CheckpointUnreadable           its files are missing, cut short or corrupt
        └── CheckpointMismatch             it was written by another model

Each class also derives from the exception that `tf.estimator` raised in the same place, so that old `except` clauses
still work. Classes that derive from one of `tf.errors` are defined where they are raised, because this module does not
import TensorFlow. Messages say where, what was expected, what came, and what to do.
"""

from __future__ import annotations

import difflib
import errno
import re
import typing

if typing.TYPE_CHECKING:
    from collections.abc import Iterable


def near(name: str, known: Iterable[object]) -> str:
    """The end of a message about an unknown name: the similar known names; empty if there are none."""
    close = difflib.get_close_matches(name, [str(one) for one in known], n=3, cutoff=0.5)
    return f" Near to it: {close}." if close else ""


class LightwellError(Exception):
    """Base of everything Lightwell raises on purpose."""


class UsageError(LightwellError, ValueError):
    """A call, a setting or a returned value does not make sense."""


class ModelFnError(UsageError):
    """`model_fn`, or the `EstimatorSpec` it returned, cannot be used."""


class UnknownFeature(ModelFnError, KeyError):
    """`model_fn` looked up a key that its features or labels do not have. `args[0]` is that key."""

    def __init__(self, key: object, text: str) -> None:
        super().__init__(key, text)

    def __str__(self) -> str:
        return str(self.args[1])


class WrongFeature(ModelFnError, TypeError):
    """A feature is of a type that its column cannot read."""


class NotInitialised(ModelFnError, RuntimeError):
    """Variables have no value after initialisation and restore."""


class NoRows(ModelFnError, IndexError):
    """A prediction has no batch dimension, so it cannot be split into examples."""


class InputFnError(UsageError):
    """`input_fn`, or what it returned, cannot be used."""


class ModelFileError(UsageError, OSError):
    """The file of a Keras model is missing."""


class WrongType(LightwellError, TypeError):
    """An argument has the wrong type."""


class NotAnArray(WrongType, AttributeError):
    """A list, a number or the like came where an array or a frame was expected."""


class WrongKind(UsageError, WrongType, AttributeError):
    """A value lacks an attribute of the expected kind: a number instead of a tensor, a list instead of a dict."""


class SettingIsFixed(LightwellError, AttributeError):
    """A setting of a `RunConfig` was assigned; use `replace` instead."""


class HookError(LightwellError, RuntimeError):
    """A hook asked for something that does not exist."""


class EmptyCollection(HookError, IndexError):
    """A hook indexed a graph collection that has no members."""


class UnknownName(HookError, KeyError, ValueError):
    """A hook asked for a tensor or an operation by a name that nothing has."""

    def __str__(self) -> str:  # as for PathError
        return str(self.args[0]) if self.args else ""


class ModelDirError(LightwellError, OSError):
    """`model_dir` cannot be created, read or written."""


class CaptureError(LightwellError, OSError):
    """The files of a capture cannot be written or read."""


class ForkedProcess(LightwellError, RuntimeError):
    """This process was forked from one that had opened a session; TensorFlow's threads are not in it."""


class ModelInUse(LightwellError, RuntimeError):
    """A training, or an edit of its weights, is under way in `model_dir`."""


class CheckpointError(LightwellError, ValueError):
    """A checkpoint cannot be used."""


class CheckpointUnreadable(CheckpointError):
    """A checkpoint's files are missing, cut short or corrupt."""


class CheckpointMismatch(CheckpointError):
    """A checkpoint was written by a model with other variables or shapes."""


class PathError(UsageError, KeyError):
    """A path names nothing that this model has in this mode."""

    def __str__(self) -> str:  # KeyError would show the text in quotes, as if it were a key
        return str(self.args[0]) if self.args else ""


class UnknownMetric(UsageError, KeyError):
    """A metric was named that evaluations do not have. `args[0]` is its name."""

    def __init__(self, name: str, known: list[str], nearest: list[str], where: str) -> None:
        super().__init__(name, known, nearest, where)

    def __str__(self) -> str:
        name, known, nearest, where = self.args
        hint = f"Did you mean {' or '.join(map(repr, nearest))}? " if nearest else ""
        return f"{where} have no metric {name!r}. {hint}There are: {', '.join(known)}."


class WatchError(LightwellError, RuntimeError):
    """The function of a watch raised; the message names the watch, the cause is the user's exception."""


class NotEvaluated(LightwellError, RuntimeError):
    """A checkpoint of `train_and_evaluate` could not be evaluated: there is none, or the evaluation ended early."""


def reason_of(error: BaseException) -> str:
    """The cause in TensorFlow's words, in one sentence, without its stack traces."""
    text = str(error)
    several = _SEVERAL.search(text)
    if several:  # "2 root error(s) found": on a GPU two ops often wait for the one that failed
        return several[1].rstrip(".")
    lines = [line.strip() for line in text.splitlines() if line.strip() not in ("", "Graph execution error:")]
    at_node = [index for index, line in enumerate(lines) if line.startswith("Node: ")]
    causes = lines[at_node[0] + 1 :] if at_node else lines
    return causes[0].rstrip(".") if causes else type(error).__name__


_SEVERAL = re.compile(r"^\s*\(0\)\s+(?:[A-Z_ ]+: )?(.*)", re.MULTILINE)


def disk_error(error: BaseException, text: str) -> ModelDirError:
    """The error to raise for a file system error that came through TensorFlow, which drops its errno."""
    message = str(error)
    number = next((number for words, number in _ERRNO_BY_TEXT.items() if words in message), errno.EIO)
    return ModelDirError(getattr(error, "errno", None) or number, text)


_ERRNO_BY_TEXT = {
    "No space left": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "Read-only file system": errno.EROFS,
    "Permission denied": errno.EACCES,
    "Not a directory": errno.ENOTDIR,
    "is not a directory": errno.ENOTDIR,
    "File too large": errno.EFBIG,
}
