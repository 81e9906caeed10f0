"""`make fuzz`: programs drawn at random, run by Lightwell in its ways and by tf.estimator 2.15.1, compared."""

from __future__ import annotations

import argparse
import collections
import functools
import gzip
import hashlib
import json
import os
import queue
import re
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.fuzz.explained import explained
from tests.fuzz.reduce import alone, reduced
from tests.fuzz.run import ORIGINAL, ROOT, Bench
from tests.fuzz.settled import settled
from tests.fuzz.spec import Spec, draw, from_json
from tests.fuzz.ways import Found, differences, digits_to_original, needed, run_in, ways_of
from tests.fuzz.write import written

# How programs are run and looked at: an answer of the original that was kept is one to this.
_SEEN = "".join((ROOT / "tests" / "fuzz" / name).read_text() for name in ("lab.py", "worker.py"))


class Fuzz:
    """A run over many seeds."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.folder = ROOT / ".fuzz"
        self.seeds: queue.Queue[int | Path] = queue.Queue()
        for one in (*given.seeds, *given.specs):
            self.seeds.put(one)
        given.programs = self.seeds.qsize() or given.programs
        seed = given.seed
        while self.seeds.qsize() < given.programs:
            if not given.having or given.having <= {part.kind for part in draw(seed).parts()}:
                self.seeds.put(seed)
            seed += 1
        self.lock = threading.Lock()
        self.counts: collections.Counter[str] = collections.Counter()
        self.kinds: dict[str, list[int]] = collections.defaultdict(list)
        self.excused: dict[str, list[int]] = collections.defaultdict(list)
        self.notes: collections.Counter[str] = collections.Counter()
        self.started = time.monotonic()

    def original(self, bench: Bench, spec: Spec, way: str) -> Any:
        """What the original gives: from its cache, where it ran this program before."""
        text = written(spec) + str(spec.control_flow_v2) + way + _SEEN
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        path = self.folder / "original" / f"{digest}.json.gz"
        if path.exists():
            return json.loads(gzip.decompress(path.read_bytes()))
        answer = bench.run(spec, way)
        path.parent.mkdir(parents=True, exist_ok=True)
        if "records" in answer:
            path.write_bytes(gzip.compress(json.dumps(answer).encode()))
        return answer

    def one(self, bench: Bench, given: int | Path) -> None:
        spec = draw(given) if isinstance(given, int) else from_json(given.read_text())
        seed = spec.seed
        ways, answers = ways_of(spec, self.given.ways), {}
        for way in needed(ways) if self.given.original else ():
            answers[way] = self.original(bench, spec, way)
        answers.update(run_in(bench, spec, ways))
        unexplained, rows = [], set()
        for one in differences(spec, answers):
            row = explained(spec, one.way, one.difference)
            if row is None:
                unexplained.append(one)
            else:
                rows.add(row.name)
        unexplained, excused = self.settled(bench, spec, unexplained, answers)
        if excused:
            rows.add("the original does not agree with itself")
        with self.lock:
            for note in {re.sub(r"[\"'`].*", "", note) for note in answers.get("fused", {}).get("notes", ())}:
                self.notes[note] += 1
            self.counts["differ" if unexplained else "explained" if rows else "agree"] += 1
            if any(record[0] == "failed" for record in answers.get(ORIGINAL, {}).get("records", ())):
                self.counts["with an error in the original"] += 1
            for row in rows:
                self.kinds[f"explained: {row}"].append(seed)
            for place in {re.sub(r"record \d+: |\d+", "", one.difference.where) for one in excused}:
                self.excused[place].append(seed)
            if unexplained:
                first = unexplained[0]
                kind = f"{first.way} against {first.against}: {first.difference.kind}"
                is_new = not self.kinds[kind]
                self.kinds[kind].append(seed)
                print(
                    f"\nseed {seed}: {kind}\n  {first.difference.where}\n    ours  {first.difference.ours[-700:]}"
                    f"\n    other {first.difference.other[-700:]}",
                    flush=True,
                )
            self.tell()
        if unexplained:
            self.keep(bench, spec, unexplained, is_new)

    def settled(
        self, bench: Bench, spec: Spec, found: list[Found], answers: dict[str, Any]
    ) -> tuple[list[Found], list[Found]]:
        """Without what the original gives now so, now so; and what that is."""
        left, excused = [], []
        for way, against in dict.fromkeys((one.way, one.against) for one in found):
            if not against.startswith(ORIGINAL):
                left += [one for one in found if (one.way, one.against) == (way, against)]
                continue
            done = settled(
                answers[way],
                answers[against],
                functools.partial(bench.run, spec, against),
                digits_to_original(spec),
                lambda one, way=way: explained(spec, way, one) is not None,
            )
            left += [Found(way, against, one) for one in done.left]
            excused += [Found(way, against, one) for one in done.excused]
        return left, excused

    def keep(self, bench: Bench, spec: Spec, found: list[Found], is_new: bool) -> None:
        folder = self.folder / "failures" / f"seed-{spec.seed}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "spec.json").write_text(spec.to_json())
        told = [f"{one.way} against {one.against}: {one.difference}" for one in found[:20]]
        (folder / "differences.txt").write_text("\n\n".join(told))
        (folder / "program.py").write_text(alone(spec, found[0]))
        if is_new and self.given.reduce > 0:
            small = reduced(bench, spec, found[0], self.given.reduce, lambda text: print("\n" + text, flush=True))
            (folder / "reduced.json").write_text(small.to_json())
            (folder / "reduced.py").write_text(alone(small, found[0]))

    def tell(self) -> None:
        done = sum(self.counts[name] for name in ("agree", "explained", "differ"))
        counts = ", ".join(f"{self.counts[name]} {name}" for name in ("agree", "explained", "differ"))
        end = "\n" if not sys.stderr.isatty() and done % 20 == 0 else "\r"
        if sys.stderr.isatty() or done % 20 == 0:
            print(
                f"{done} of {self.given.programs}: {counts}, {time.monotonic() - self.started:.0f} s",
                end=end,
                file=sys.stderr,
                flush=True,
            )

    def job(self, number: int) -> None:
        bench = Bench(self.given.original, self.folder / f"run-{os.getpid()}-{number}", self.given.timeout)
        try:
            while True:
                try:
                    self.one(bench, self.seeds.get_nowait())
                except queue.Empty:
                    return
                except Exception as error:
                    with self.lock:
                        self.counts["broken"] += 1
                        print(f"\nthe fuzzer itself: {type(error).__name__}: {error}", flush=True)
        finally:
            bench.close()
            shutil.rmtree(self.folder / f"run-{os.getpid()}-{number}", ignore_errors=True)

    def run(self) -> int:
        jobs = [threading.Thread(target=self.job, args=(number,)) for number in range(self.given.jobs)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        print(f"\n{'kind':<72} programs  seeds")
        for kind in sorted(self.kinds, key=lambda name: -len(self.kinds[name])):
            seeds = self.kinds[kind]
            print(f"{kind:<72} {len(seeds):>8}  {', '.join(map(str, sorted(seeds)[:12]))}")
        if self.excused:
            print(f"\n{'places in which the original does not agree with itself':<72} programs  seeds")
        for place, seeds in sorted(self.excused.items(), key=lambda item: -len(item[1])):
            print(f"{place[:72]:<72} {len(seeds):>8}  {', '.join(map(str, sorted(seeds)[:12]))}")
        for note, count in self.notes.most_common():
            print(f"{count} programs: {note}")
        print(f"\n{dict(self.counts)} in {time.monotonic() - self.started:.0f} s; failures: {self.folder / 'failures'}")
        return 1 if self.counts["differ"] or self.counts["broken"] else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=lambda text: [int(n) for n in text.split(",")], default=[], help="these alone")
    parser.add_argument("--specs", type=Path, nargs="*", default=[], help="programs by their descriptions (spec.json)")
    parser.add_argument("--ways", default="", help="all, or some by name; without it two always and two by the seed")
    parser.add_argument(
        "--having", type=lambda text: set(text.split(",")), help="programs with all of these parts alone"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=40.0, help="seconds for a program in one way")
    parser.add_argument("--reduce", type=float, default=240.0, help="seconds to reduce the first of each kind; 0: not")
    parser.add_argument(
        "--original", default=os.environ.get("LIGHTWELL_ORACLE"), help="a Python with TensorFlow 2.15.1"
    )
    given = parser.parse_args()
    if given.original and not Path(given.original).exists():
        parser.error(f"--original: {given.original} is not there")
    return Fuzz(given).run()


if __name__ == "__main__":
    sys.exit(main())
