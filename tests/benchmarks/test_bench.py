"""The bench without its clock: rows, ratios, goals, results and the page, from canned numbers."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from benchmarks.charts import draw
from benchmarks.environments import ROOT, InstallError, python_of, without_places
from benchmarks.figures import telling
from benchmarks.goals import AtLeast, Figures, Flat, ShareAtMost, TakesAtMost, Works, judge, ratio
from benchmarks.growth_report import render_growth
from benchmarks.peers import PEERS, Environment, split, title_of
from benchmarks.report import render
from benchmarks.results import GrowthPoint, Results, RowResult, load, save
from benchmarks.rows import ROWS, chosen

RUN = {
    "date": "2026-01-02 03:04 UTC",
    "cpu": "A CPU",
    "cores": 2,
    "used_cores": [0, 1],
    "memory_gb": 8.0,
    "system": "Linux x86_64",
    "load_before": 0.1,
    "commit": "abc",
    "rounds": 3,
    "seconds": 1.5,
    "elapsed": 60.0,
    "versions": {"ours": {"tensorflow-cpu": "2.21.0", "tensorflow": "absent"}},
}
MLP = {
    "ours": Figures((1500.0, 1600.0, 1400.0)),
    "tf_estimator": Figures((500.0, 555.0, 600.0)),
    "keras3/fit": Figures((700.0, 750.0, 800.0)),
    "keras3/fit50": Figures(failed="ValueError: no such thing"),
    "lightning_trainer": Figures(absent="could not be installed: No matching distribution found for lightning"),
    "torch_loop": Figures((400.0,) * 3),
    "jax_loop": Figures((2000.0,) * 3),
    "tf_session/run": Figures((900.0,) * 3),
    "tf_session/callable": Figures((1100.0,) * 3),
    "tf_session/fused": Figures((1500.0, 1590.0, 1500.0)),
}


@pytest.fixture
def results() -> Results:
    rows = {
        "mlp": RowResult("bench 1", MLP),
        "memory": RowResult("bench 1", {"ours": Figures((0.02,), details={"resident_mb": [500, 510], "calls": 200})}),
    }
    growth = (
        GrowthPoint("layers", "ours", 2, "bench 1", 0.001, 0.5, 10.0),
        GrowthPoint("layers", "ours", 4, "bench 1", 0.003, 0.9, 10.002),
        GrowthPoint("layers", "keras3", 2, "bench 1", absent="it fails"),
    )
    return Results({"bench 1": RUN}, rows, growth)


def section(page: str, key: str) -> str:
    """The part of the page about one row."""
    return page.partition(f'<a id="{key}">')[2].partition("\n### ")[0]


def test_every_contender_has_a_worker_and_every_goal_a_contender() -> None:
    for row in ROWS:
        for contender in row.contenders:
            peer, _ = split(contender)
            assert (ROOT / "benchmarks" / "workers" / f"{peer.worker}.py").exists()
            assert (ROOT / "benchmarks" / "peers" / f"{peer.environment.name}.txt").exists()
            assert "/" not in title_of(contender), f"{contender} has no title of its own"
        for goal in row.goals:
            assert not isinstance(goal, AtLeast) or goal.against in row.contenders[1:]
    assert len({row.key for row in ROWS}) == len(ROWS)


def test_our_own_worker_measures() -> None:
    from benchmarks.workers import ours
    from benchmarks.workers.protocol import Plan

    quick = {"seconds": 0.05, "size": 0, "is_quick": True}
    for row, variant in (("mlp", ""), ("evaluate", "vouched")):
        figures = ours.worker.prepare(row, Plan(variant, **quick))()
        assert figures.get("per_second", figures.get("seconds", 0)) > 0, (row, figures)


def test_no_worker_hides_a_package_by_its_name() -> None:
    hidden = [peer for peer in PEERS if importlib.util.find_spec(peer) is not None]
    assert not hidden


def test_a_key_chooses_its_row_and_those_under_it() -> None:
    assert [row.key for row in chosen(["mlp", "one_row"])] == ["mlp", "mlp_jit", "mlp_hook", "mlp_watch", "one_row"]
    assert chosen([]) == tuple(row for row in ROWS if not row.is_big)
    assert {row.key for row in chosen(["big"])} == {row.key for row in ROWS if row.is_big}
    with pytest.raises(LookupError, match="No row is called 'mpl'; there are mlp, mlp_jit, mlp_hook"):
        chosen(["mpl"])


def test_a_ratio_is_of_medians_and_its_spread_of_rounds() -> None:
    found = ratio(MLP["ours"], MLP["tf_estimator"], "per_second")
    assert found is not None
    assert found.times == pytest.approx(1500 / 555)
    assert (found.least, found.most) == pytest.approx((1400 / 600, 3.0))


def test_a_ratio_of_times_is_higher_when_ours_is_shorter() -> None:
    found = ratio(Figures((0.1,)), Figures((0.3,)), "seconds")
    assert found is not None
    assert found.times == pytest.approx(3)
    assert ratio(Figures((0.1,)), Figures(absent="gone"), "seconds") is None


@pytest.mark.parametrize(
    ("goal", "is_met", "words"),
    [
        (AtLeast(2.5, "tf_estimator"), True, "2.70 x, though not in every round"),
        (AtLeast(3, "keras3/fit"), False, "2.00 x"),
        (AtLeast(1.2, "keras3/fit"), True, "2.00 x"),
        (AtLeast(3, "lightning_trainer"), None, "absent: could not be installed"),
        (AtLeast(3, "keras3/fit50"), None, "fails: ValueError: no such thing"),
        (Works(), True, "it works"),
    ],
)
def test_a_goal_is_met_missed_or_not_known(goal: AtLeast, is_met: bool | None, words: str) -> None:
    verdict = judge(goal, "ours", MLP, "per_second")
    assert verdict.is_met is is_met
    assert verdict.words.startswith(words)


def test_a_goal_in_time_is_told_in_time() -> None:
    figures = {"ours": Figures((0.3,)), "tf_session/run": Figures((0.25,))}
    verdict = judge(TakesAtMost(1 / 1.5, "tf_session/run"), "ours", figures, "seconds")
    assert (verdict.is_met, verdict.words) == (True, "1.20 x the time")
    assert judge(TakesAtMost(1, "tf_session/run"), "ours", figures, "seconds").mark == "missed"


@pytest.mark.parametrize(("drift", "is_met"), [(0.009, True), (0.011, False), (-0.2, True)])
def test_memory_may_shrink_but_not_grow(drift: float, is_met: bool) -> None:
    assert judge(Flat(), "ours", {"ours": Figures((drift,))}, "drift").is_met is is_met


@pytest.mark.parametrize(("share", "is_met"), [(0.10, True), (0.101, False)])
def test_a_share_is_at_most_so_much(share: float, is_met: bool) -> None:
    figures = {"ours/vouched": Figures((share,), details={"whole": 12.0}), "tf_estimator": Figures((0.5,))}
    assert judge(ShareAtMost(0.10), "ours/vouched", figures, "share").is_met is is_met
    assert ratio(figures["ours/vouched"], figures["tf_estimator"], "share") is None
    row = next(row for row in ROWS if row.key == "train_and_evaluate")
    assert telling(figures["ours/vouched"], row) == f"{share:.1%} of 12.00 s"


def test_what_fails_does_not_work() -> None:
    verdict = judge(Works(), "ours", {"ours": Figures(failed="MemoryError: none left")}, "seconds")
    assert (verdict.is_met, verdict.words) == (False, "fails: MemoryError: none left")


def test_the_page_tells_figures_ratios_and_verdicts(results: Results) -> None:
    page = render(results)
    mlp = section(page, "mlp")
    assert "| **Lightwell** | 1,500 steps/s | 1,400 .. 1,600 |" in mlp
    assert "| tf.estimator 2.15.1 | 555 steps/s | 500 .. 600 | 2.70 x (2.33 .. 3.00) | >= 2.5 x | met |" in mlp
    assert "| Keras 3 `fit` | 750 steps/s | 700 .. 800 | 2.00 x (1.75 .. 2.14) | >= 3 x | **missed** |" in mlp
    assert "| Lightning `Trainer` | absent: could not be installed: No matching distribution" in mlp
    assert "`fit`, steps_per_execution=50 | fails: ValueError: no such thing |" in mlp
    assert "Missed: >= 3 x Keras 3 `fit` came to 2.00 x." in mlp
    assert "The operations of a step are the limit" in mlp
    assert "make bench-profile ROW=mlp" in mlp
    assert "+2.00% (500 to 510 MB in 200 calls)" in section(page, "memory")
    assert "Of 5 goals: 2 met, 2 missed, 1 not known." in page


def test_the_page_tells_machine_and_versions(results: Results) -> None:
    page = render(results)
    assert "A CPU, 2 cores, 8.0 GB" in page
    assert "pinned to the cores 0, 1" in page
    assert "| Lightwell | tensorflow-cpu 2.21.0 |" in page
    assert "do not trust" not in page
    assert "do not trust" in render(Results({"bench 1": {**RUN, "load_before": 4.0}}, results.rows))


def test_growth_tells_what_one_more_costs(results: Results) -> None:
    page = render_growth(results)
    assert "Measured 2026-01-02 03:04 UTC. Time is of a training step, batch 32; start is the first step." in page
    assert "| 2 | Lightwell | 1.000 ms |  | 500.0 ms |  | 10 MB |  |" in page
    assert "| 4 | Lightwell | 3.000 ms | 1.0 ms | 900.0 ms | 200.0 ms | 10 MB | 1.0 kB |" in page
    assert "| 2 | Keras 3 | absent: it fails |" in page


def test_a_point_measured_again_replaces_the_old_one(results: Results) -> None:
    both = results.updated(Results({"growth 2": RUN}, growth=(GrowthPoint("layers", "ours", 4, "growth 2", 1, 1, 1),)))
    assert [(point.size, point.run) for point in both.growth if point.contender == "ours"] == [
        (2, "bench 1"),
        (4, "growth 2"),
    ]


def test_big_models_have_a_page_of_their_own(results: Results) -> None:
    big = RowResult("bench 1", dict.fromkeys(("ours", "tf_session/run", "tf_estimator"), Figures((2.0, 2.0))))
    both = results.updated(Results({}, {"big_bert": big}))
    page = render(both, is_big=True)
    assert page.startswith("# Big models")
    assert "`make bench ROWS=big`" in page
    assert section(page, "big_bert")
    assert not section(page, "mlp")
    assert not section(render(both), "big_bert")


def test_a_missed_row_points_to_its_profile(results: Results, tmp_path) -> None:
    (tmp_path / "mlp.md").write_text("It is the hooks.")
    assert "[profiles/mlp.md](profiles/mlp.md)" in section(render(results, tmp_path), "mlp")


def test_rows_measured_again_replace_the_old_ones(results: Results, tmp_path) -> None:
    again = RowResult("bench 2", {"ours": Figures((0.001,), details={"resident_mb": [500, 500], "calls": 200})})
    both = results.updated(Results({"bench 2": {**RUN, "date": "2026-02-02 00:00 UTC"}}, {"memory": again}))
    save(both, tmp_path / "results.json")
    assert load(tmp_path / "results.json") == both
    page = render(both)
    assert "From an earlier run, of 2026-01-02 03:04 UTC." in section(page, "mlp")
    assert "From an earlier run" not in section(page, "memory")
    assert set(results.updated(Results({"bench 2": RUN}, dict.fromkeys(results.rows, again))).runs) == {
        "bench 1",  # the growth still comes from it
        "bench 2",
    }
    assert load(tmp_path / "none.json") == Results()


def test_charts_are_small_pictures(results: Results, tmp_path) -> None:
    draw(results, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"goals.png", "growth-layers.png"}
    assert all(path.stat().st_size < 100_000 for path in tmp_path.iterdir())


def test_an_environment_without_a_python_says_so() -> None:
    with pytest.raises(InstallError, match=r"needs Python 2\.0 to 2\.7, and none was found"):
        python_of(Environment("jax", (2, 0), (2, 7)), kept_in=ROOT / "no-such-folder")


def test_reasons_name_no_places() -> None:
    assert without_places("cannot read /home/me/x.py from https://host/simple/torch: 404") == (
        "cannot read … from …: 404"
    )
    assert without_places("No matching distribution found for a==1/2") == "No matching distribution found for a==1/2"


WORKER = """
import sys
from benchmarks.workers.protocol import Plan, Worker
worker = Worker(("numpy", "no-such-package"))

@worker.piece("row", "fast", "slow")
def prepare(plan):
    print("a library prints")
    if plan.variant == "slow":
        raise ValueError("too slow\\nsecond line")
    return lambda: {"per_second": plan.seconds * plan.scaled(10, 2)}

worker.serve()
"""


def test_a_worker_answers_in_lines_of_json() -> None:
    piece = {"row": "row", "seconds": 2.0, "size": 0, "is_quick": False}
    requests = [
        {"do": "about"},
        {"do": "prepare", "variant": "fast", **piece},
        {"do": "measure", "variant": "fast", "row": "row"},
        {"do": "prepare", "variant": "slow", **piece},
        {"do": "prepare", "variant": "other", **piece},
    ]
    said = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=said, capture_output=True, text=True, cwd=ROOT, check=True
    )
    about, ready, measured, failed, unknown = map(json.loads, done.stdout.splitlines())
    assert about["versions"]["no-such-package"] == "absent"
    assert ready == {"row": "row", "variant": "fast"}
    assert measured == {"row": "row", "variant": "fast", "per_second": 20.0}
    assert failed["error"] == "ValueError: too slow"
    assert unknown["error"] == "LookupError: No piece 'row' with variant 'other'; there are row/fast, row/slow."
