"""The graveyard: names of TensorFlow 1 that will not come back, each with the way out.

Owns the table of `tf.contrib`, which TensorFlow removed in 2.0. Where the very same thing lives on, its cell is a
target and `tf.contrib` of `lightwell.tf1` gives it; otherwise the cell begins with `!` and says what to use. The cell
of a whole namespace has the empty name; if it begins with `?`, the module named first has what the other cells do not
give, where it is installed. Retired names of `tf.estimator` itself are absent rows of `lightwell.base.public_names`.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping

from lightwell.base.lazy import is_listed, resolve
from lightwell.compat.retired.released_names import releases_of
from lightwell.compat.retired.small import NAMESPACES

# A namespace named here has its cells in a file of its own; `small.py` has all others.
_LARGE = """
    cluster_resolver crf cudnn_rnn data deprecated distribute eager estimator framework image layers learn lookup losses
    metrics mixed_precision opt rnn seq2seq slim summary tensorboard tpu training
"""


def _cells(namespace: str) -> Mapping[str, str]:
    cells: Mapping[str, str] = importlib.import_module(f"{__name__}.{namespace}").CELLS
    return cells


CONTRIB: Mapping[str, Mapping[str, str]] = {**NAMESPACES, **{name: _cells(name) for name in _LARGE.split()}}


def living_names(namespace: str) -> dict[str, str]:
    """The names of a namespace of `tf.contrib` that exist here, with their targets."""
    cells = CONTRIB.get(namespace, {})
    return {name: cell for name, cell in cells.items() if name and _lives(cell)}


def written_for_slim() -> dict[str, dict[str, str]]:
    """Names and targets of Lightwell's own functions in namespaces that the package tf_slim continues."""
    return {
        namespace: {
            name: cell for name, cell in CONTRIB[namespace].items() if cell.startswith("lightwell.compat.contrib.")
        }
        for namespace in ("slim", "losses", "metrics")
    }


def _lives(cell: str) -> bool:
    # Lightwell's own functions exist; other pages list their names.
    return cell.startswith("lightwell.compat.contrib.") or (not cell.startswith("!") and is_listed(cell))


def contrib_hint(path: str, installed: bool = False) -> str:
    """The error text for `path` (`contrib`, `contrib.slim`, `contrib.layers.layer_norm`), which does not exist.

    Args:
        path: the name, without the leading `tf.`.
        installed: whether the package that continues its namespace is installed and lacks it too.
    """
    start = f"tf.{path} is gone: TensorFlow removed tf.contrib in 2.0."
    _, _, rest = path.partition(".")
    namespace, _, below = rest.partition(".")
    if not namespace:
        return f"{start} `from lightwell import tf1 as tf` offers the parts of tf.contrib that live on."
    cells = CONTRIB.get(namespace, {})
    # Modules below `python` defined the names that the namespace offered.
    name = below.rpartition(".")[2]
    cell = cells.get(name) or cells.get("", "")
    nearest = difflib.get_close_matches(name, living_names(namespace), 1, 0.85) if name not in cells else []
    is_slip = bool(nearest) and not releases_of(path)  # what a release had is none
    meant = f" Did you mean tf.contrib.{namespace}.{nearest[0]}?" if is_slip else ""
    if cell.startswith("?") and not installed:
        # Nobody knows yet whether the package has the name, or whether it is a slip.
        _, _, hint = cell[1:].partition(" ")
        return f"{start} {hint}{meant}"
    if is_slip:
        return f"tf.{path} does not exist.{meant}"
    if cell.startswith("?"):
        return f"{start} The package {cell[1:].partition(' ')[0]} does not have it either."
    if cell.startswith("!"):
        return f"{start} {cell[1:]}"
    if name in cells:
        try:
            resolve(cell)
        except (AttributeError, ImportError) as error:  # it became a part of tf.estimator that is not here
            return f"{start.removesuffix('.')}, and {error}"
        return f"{start} `from lightwell import tf1 as tf` has it, and so has a program that `lightwell run` runs."
    living = ", ".join(sorted(living_names(namespace)))
    if living:
        return f"{start} Of tf.contrib.{namespace} there is: {living}."
    return f"{start} Nothing under tf.contrib.{namespace} has a successor that Lightwell knows."
