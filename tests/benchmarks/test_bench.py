"""The bench without its clock: rows, ratios, goals, results and pages, from canned numbers; the worker's protocol."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from benchmarks.__main__ import main
from benchmarks.peers import PEERS, ROOT, Peer, WorkerError, title_of, without_places
from benchmarks.report import PAGES, judge, ratio, render
from benchmarks.results import Figures, Results, load, save
from benchmarks.rows import BEST_PEER, ROWS, Goal, Row, choose_rows
from benchmarks.runner import Runner, Settings

from benchmarks import report, waves

RUN = {
    "date": "2026-01-02 03:04 UTC",
    "cpu": "A CPU",
    "cores": 2,
    "used_cores": [0, 1],
    "memory_gb": 8.0,
    "load_before": 0.1,
    "commit": "abc",
    "is_modified": False,
    "rounds": 3,
    "seconds": 1.5,
    "versions": {"ours": {"tensorflow-cpu": "2.21.0"}},
}
MLP = {
    "ours": Figures("bench 1", (1500.0, 1600.0, 1400.0)),
    "tf_estimator": Figures("bench 1", (500.0, 555.0, 600.0)),
    "keras3/fit": Figures("bench 1", (700.0, 750.0, 800.0)),
    "keras3/fit50": Figures("bench 1", problem="fails: ValueError: no such thing"),
    "torch_loop/lightning": Figures("bench 1", problem="absent: could not be installed: No matching distribution"),
    "tf_session/fused": Figures("bench 1", (1500.0, 1590.0, 1500.0)),
}
BY_KEY = {row.key: row for row in ROWS}


@pytest.fixture
def results() -> Results:
    drift = Figures("bench 1", (0.02,), details={"resident_mb": [500, 510], "calls": 200})
    layers = {
        "ours@2": Figures("bench 1", (0.001,), details={"start_seconds": 0.5, "memory_mb": 10.0}),
        "ours@4": Figures("bench 1", (0.003,), details={"start_seconds": 0.9, "memory_mb": 10.002}),
        "keras3@2": Figures("bench 1", problem="fails: it fails"),
    }
    return Results({"bench 1": dict(RUN)}, {"mlp": MLP, "memory": {"ours": drift}, "growth_layers": layers})


def test_every_contender_has_a_worker_and_every_goal_a_contender() -> None:
    for row in ROWS:
        assert row.page in PAGES
        for contender in row.contenders:
            peer = PEERS[contender.partition("/")[0]]
            assert (ROOT / "benchmarks" / "workers" / f"{peer.module}.py").exists()
            assert (ROOT / "benchmarks" / "peers" / f"{peer.environment}.txt").exists()
        for goal in row.goals:
            assert not goal.against or goal.against == BEST_PEER or goal.against in row.contenders[1:]
            assert not goal.by or goal.by in row.contenders
        assert not row.of or (BY_KEY[row.of].contenders, BY_KEY[row.of].page) == (row.contenders, row.page)
    assert len(BY_KEY) == len(ROWS)


def test_our_own_worker_knows_its_rows_and_measures() -> None:
    from benchmarks.workers import ours
    from benchmarks.workers.protocol import Plan

    rows = [(row.of or row.key, row) for row in ROWS]
    variants = [(key, one.partition("/")[2]) for key, row in rows for one in row.contenders if one.startswith("ours")]
    assert not set(variants) - set(ours.worker._rows)
    for row, variant in (("mlp", ""), ("evaluate", "vouched"), ("predict_overhead", "predict")):
        figures = ours.worker.prepare(row, Plan(variant, 0.05, is_quick=True))()
        assert figures.get("per_second", figures.get("seconds", 0)) > 0, (row, figures)


def test_no_worker_hides_a_package_by_its_name() -> None:
    assert not [peer.module for peer in PEERS.values() if importlib.util.find_spec(peer.module) is not None]


def test_a_key_chooses_its_row_and_those_under_it() -> None:
    keys = [row.key for row in choose_rows(["mlp", "one_row"])]
    assert keys == ["mlp", "mlp_jit", "mlp_hook", "mlp_watch", "one_row"]
    assert {row.page for row in choose_rows([])} == {"bench"}
    assert {row.page for row in choose_rows(["big"])} == {"big"}
    assert [row.key for row in choose_rows(["watches"], "growth")] == ["growth_watches"]
    with pytest.raises(LookupError, match="No row is called 'mpl'; there are mlp, mlp_jit, mlp_hook"):
        choose_rows(["mpl"])


def test_a_row_with_sizes_has_a_point_for_each() -> None:
    row = Row("row", "A row", contenders=("ours", "keras3"), sizes=(1, 10, 100))
    assert row.points() == ["ours@1", "keras3@1", "ours@10", "keras3@10", "ours@100", "keras3@100"]
    assert row.points(is_quick=True)[-1] == "keras3@10"
    assert Row("row", "A row").points() == ["ours"]


def test_a_ratio_is_of_medians_and_its_spread_of_rounds() -> None:
    assert ratio(MLP["ours"], MLP["tf_estimator"], "per_second") == pytest.approx((1500 / 555, 1400 / 600, 3.0))


def test_a_ratio_of_times_is_higher_when_ours_is_shorter() -> None:
    assert ratio(Figures("", (0.1,)), Figures("", (0.3,)), "seconds") == pytest.approx((3, 3, 3))
    assert ratio(Figures("", (0.1,)), Figures(problem="absent: gone"), "seconds") is None


def test_no_ratio_is_taken_across_runs() -> None:
    assert ratio(Figures("run 1", (0.1,)), Figures("run 2", (0.3,)), "seconds") is None


@pytest.mark.parametrize(
    ("goal", "mark", "words"),
    [
        (Goal(2.5, "tf_estimator"), "met", "2.70 x"),
        (Goal(3, "keras3/fit"), "missed", "2.00 x"),
        (Goal(3, "torch_loop/lightning"), "not known", "absent: could not be installed"),
        (Goal(3, "keras3/fit50"), "not known", "fails: ValueError: no such thing"),
        (Goal(3, "jax_loop"), "not known", "not measured"),
        (Goal(), "met", "it works"),
        (Goal(800), "met", "1,500"),
    ],
)
def test_a_goal_is_met_missed_or_not_known(goal: Goal, mark: str, words: str) -> None:
    verdict = judge(goal, BY_KEY["mlp"], MLP)
    assert verdict[0] == mark
    assert verdict[1].startswith(words)


def test_a_goal_in_time_is_told_in_time() -> None:
    row = BY_KEY["one_row"]
    figures = {row.ours: Figures("", (0.3,)), "tf_session/run": Figures("", (0.25,))}
    assert judge(row.goals[0], row, figures) == ("met", "1.20 x the time")
    assert report.goal_words(row.goals[0], row) == "<= 1.5 x the time of"


@pytest.mark.parametrize(("drift", "mark"), [(0.009, "met"), (0.011, "missed"), (-0.2, "met")])
def test_memory_may_shrink_but_not_grow(drift: float, mark: str) -> None:
    assert judge(Goal(0.01), BY_KEY["memory"], {"ours": Figures("", (drift,))})[0] == mark


@pytest.mark.parametrize(("share", "mark"), [(0.10, "met"), (0.101, "missed")])
def test_a_share_is_at_most_so_much(share: float, mark: str) -> None:
    row, own = BY_KEY["train_and_evaluate"], Figures("", (share,), details={"whole": 12.0})
    assert judge(row.goals[0], row, {row.ours: own})[0] == mark
    assert report.median_words(own, row) == f"{share:.1%} of 12.00 s"


def test_what_fails_does_not_work() -> None:
    figures = {"ours": Figures(problem="fails: MemoryError: none left")}
    assert judge(Goal(), BY_KEY["first_step_3gb"], figures) == ("missed", "fails: MemoryError: none left")


def test_the_page_tells_figures_ratios_and_verdicts(results: Results) -> None:
    page = render("bench", results)
    assert "| **Lightwell** | 1,500 steps/s | 1,400 .. 1,600 |" in page
    assert "| tf.estimator 2.15.1 | 555 steps/s | 500 .. 600 | 2.70 x (2.33 .. 3.00) | >= 2.5 x | met | 1 |" in page
    assert "| Keras 3 `fit` | 750 steps/s | 700 .. 800 | 2.00 x (1.75 .. 2.14) | >= 3 x | **missed** | 1 |" in page
    assert "| Lightning `Trainer` | absent: could not be installed: No matching distribution |" in page
    assert "`fit`, steps_per_execution=50 | fails: ValueError: no such thing |" in page
    assert "- `mlp`: >= 3 x Keras 3 `fit` came to 2.00 x. The operations of a step are the limit" in page
    assert "+2.00% (500 to 510 MB in 200 calls)" in page
    assert "Of 5 goals: 2 met, 2 missed, 1 not known." in page
    columns = {line.count("|") for line in page.splitlines() if line.startswith(("| `", "|  |"))}
    assert columns == {9}


def test_the_page_tells_machine_and_versions(results: Results) -> None:
    page = render("bench", results)
    assert "1. 2026-01-02 03:04 UTC, sources abc, A CPU, 2 cores, 8.0 GB, pinned to 2 cores" in page
    assert "| Lightwell | tensorflow-cpu 2.21.0 | 1 |" in page
    assert "do not trust" not in page
    results.runs["bench 1"]["load_before"] = 4.0
    assert "do not trust" in render("bench", results)


def test_growth_tells_what_one_more_costs(results: Results) -> None:
    page = render("growth", results)
    assert "| 2 | Lightwell | 1.000 ms |  | 500.0 ms |  | 10 MB |  | 1 |" in page
    assert "| 4 | Lightwell | 3.000 ms | 1.0 ms | 900.0 ms | 200.0 ms | 10 MB | 1.0 kB | 1 |" in page
    assert "| 2 | Keras 3 | fails: it fails |" in page
    assert len({line.count("|") for line in page.splitlines() if line.startswith(("| 2", "| 4", "| size"))}) == 1


def test_every_page_has_its_own_rows(results: Results) -> None:
    assert render("big", results) == ""
    results.rows["big_bert"] = dict.fromkeys(BY_KEY["big_bert"].contenders, Figures("bench 1", (2.0, 2.0)))
    assert render("big", results).startswith("# Big models\n\nWritten by `make bench ROWS=big`")
    assert "`big_bert`" not in render("bench", results)


def test_rows_measured_again_replace_the_old_ones(results: Results, tmp_path: Path) -> None:
    later = {**RUN, "date": "2026-02-02 00:00 UTC"}
    results.add("memory", {"ours": Figures("bench 2", (0.001,))}, "bench 2", later)
    results.add("growth_layers", {"ours@4": Figures("bench 2", (1.0,))}, "bench 2", later)
    assert {point: one.run for point, one in results.rows["growth_layers"].items()} == {
        "ours@2": "bench 1",
        "ours@4": "bench 2",
        "keras3@2": "bench 1",
    }
    save(results, tmp_path / "results.json")
    assert load(tmp_path / "results.json") == results
    assert load(tmp_path / "none.json") == Results()
    results.add("mlp", {"ours": Figures("bench 2", (1.0,))}, "bench 2", later)
    results.add(
        "growth_layers",
        {point: Figures("bench 2", (1.0,)) for point in results.rows["growth_layers"]},
        "bench 2",
        later,
    )
    assert set(results.runs) == {"bench 2"}


def test_the_pages_in_the_repository_are_those_of_the_results(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes((ROOT / "benchmarks" / "results.json").read_bytes())
    main(["report", "--out", str(tmp_path)])
    for file, *_ in PAGES.values():
        assert (tmp_path / file).read_text() == (ROOT / "benchmarks" / file).read_text(), file


def test_measured_bytes_of_a_cluster_are_those_of_the_variables() -> None:
    """What was written down: weights and gradients of a step, and a few headers."""
    for figures in load(ROOT / "benchmarks" / "results.json").rows["scaling"].values():
        expected = figures.value("expected_bytes")
        assert expected <= figures.value("bytes_per_step") <= 1.05 * expected


def test_a_peer_that_cannot_be_installed_says_so() -> None:
    with pytest.raises(WorkerError, match="absent: could not be installed: "):
        dataclasses.replace(PEERS["ours"], environment="no-such-peer").python()
    assert title_of("before/jit") == "Lightwell, `jit_compile=True`, before"
    assert isinstance(PEERS["ours"], Peer)


def test_reasons_name_no_places() -> None:
    assert without_places("cannot read /home/me/x.py from https://host/simple/torch: 404") == (
        "cannot read … from …: 404"
    )
    assert without_places("No matching distribution found for a==1/2") == "No matching distribution found for a==1/2"


WORKER = """
from benchmarks.workers.protocol import Worker
worker = Worker(("numpy", "no-such-package"), {"own": "1.0"})

