"""What becomes of every public name of TensorFlow 1.4 to 2.15 under `lightwell run`, counted by namespace.

`lightwell doctor --names` prints it. The names are facts (`compat.retired.released_names`); the verdicts are asked of
`doctor_names.judge`, so that they follow the tables that serve the names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lightwell.cli.doctor_names import State, Verdict, judge
from lightwell.compat.retired.released_names import released_names
from lightwell.compat.tf1.spelling import Version

# Namespaces that have a row for each of their own namespaces.
_LARGE = frozenset({"contrib", "keras"})


@dataclass(frozen=True)
class DecidedName:
    """A name of an earlier TensorFlow.

    Attributes:
        path: without the leading `tf.`.
        version: the TensorFlow of the program that uses it: a name may mean two things.
        verdict: what becomes of it.
    """

    path: str
    version: Version
    verdict: Verdict

    @property
    def works(self) -> bool:
        """Whether a program that uses it goes on."""
        return self.verdict.state in (State.TENSORFLOW, State.LIGHTWELL)

    @property
    def namespace(self) -> str:
        """The row that it is counted in."""
        parts = self.path.split(".")[:-1]
        if parts[:2] == ["compat", "v1"]:
            parts = parts[:2]
        return ".".join(parts[: 2 if parts and parts[0] in _LARGE else 1 if parts[:1] != ["compat"] else 2])


@dataclass(frozen=True)
class Coverage:
    """The count for one namespace and one TensorFlow."""

    namespace: str
    version: Version
    names: int
    works: int
    in_packages: int

    @property
    def refused(self) -> int:
        """Names that raise an error that says what to use."""
        return self.names - self.works - self.in_packages


def decided_names() -> Iterator[DecidedName]:
    """Every name, once for each TensorFlow (1 and 2) that had it."""
    for path, releases in released_names().items():
        for version in (Version.TF1, Version.TF2):
            if any(release.startswith(f"{version.value}.") for release in releases):
                yield DecidedName(path, version, judge(f"tensorflow.{path}", version))


def coverage() -> list[Coverage]:
    """The counts, by TensorFlow and namespace."""
    rows: dict[tuple[str, str], list[DecidedName]] = defaultdict(list)
    for one in decided_names():
        rows[one.version.value, one.namespace].append(one)
    return [
        Coverage(
            namespace,
            Version(version),
            len(names),
            sum(one.works for one in names),
            sum(one.verdict.state is State.PACKAGE for one in names),
        )
        for (version, namespace), names in sorted(rows.items())
    ]


def coverage_lines(namespace: str = "") -> Iterator[str]:
    """The counts as text; with a namespace, also each of its names that does not work, with what to use."""
    rows = [row for row in coverage() if f"{row.namespace}.".startswith(f"{namespace}.") or not namespace]
    yield f"{'TensorFlow':<11} {'namespace':<34} {'names':>6} {'work':>6} {'package':>8} {'refused':>8}"
    for row in rows:
        name = f"tf.{row.namespace}".rstrip(".")
        counts = f"{row.names:>6} {row.works:>6} {row.in_packages:>8} {row.refused:>8}"
        yield f"{row.version.value:<11} {name:<34} {counts}"
    total = [sum(getattr(row, field) for row in rows) for field in ("names", "works", "in_packages", "refused")]
    yield f"{'':<11} {'all':<34} {total[0]:>6} {total[1]:>6} {total[2]:>8} {total[3]:>8}"
    if namespace:
        for one in decided_names():
            if not one.works and f"{one.path}.".startswith(f"{namespace}."):
                yield f"  tf.{one.path}  {one.verdict.advice}"
