"""Which test files reach what has changed, by the import graph: `python -m tests.changed [BASE]` prints them.

A test file is chosen if it, a module that it imports, or one that those import has changed since BASE (default: the
branch `main`, and all that is not committed). Imports inside functions count, and so do module names in strings. The
pages of public names point at everything; of these, the names that a file mentions count. A changed page of
documentation or example chooses the tests that run it.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import lightwell
from lightwell.base.public_names import PAGES, ROWS

ROOT = Path(__file__).resolve().parents[1]
_DOTTED = re.compile(r"^(?:lightwell|tests)(?:\.\w+)+")
# What every test depends on, and what no import shows.
_EVERYTHING = ("pyproject.toml", "Makefile", "tests/conftest.py")
# Tables of public names: what a file reaches through them is what it mentions.
_TABLES = ("src/lightwell/__init__.py", "src/lightwell/base/public_names.py")
_TARGETS = {
    **{row.name: row.target for rows in ROWS.values() for row in rows},
    **lightwell._OWN_NAMES,
}
_WORD = re.compile(r"\.(\w+)")
_PROSE = {"docs": "tests/docs", "examples": "tests/examples", "benchmarks": "tests/benchmarks"}


def changed_files(base: str) -> set[str]:
    """The files that differ from `base`, committed or not, relative to the root."""
    commands = (("diff", "--name-only", base), ("ls-files", "--others", "--exclude-standard"))
    lines = [_git(*command).splitlines() for command in commands]
    return {line for group in lines for line in group if line}


def select_tests(changed: Iterable[str]) -> list[str]:
    """The test files that reach one of the changed files."""
    changed = set(changed)
    tests = sorted(_relative(path) for path in (ROOT / "tests").rglob("test_*.py") if "data" not in path.parts)
    if changed.intersection(_EVERYTHING):
        return tests
    return [test for test in tests if _reached(test) & changed or any(_mentions(test, one) for one in changed)]


def _mentions(test: str, changed: str) -> bool:
    """Whether a changed file that nobody imports belongs to a test: a page, an example, recorded data."""
    top, _, name = changed.rpartition("/")
    folder = _PROSE.get(changed.partition("/")[0], "")
    if folder and not changed.endswith(".py"):
        return test.startswith(folder) or name in _text(test)
    if folder:
        return test.startswith(folder)
    return top.startswith("tests/data") and any(
        name in _text(one) for one in _reached(test) if one.startswith("tests/")
    )


@functools.cache
def _reached(file: str) -> frozenset[str]:
    """The files of the repository that a file imports, directly or not, with itself."""
    reached, waiting = {file, *_conftests(file)}, [file, *_conftests(file)]
    while waiting:
        for target in _imports(waiting.pop()) - reached:
            reached.add(target)
            waiting.append(target)
    return frozenset(reached)


def _conftests(file: str) -> list[str]:
    folders = [ROOT / folder for folder in Path(file).parents]
    return [_relative(folder / "conftest.py") for folder in folders if (folder / "conftest.py").is_file()]


@functools.cache
def _imports(file: str) -> frozenset[str]:
    """The files that one file names in its import statements and in strings, with the pages of their packages."""
    if file in _TABLES:
        return frozenset()
    names = set(_module_names(ast.parse(_text(file))))
    if "lightwell" in {name.partition(".")[0] for name in names} and not file.startswith("src/"):
        names |= {_TARGETS[word] for word in _WORD.findall(_text(file)) if word in _TARGETS}
    names |= {PAGES[name] for name in names if name in PAGES}
    if "__name__" in _text(file):  # a package that loads its own modules by name
        names |= {f"{'.'.join(Path(file).relative_to('src').parts[:-1])}.*"} if file.endswith("/__init__.py") else set()
    return frozenset(path for name in names for path in _files_of(name.partition(":")[0]))


def _module_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = _DOTTED.match(node.value)
            if match:  # a text that goes on after a dot names any module of the package
                yield match.group() + (".*" if node.value.endswith(".") else "")


@functools.cache
def _files_of(name: str) -> frozenset[str]:
    """The files of a module of the repository: its own, and those of the packages around it."""
    parts = name.split(".")
    if parts[0] not in ("lightwell", "tests", "benchmarks", "examples"):
        return frozenset()
    root = ROOT / "src" if parts[0] == "lightwell" else ROOT
    if parts[-1] == "*":
        return frozenset(map(_relative, root.joinpath(*parts[:-1]).glob("*.py")))
    candidates = [root.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = [file for path in candidates for file in (path.with_suffix(".py"), path / "__init__.py")]
    return frozenset(_relative(file) for file in files if file.is_file())


@functools.cache
def _text(file: str) -> str:
    return (ROOT / file).read_text()


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    print(*select_tests(changed_files(sys.argv[1] if len(sys.argv) > 1 else "main")), sep="\n")
