"""An export is there whole or not at all: whatever is killed, fails, or is under way at the same time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import children, tiny
from tests.estimator.export.slow_export import STARTED

import lightwell as lw

v1 = tf.compat.v1
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"))


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_numbers_grow_without_waiting(trained: lw.Estimator, tmp_path: Path) -> None:
    start = time.time()
    exports = [int(os.path.basename(trained.export_saved_model(tmp_path))) for _ in range(4)]
    assert exports == sorted(set(exports))
    assert exports[0] == pytest.approx(start, abs=60)
    assert names(tmp_path) == [str(number) for number in exports]


def test_a_number_from_the_future_is_outnumbered(trained: lw.Estimator, tmp_path: Path) -> None:
    (tmp_path / "9000000000").mkdir()
    (tmp_path / "notes").mkdir()
    assert trained.export_saved_model(tmp_path).decode() == str(tmp_path / "9000000001")


def test_exports_at_the_same_time(trained: lw.Estimator, tmp_path: Path) -> None:
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(trained.export_saved_model(tmp_path))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 3
    assert names(tmp_path) == sorted(os.path.basename(folder).decode() for folder in made)
    assert all(tf.saved_model.contains_saved_model(folder.decode()) for folder in made)


def test_a_failure_leaves_nothing_behind(trained: lw.Estimator, tmp_path: Path) -> None:
    def breaks() -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        trained.export_saved_model(tmp_path, breaks)
    assert names(tmp_path) == []


def test_a_killed_export_is_never_seen_and_removed_by_the_next(trained: lw.Estimator, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.estimator.export.slow_export", trained.model_dir, str(tmp_path)]
    environment = children.environment(ROOT)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(STARTED in line for line in process.stdout)  # all but the last file is written
        process.send_signal(signal.SIGKILL)
    (left,) = names(tmp_path)
    assert not left.isdigit()
    folder = trained.export_saved_model(tmp_path)
    assert names(tmp_path) == [os.path.basename(folder).decode()]


def test_what_others_write_stays(trained: lw.Estimator, tmp_path: Path) -> None:
    now, old, host = int(time.time()), int(time.time()) - 100_000, socket.gethostname()
    stays = [f"temp-{now}", f"temp-{now}-elsewhere-1-0", f"temp-{now}-{host}-{os.getppid()}-0", "temp-mine", "1234"]
    goes = [f"temp-{old}", f"temp-{old}-elsewhere-1-0", f"temp-{now}-{host}-{os.getpid()}-99999"]
    for name in (*stays, *goes):
        (tmp_path / name).mkdir()
    folder = trained.export_saved_model(tmp_path)
    assert names(tmp_path) == sorted([*stays, os.path.basename(folder).decode()])


def test_while_training(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path / "model", save_checkpoints_steps=2)
    exported: list[str] = []
    receiver_fn = lw.export.build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None])})

    class Exports(v1.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step: int) -> None:
            exported.append(made.export_saved_model(tmp_path / "out", receiver_fn).decode())

    made.train(tiny.data, steps=4, saving_listeners=[Exports()])
    assert len(exported) == 3
    steps = [tf.train.load_variable(f"{folder}/variables/variables", "global_step") for folder in exported]
    assert steps == [0, 2, 4]
    plain = tiny.estimator(tmp_path / "plain", save_checkpoints_steps=2)
    plain.train(tiny.data, steps=4)
    assert made.get_variable_value("w") == plain.get_variable_value("w")


def test_a_checkpoint_that_was_named(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path / "model", save_checkpoints_steps=2)
    made.train(tiny.data, steps=4)
    folder = made.export_saved_model(tmp_path / "out", checkpoint_path=str(tmp_path / "model" / "model.ckpt-2"))
    assert tf.train.load_variable(f"{folder.decode()}/variables/variables", "global_step") == 2


def test_files_beside_the_model(trained: lw.Estimator, tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("a")
    extra = {"deep/classes.txt": tmp_path / "classes.txt", "other": str(tmp_path / "classes.txt")}
    folder = Path(trained.export_saved_model(tmp_path / "out", assets_extra=extra).decode())
    assert (folder / "assets.extra" / "deep" / "classes.txt").read_text() == "a"
    assert (folder / "assets.extra" / "other").read_text() == "a"


def test_the_log_names_the_folder_that_stays(
    trained: lw.Estimator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "tensorflow"):
        folder = trained.export_saved_model(tmp_path).decode()
    told = [record.getMessage() for record in caplog.records if "written to" in record.getMessage()]
    assert told == [f"SavedModel written to: {folder}/saved_model.pb"]
