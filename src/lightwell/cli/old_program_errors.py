"""Explains errors of old programs that are not about TensorFlow: Python 2, an old NumPy, an old library.

`lightwell run` prints the explanation below the traceback. `lightwell doctor` uses the same tables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from lightwell.cli import old_numpy

_MOVED = "Python moved it:"
PYTHON_2 = "This is Python 2, which ended in 2020."
TO_PYTHON_3 = "`2to3 -w FILE` (it came with Python up to 3.12) or `pip install future; futurize -w FILE` rewrites it."
# Names that only Python 2 had -> their names today.
NAMES: Mapping[str, str] = {
    "basestring": "str",
    "execfile": "exec(open(file).read())",
    "long": "int",
    "raw_input": "input",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
    "unichr": "chr",
    "unicode": "str",
    "xrange": "range",
}
METHODS: Mapping[str, str] = {
    "has_key": "key in d",
    "iteritems": "items",
    "iterkeys": "keys",
    "itervalues": "values",
    "viewitems": "items",
    "viewkeys": "keys",
    "viewvalues": "values",
}
MODULES: Mapping[str, str] = {
    "ConfigParser": "configparser",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "__builtin__": "builtins",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "copy_reg": "copyreg",
    "httplib": "http.client",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
}
# Names that later releases of Python removed: (module, name) -> what to use.
LATER_PYTHON: Mapping[tuple[str, str], str] = {
    **{
        ("collections", name): f"collections.abc.{name}, since Python 3.10"
        for name in ("Callable", "Hashable", "Iterable", "Iterator", "Mapping", "MutableMapping", "Sequence", "Set")
    },
    ("inspect", "getargspec"): "inspect.getfullargspec, since Python 3.11",
    ("string", "letters"): "string.ascii_letters, since Python 3",
    ("time", "clock"): "time.perf_counter, since Python 3.8",
    ("itertools", "izip"): "zip, since Python 3",
    ("itertools", "imap"): "map, since Python 3",
    ("fractions", "gcd"): "math.gcd, since Python 3.9",
}
_SYNTAX: Mapping[str, str] = {
    r"Missing parentheses in call to 'print'": "print is a function now",
    r"Missing parentheses in call to 'exec'": "exec is a function now",
    r"multiple exception types must be parenthesized": "write `except Error as error:`",
    r"leading zeros in decimal integer": "write 0o777 for 0777",
    r"inconsistent use of tabs|unindent does not match": "tabs and spaces are mixed",
}
_OLD_LINE = re.compile(
    r"^\s*(print\b(?!\s*\()|raise\s+\w+\s*,|exec\s+\w|except\s+[\w.]+\s*,)|<>|\b\d+L\b|\bur['\"]|`\w+`"
)
_OTHER: Mapping[str, str] = {
    r"setting an array element with a sequence\. The requested array has an inhomogeneous shape": (
        "NumPy makes no array of rows of different lengths any more (since 1.24): np.array(rows, dtype=object)."
    ),
    r"Object arrays cannot be loaded when allow_pickle=False": (
        "NumPy 1.16.3 changed the default: np.load(file, allow_pickle=True), if you trust the file."
    ),
    r"only 0-dimensional arrays can be converted to Python scalars": (
        "NumPy 2.4 makes no number of an array of one element any more: array.item() or array[0]."
    ),
    r"No module named 'sklearn\.(cross_validation|grid_search)'": "It is sklearn.model_selection now.",
    r"No module named 'sklearn\.externals'": "Import joblib itself: pip install joblib.",
    r"load\(\) missing 1 required positional argument: 'Loader'": "PyYAML 6 wants it: yaml.safe_load(text).",
    r"Unexpected keyword argument passed to optimizer: lr|has no attribute 'lr'": "Keras calls it learning_rate now.",
    r"__init__\(\) got an unexpected keyword argument 'keep_dims'|'keep_dims'": "It is called keepdims now.",
}


def explain(error: BaseException, command: str = "lightwell run", program: str = "...") -> str | None:
    """An explanation of an error, or of an error that it was raised from; None if there is none.

    Args:
        error: the error that ended the program.
        command: the command that ran it, without options.
        program: the program, as the command names it.
    """
    found = (
        (one, text) for one in _chain(error) if (text := _explain_one(one, f"{command} --old-numpy {program} ..."))
    )
    error, text = next(found, (error, None))
    if text is not None and text.startswith((PYTHON_2, _MOVED)):
        return f"{text} Or run it as it is: `{command} --old-python {program} ...`."
    return text


def about_removed(name: str, command: str) -> str:
    """The sentence for a name that NumPy removed."""
    row = old_numpy.REMOVED[name]
    return (
        f"np.{name} was removed from NumPy {row.since}: `{command}` restores it for installed packages, or write "
        f"{row.instead}."
    )


def _explain_one(error: BaseException, command: str) -> str | None:
    if isinstance(error, SyntaxError):
        meaning = about_syntax(error)
        return None if meaning is None else f"{PYTHON_2} {meaning[0].upper()}{meaning[1:]}. {_rewrite(error)}"
    text = str(error)
    if (name := old_numpy.name_in(error)) is not None:
        return about_removed(name, command)
    if isinstance(error, ModuleNotFoundError) and error.name and error.name in MODULES:
        return f"{PYTHON_2} The module {error.name} is {MODULES[error.name]} now. {_rewrite(error)}"
    if isinstance(error, NameError) and (match := re.match(r"name '(\w+)' is not defined", text)) and match[1] in NAMES:
        return f"{PYTHON_2} {match[1]} is {NAMES[match[1]]} now. {_rewrite(error)}"
    if isinstance(error, AttributeError):
        match = re.search(r"'(?:\w*[dD]ict)' object has no attribute '(\w+)'", text)
        if match and match[1] in METHODS:
            return f"{PYTHON_2} .{match[1]}() of a dict is {METHODS[match[1]]} now. {_rewrite(error)}"
    if isinstance(error, AttributeError | ImportError):
        match = re.search(r"module '(\w+)' has no attribute '(\w+)'|cannot import name '(\w+)' from '(\w+)'", text)
        if match and (use := LATER_PYTHON.get((match[1] or match[4], match[2] or match[3]))):
            return f"{_MOVED} use {use}."
    return next((meaning for pattern, meaning in _OTHER.items() if re.search(pattern, text)), None)


def about_syntax(error: SyntaxError) -> str | None:
    """The Python 2 syntax of a line that does not parse; None if it is another error."""
    for pattern, meaning in _SYNTAX.items():
        if re.search(pattern, error.msg or ""):
            return meaning
    return "The line is written for it" if _OLD_LINE.search(error.text or "") else None


def _rewrite(error: BaseException) -> str:
    """Advice to rewrite the file of an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = error.filename if isinstance(error, SyntaxError) else trace and trace.tb_frame.f_code.co_filename
    return TO_PYTHON_3.replace("FILE", os.path.relpath(file)) if file else TO_PYTHON_3


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
