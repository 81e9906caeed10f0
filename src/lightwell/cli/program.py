"""Which TensorFlow each of a program's own files means.

Takes the program's places and its main source; gives a `Program` that answers `version_of(file)`. Reads sources,
runs nothing. A program is a TensorFlow 1 program as soon as one of the modules it can be seen to import is spelled so;
neutral modules mean what the program means, and a module spelled for TensorFlow 2 keeps today's.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lightwell.cli.notebooks import SUFFIX, read_notebook
from lightwell.cli.places import Places
from lightwell.cli.sources import sources_along, text_of
from lightwell.cli.tolerant import parse
from lightwell.tf1.spelling import Version, read_spelling


@dataclass(frozen=True)
class Program:
    """The program that is being run.

    Attributes:
        places: which files are its own.
        version: what its neutral modules mean.
        forced: whether `version` was given on the command line and holds for all its modules.
    """

    places: Places
    version: Version
    forced: bool = False

    def owns(self, file: str) -> bool:
        """Whether a source file belongs to the program."""
        return self.places.owns(file)

    def version_of(self, file: str) -> Version:
        """Which TensorFlow a source file of the program means."""
        if self.forced:
            return self.version
        own = _version_in(file)
        return self.version if own is Version.NEUTRAL else own


def look_at(main_file: str, package: str, places: Places, forced: Version | None) -> Program:
    """Decide which TensorFlow the program means.

    Args:
        main_file: the source that is run.
        package: name of the package that `main_file` belongs to, for its relative imports; empty for a script.
        places: which files are the program's own.
        forced: the answer, when the command line gave it.
    """
    if forced is None and main_file.endswith(SUFFIX):
        forced = {"1": Version.TF1, "2": Version.TF2}.get(read_notebook(main_file).tensorflow)
    if forced is not None:
        return Program(places, forced, forced=True)
    return look_at_all(reachable(main_file, package, places), places)


def look_at_all(files: Iterable[str], places: Places, forced: Version | None = None) -> Program:
    """Decide which TensorFlow the program of these files means."""
    if forced is not None:
        return Program(places, forced, forced=True)
    spelled_tf1 = any(_version_in(file) is Version.TF1 for file in files)
    return Program(places, Version.TF1 if spelled_tf1 else Version.TF2)


def main_source_of(module: str, places: Places) -> tuple[str, str] | None:
    """File and package of the source that `python -m module` would run, if it is the program's own."""
    found = {source.name: source for source in (*sources_along(module), *sources_along(f"{module}.__main__"))}
    source = found.get(f"{module}.__main__") or found.get(module)
    if source is None or not places.owns(source.file):
        return None
    return source.file, source.package


@functools.cache
def _version_in(file: str) -> Version:
    return read_spelling(parse(text_of(file), file).tree).version


def reachable(main_file: str, package: str, places: Places) -> Iterator[str]:
    """The main source and every own module that import statements lead to, each once, main first."""
    waiting, seen = [(main_file, package)], {main_file}
    while waiting:
        file, parent = waiting.pop()
        yield file
        for name in _imports(file, parent):
            for source in sources_along(name):
                if source.file not in seen and places.owns(source.file):
                    seen.add(source.file)
                    waiting.append((source.file, source.package))


def _imports(file: str, package: str) -> Iterator[str]:
    """Absolute dotted names that a source imports, or may import: `from a import b` gives `a.b`."""
    for node in ast.walk(parse(text_of(file), file).tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*filter(None, parents), *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
