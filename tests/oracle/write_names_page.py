"""Write the table of docs/names.md: what becomes of the public names, by namespace, before and now.

    python -m tests.oracle.write_names_page [BEFORE]

BEFORE is the JSON that an earlier commit wrote with `--save`; without it, the figures of the page stay.
"""

import json
import re
import sys
from pathlib import Path

from lightwell.cli.name_coverage import coverage

PAGE = Path(__file__).parents[2] / "docs" / "names.md"
_ROW = re.compile(r"^\| ([12]) \| `tf([\w.]*)` \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


def current() -> dict[str, list[int]]:
    return {
        f"{row.version.value} {row.namespace}".strip(): [row.names, row.works + row.in_packages] for row in coverage()
    }


def written(text: str) -> dict[str, int]:
    """The figures `before` that the page has."""
    return {f"{version} {path.lstrip('.')}".strip(): int(before) for version, path, _, before, _ in _ROW.findall(text)}


def table(now: dict[str, list[int]], before: dict[str, int]) -> str:
    lines = ["| TensorFlow | namespace | names | before | now |", "|---|---|---|---|---|"]
    for key, (names, works) in now.items():
        version, _, path = key.partition(" ")
        lines.append(f"| {version} | `tf{f'.{path}' if path else ''}` | {names} | {before.get(key, works)} | {works} |")
    sums = [sum(names for names, _ in now.values()), sum(before.get(key, now[key][1]) for key in now)]
    lines.append(f"| all | | {sums[0]} | {sums[1]} | {sum(works for _, works in now.values())} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--save"]:
        Path(sys.argv[2]).write_text(json.dumps({key: works for key, (_, works) in current().items()}))
    else:
        page = PAGE.read_text()
        earlier = json.loads(Path(sys.argv[1]).read_text()) if sys.argv[1:] else written(page)
        head, _, rest = page.partition("<!-- table -->\n")
        PAGE.write_text(
            f"{head}<!-- table -->\n{table(current(), earlier)}\n\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
        )
