"""The program of a user: which files belong to it, and which TensorFlow each is written for.

`read_program` reads sources and runs nothing. A program is one of TensorFlow 1 as soon as one module that it imports is
spelled so. Neutral modules follow the program; a module spelled for TensorFlow 2 keeps today's.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lightwell.cli.added_folders import added_folders
from lightwell.cli.module_sources import module_sources, read_source
from lightwell.cli.notebooks import SUFFIX, read_notebook
from lightwell.cli.program_folders import ProgramFolders
from lightwell.cli.python2_parser import parse
from lightwell.compat.tf1.spelling import Version, read_spelling


@dataclass(frozen=True)
class UserProgram:
    """The program of a user.

    Attributes:
        folders: decides which files belong to it.
        version: the TensorFlow of its neutral modules.
        forced: whether the command line set `version`, for all its modules.
    """

    folders: ProgramFolders
    version: Version
    forced: bool = False

    def owns(self, file: str) -> bool:
        """Whether a source file belongs to the program."""
        return self.folders.owns(file)

    def tree_of(self, file: str) -> ast.Module | None:
        """The syntax tree of a source file; None if it cannot be read."""
        try:
            return tree_of(file)
        except OSError:
            return None

    def version_of(self, file: str) -> Version:
        """The TensorFlow that a source file of the program is written for."""
        if self.forced:
            return self.version
        own = _version_in(file)
        return self.version if own is Version.NEUTRAL else own


def read_program(main_file: str, package: str, folders: ProgramFolders, forced: Version | None) -> UserProgram:
    """Read which TensorFlow the program is written for.

    Args:
        main_file: the source that is run.
        package: name of the package that `main_file` belongs to, for its relative imports; empty for a script.
        folders: decides which files belong to the program.
        forced: the version that the command line sets, if any.
    """
    if forced is None and main_file.endswith(SUFFIX):
        forced = {"1": Version.TF1, "2": Version.TF2}.get(read_notebook(main_file).tensorflow)
    if forced is not None:
        return UserProgram(folders, forced, forced=True)
    return read_program_files(reachable_files(main_file, package, folders), folders)


def read_program_files(files: Iterable[str], folders: ProgramFolders, forced: Version | None = None) -> UserProgram:
    """Read which TensorFlow a program of these files is written for."""
    if forced is not None:
        return UserProgram(folders, forced, forced=True)
    spelled_tf1 = any(_version_in(file) is Version.TF1 for file in files)
    return UserProgram(folders, Version.TF1 if spelled_tf1 else Version.TF2)


def main_source_of(module: str, folders: ProgramFolders) -> tuple[str, str] | None:
    """File and package of the source that `python -m module` would run, if it belongs to the program."""
    by_name = {source.name: source for source in (*module_sources(module), *module_sources(f"{module}.__main__"))}
    source = by_name.get(f"{module}.__main__") or by_name.get(module)
    if source is None or not folders.owns(source.file):
        return None
    return source.file, source.package


def tree_of(file: str) -> ast.Module:
    """The syntax tree of a source file, without lines that do not parse."""
    return _tree_of(file, state_of(file))


def state_of(file: str) -> tuple[int, int]:
    """What changes with the content of a file: its time of change and its size."""
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size


@functools.cache
def _tree_of(file: str, state: tuple[int, int]) -> ast.Module:
    return parse(read_source(file), file).tree


def _version_in(file: str) -> Version:
    return _version_of_state(file, state_of(file))


@functools.cache
def _version_of_state(file: str, state: tuple[int, int]) -> Version:
    return read_spelling(_tree_of(file, state)).version


def reachable_files(main_file: str, package: str, folders: ProgramFolders) -> Iterator[str]:
    """The main source and every module of the program that import statements lead to, each once, main first."""
    queue, seen = [(main_file, package)], {main_file}
    added: list[str] = []
    while queue:
        file, parent = queue.pop()
        yield file
        added += [folder for folder in added_folders(tree_of(file), file) if folder not in added]
        for name in _imports(file, parent):
            for source in module_sources(name, added):
                is_own = folders.owns(source.file) or any(source.file.startswith(f"{each}{os.sep}") for each in added)
                if source.file not in seen and is_own:
                    seen.add(source.file)
                    queue.append((source.file, source.package))


def _imports(file: str, package: str) -> Iterator[str]:
    """Absolute dotted names that a source imports, or may import: `from a import b` gives `a.b`."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*filter(None, parents), *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
