"""Every README names files and folders that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.sources import PACKAGE, ROOT

_FOLDERS = ("src", "tests", "benchmarks", "docs", "examples")
READMES = [ROOT / "README.md", *sorted(path for name in _FOLDERS for path in (ROOT / name).rglob("README.md"))]
_CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A name with a leading dot is a file that a tool writes.
_FILE_NAME = re.compile(r"`(?!\.\w)([\w.*/-]+(?:\.py|/))`")


def file_names(text: str) -> Iterator[str]:
    """The names in backticks that end in `.py` or `/`, outside of code blocks."""
    return (match[1] for match in _FILE_NAME.finditer(_CODE_BLOCK.sub("", text)))


def exists(name: str, folder: Path) -> bool:
    """Whether a name, which may be a glob, matches a path below the README's folder, the package or the repository."""
    return any(any(base.glob(name.rstrip("/"))) for base in (folder, PACKAGE, ROOT) if not name.startswith("/"))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_readme_names_files_that_exist(readme: Path) -> None:
    missing = sorted({name for name in file_names(readme.read_text()) if not exists(name, readme.parent)})
    assert not missing, f"{readme.relative_to(ROOT)} names {missing}: rename them there, or remove them"


def test_names_are_read_outside_of_code_blocks() -> None:
    text = "`run.py` and `a/b/`, `.cache/x.py`\n```\n`train.py`\n```\n`keras_*.py`, `lightwell run x.py`, `Name`"
    assert list(file_names(text)) == ["run.py", "a/b/", "keras_*.py"]