@worker.row("row", "fast", "slow")
def prepare(plan):
    print("a library prints")
    if plan.variant == "slow":
        raise ValueError("too slow\\nsecond line")
    return lambda: {"per_second": plan.seconds * plan.scaled(10, 2)}

worker.serve()
"""


def test_a_worker_answers_in_lines_of_json() -> None:
    def request(do: str, variant: str, **more: object) -> dict[str, object]:
        return {"do": do, "row": "row", "plan": {"variant": variant, "seconds": 2.0}, **more}

    requests = [
        {"do": "about"},
        request("prepare", "fast"),
        request("measure", "fast"),
        request("profile", "fast", is_between_marks=False),
        request("prepare", "slow"),
        request("prepare", "other"),
    ]
    text = "".join(json.dumps(one) + "\n" for one in requests)
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=text, capture_output=True, text=True, cwd=ROOT, check=True
    )
    about, ready, measured, profile, failed, unknown = map(json.loads, done.stdout.splitlines())
    assert (about["own"], about["no-such-package"]) == ("1.0", "")
    assert (ready, measured) == ({}, {"per_second": 20.0})
    assert profile["functions"]
    assert report.profile_words(BY_KEY["mlp"], profile).startswith("# Where the time goes: Train MLP")
    assert failed["error"] == "ValueError: too slow"
    assert unknown["error"] == "LookupError: No row 'row' with variant 'other'; there are row/fast, row/slow."


class FakeWorker:
    """A process that answers at once; JAX's cannot prepare, and every measurement takes a second of the clock."""

    killed: ClassVar[list[str]] = []
    clock: ClassVar[list[float]] = [0.0]

    def __init__(self, peer: str, device: str, settings: Settings, cores: tuple[int, ...]) -> None:
        self.peer = peer

    def ask(self, do: str, row: str = "", plan: Any = None, *, seconds: float = 0) -> dict[str, Any]:
        if do == "prepare" and self.peer == "jax_loop":
            raise WorkerError("fails: it fails")
        if do == "measure":
            self.clock[0] += 1.0
        return {"measure": {"per_second": 10.0, "megabytes": 5.0, "seconds": 2.0}}.get(do, {})

    def move(self, cores: tuple[int, ...]) -> None:
        assert cores

    def kill(self) -> None:
        self.killed.append(self.peer)


