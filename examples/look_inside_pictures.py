"""Runs the code of `docs/look-inside.md` and keeps the pictures that it draws in `docs/images/`.

python examples/look_inside_pictures.py [DIRECTORY]
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "look-inside.md"


def blocks() -> list[str]:
    """The Python code of the page, block by block, each on the lines it has there."""
    text = PAGE.read_text()
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return ["\n" * (text[: match.start()].count("\n") + 1) + match.group(1) for match in found]


def run(directory: Path) -> dict[str, object]:
    """Runs all blocks in order, in a directory of their own; gives what they defined."""
    defined: dict[str, object] = {"__name__": "look_inside"}
    before = Path.cwd()
    os.chdir(directory)
    try:
        for block in blocks():
            exec(compile(block, str(PAGE), "exec"), defined)
    finally:
        os.chdir(before)
    return defined


def main(images: Path) -> None:
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        run(Path(directory))
        for picture in sorted(Path(directory).glob("*.png")):
            shutil.copy(picture, images)
            print(f"{images / picture.name}: {picture.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
