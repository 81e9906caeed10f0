"""Put the recordings of `record_public_names.py` together: writes src/lightwell/compat/retired/released_names.txt.

Any Python 3 runs it; the recordings in any order:

    python tests/oracle/make_name_table.py /tmp/names-*.json
"""

import json
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

OUT = Path(__file__).parents[2] / "src" / "lightwell" / "compat" / "retired" / "released_names.txt"
HEAD = """\
# The public names of TensorFlow, by namespace and by the releases that had them. Names only: facts, recorded by
# walking the installed packages (tests/oracle/record_public_names.py) and written by tests/oracle/make_name_table.py.
"""


def release(version):
    return ".".join(version.split(".")[:2])


def main(files):
    recordings = [json.loads(Path(file).read_text()) for file in files]
    recordings.sort(key=lambda one: [int(part) for part in release(one["tensorflow"]).split(".")])
    versions = [release(one["tensorflow"]) for one in recordings]
    found = defaultdict(list)
    for recording, version in zip(recordings, versions, strict=True):
        for namespace, names in recording["names"].items():
            if version.startswith("1.") and namespace.startswith("compat.v1"):
                continue  # the namespace itself, once more
            for name in names:
                found[namespace, name].append(version)
    tables = defaultdict(lambda: defaultdict(list))
    for (namespace, name), had in found.items():
        tables[namespace][" ".join(had)].append(name)
    lines = [HEAD]
    for namespace in sorted(tables):
        lines.append(f"[{namespace}]")
        for had in sorted(tables[namespace], key=lambda text: [versions.index(one) for one in text.split()]):
            text = "{}: {}".format(had, " ".join(sorted(tables[namespace][had])))
            lines += textwrap.wrap(text, 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    OUT.write_text("\n".join(lines) + "\n")
    print(len(found), "names in", len(tables), "namespaces of", ", ".join(versions))


if __name__ == "__main__":
    main(sys.argv[1:])