def test_rows_are_measured_in_waves_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves, "LiveWorker", FakeWorker)
    monkeypatch.setattr(waves.time, "monotonic", lambda: FakeWorker.clock[0])
    keys = ("gpu_bert", "gpu_bert_memory", "gpu_wide", "gpu_mlp", "gpu_mlp_start")
    rows = [BY_KEY[key] for key in keys]
    saved: dict[str, dict[str, Figures]] = {}
    profiled: list[tuple[str, str]] = []
    runner = Runner(Settings(3, 0.1, False, (0,), ""))
    run = waves.Waves(
        runner, "run", 60.0, saved.__setitem__, lambda row, own, name, trace: profiled.append((row.key, name))
    )
    assert run.measure(rows) == ["gpu_mlp", "gpu_mlp_start"]
    assert list(saved) == ["gpu_bert", "gpu_bert_memory", "gpu_wide"]
    assert saved["gpu_bert"]["ours"].values == (10.0, 10.0, 10.0)
    assert saved["gpu_bert_memory"]["ours"].values == (5.0, 5.0, 5.0)
    assert saved["gpu_bert"]["jax_loop"].problem == "fails: it fails"
    assert ("gpu_bert", "ours/jit") in profiled
    assert {key for key, _ in profiled} == {"gpu_bert"}, "the time left is for rows"
    assert len(FakeWorker.killed) == 10 + 10 + 10 + 10  # those of the rows that were left out as well


def test_a_goal_may_be_for_another_way_of_ours_and_against_the_best_peer() -> None:
    row = BY_KEY["gpu_mlp"]
    figures = {key: Figures("run", (value,)) for key, value in {"ours": 3.0, "ours/jit": 6.0, "jax_loop": 4.0}.items()}
    assert judge(Goal(1.5, "jax_loop", by="ours/jit"), row, figures) == ("met", "1.50 x")
    assert judge(Goal(0.95, BEST_PEER), row, figures) == ("missed", "0.75 x")
    assert report.goal_words(Goal(1.5, "jax_loop", by="ours/jit"), row) == "Lightwell, `jit_compile=True`: >= 1.5 x"
    results = Results({"run": dict(RUN)}, {"gpu_wide": figures})
    assert ">= 0.95 x the best peer (JAX jitted loop) | **missed** |" in render("gpu", results)
