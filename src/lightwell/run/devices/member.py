"""`Member`: this process as a member of a cluster: its server, and the peers that it waits for.

Owns the servers that this process has started, and `Member`, which a `SessionPlan` carries. Takes a `RunConfig`; the
transport is TensorFlow's own. Every wait has a time limit and logs which peers it is for.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import LightwellError, UsageError
from lightwell.foreign import private_strategies
from lightwell.run.checkpoints.finished import Finished, read_finished
from lightwell.run.cluster import CHIEF, MASTER, PS, WORKER, is_synchronized
from lightwell.run.config import RunConfig, default_session_config

_PAUSE = 0.25
_LOG_EVERY = 10.0
_CONNECT_SECS = 2.0
_MARK_SECS = 2.0
_servers: dict[str, Any] = {}  # by address; TensorFlow cannot stop a server, so it lives as long as the process
_servers_lock = threading.Lock()


class TrainingOver(LightwellError):
    """The chief has ended the training while this process was waiting to take part in it."""


class PeerUnreachable(LightwellError, tf.errors.DeadlineExceededError):
    """A peer did not answer, or did not do its part, before the time limit."""

    def __init__(self, text: str) -> None:
        tf.errors.DeadlineExceededError.__init__(self, None, None, text)

    def __str__(self) -> str:
        return str(self.message)


class PeerLost(LightwellError, tf.errors.UnavailableError):
    """A peer is gone without which the others can take no step."""

    def __init__(self, text: str) -> None:
        tf.errors.UnavailableError.__init__(self, None, None, text)

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True, eq=False)
class Member:
    """One process of a cluster, about to train.

    Attributes:
        name: for messages: `worker 1`.
        is_chief: whether it initialises, restores and saves.
        is_synchronized: whether all take every step together, each with all variables; else each steps by itself.
        needs: by name, the addresses of the peers that a session needs.
        patience: for how many seconds it waits for peers.
        model_dir: where the chief marks that the training has ended.
        finished_before: that mark when this process joined.
    """

    name: str
    is_chief: bool
    is_synchronized: bool
    needs: Mapping[str, str]
    patience: float
    model_dir: str
    finished_before: Finished | None

    def wait_for_servers(self) -> None:
        """Returns once all peers answer that this process needs.

        Raises:
            PeerUnreachable: one does not, within `patience`.
            TrainingOver: the training has ended.
        """
        self._wait(
            self._unreachable_peers,
            "Not reachable: %s",
            "Start it, or mend its address in TF_CONFIG; is its port open?",
        )

    def _unreachable_peers(self) -> list[str]:
        return [f"{name} at {address}" for name, address in self.needs.items() if not answers(address)]

    def wait_for_chief(self, uninitialised: Callable[[], list[str]]) -> None:
        """Returns once the chief has initialised all variables.

        Args:
            uninitialised: returns the names of those without a value.

        Raises:
            PeerUnreachable, TrainingOver: as above.
        """

        def missing() -> list[str]:
            names = uninitialised()
            return [*names[:3], *([f"and {len(names) - 3} more"] if len(names) > 3 else [])]

        message = "The chief has not given a value to these variables yet: %s"
        self._wait(missing, message, "Is the chief running, with the same model and the same TF_CONFIG?")

    def pause(self) -> None:
        """Waits a moment before the next attempt.

        Raises:
            TrainingOver: the training has ended.
        """
        time.sleep(_PAUSE)
        self._check_not_over()

    def _wait(self, missing: Callable[[], list[str]], message: str, advice: str) -> None:
        started = last_logged = time.monotonic()
        while True:
            self._check_not_over()
            left = missing()
            now = time.monotonic()
            if not left:
                return
            text = f"This process, {self.name}, waits. {message % ', '.join(left)}"
            if now - started > self.patience:
                raise PeerUnreachable(
                    f"train: Session was not ready after waiting {self.patience:g} secs "
                    f"(RunConfig.session_creation_timeout_secs). {text}. {advice}"
                )
            if now - last_logged > _LOG_EVERY:
                last_logged = now
                logger.warning("%s. %.0f secs so far, %.0f at most. %s", text, now - started, self.patience, advice)
            time.sleep(_PAUSE)

    def _check_not_over(self) -> None:
        over = self._training_over()
        if over is not None:
            raise over

    def _training_over(self) -> TrainingOver | None:
        if self.is_chief:
            return None
        finished = newly_finished(self.model_dir, self.finished_before)
        if finished is None:
            return None
        return TrainingOver(f"The training has ended at step {finished.global_step}: {finished.stopped}")

    def end_reason(self) -> TrainingOver | PeerLost | None:
        """Why no further step can be taken; None while one can."""
        over = self._training_over()
        return over if over is not None or not self.is_synchronized else self._lost_peers()

    def _lost_peers(self) -> PeerLost | None:
        gone = self._unreachable_peers()
        return None if not gone else self._lost(f"{', '.join(gone)} cannot be reached any more")

    def _lost(self, what: str) -> PeerLost:
        return PeerLost(
            f"train: {what}. This process, {self.name}, takes every step together with all others, and none can be "
            "taken without them. Start all tasks again: they go on from the last checkpoint; at most the steps since "
            "are lost. (`lightwell launch --restart` does so by itself.)"
        )

    def raise_unless_resumable(self, error: BaseException) -> None:
        """After a session was lost: a new one helps only where each process takes steps of its own.

        Raises:
            TrainingOver: the chief has ended the training.
            PeerLost: a peer is gone without which no step can be taken.
        """
        if not self.is_synchronized:
            return
        until = time.monotonic() + _MARK_SECS
        while time.monotonic() < until:  # a chief that has ended writes its mark before its process ends
            self._check_not_over()
            gone = self._lost_peers()
            if gone is not None and self.is_chief:
                raise gone from error
            time.sleep(_PAUSE)
        raise self._lost_peers() or self._lost(f"A step failed that all take together: {error}") from error


def join_cluster(config: RunConfig, model_dir: str) -> Member | None:
    """Starts the server of this process and returns its `Member`; None for a process that trains by itself.

    A server that the program itself has started at this address is used.
    """
    if not config.master:
        return None
    if config.master == f"grpc://{own_address(config)}":
        start_server(config, may_exist=True)
    synchronized = is_synchronized(config.train_distribute)
    needed = (CHIEF, MASTER, WORKER) if synchronized else (PS,)
    return Member(
        name=name_of_task(config),
        is_chief=config.is_chief,
        is_synchronized=synchronized,
        needs={
            _name(job, index): address
            for job in needed
            for index, address in enumerate(config.cluster_spec.as_dict().get(job, []))
            if (job, index) != (config.task_type, config.task_id)
        },
        patience=float(config.session_creation_timeout_secs or float("inf")),
        model_dir=model_dir,
        finished_before=finished_in(model_dir),
    )


def name_of_task(config: RunConfig) -> str:
    """The name of a task: `chief`, `worker 1`."""
    return _name(config.task_type, config.task_id)


def _name(task_type: str, index: int) -> str:
    return task_type if task_type in (CHIEF, MASTER) else f"{task_type} {index}"


def own_address(config: RunConfig) -> str:
    """The address of this process in TF_CONFIG; empty for a task that is not in its cluster."""
    if config.task_type not in config.cluster_spec.jobs:
        return ""
    return str(config.cluster_spec.task_address(config.task_type, config.task_id))


def start_server(config: RunConfig, *, may_exist: bool) -> None:
    """Starts this task's server, unless this process has.

    Args:
        config: has the address.
        may_exist: whether a server that already answers at the address is taken for the program's own.

    Raises:
        UsageError: the port is in use.
    """
    address = own_address(config)
    with _servers_lock:
        if address in _servers or private_strategies.has_started_server(config.train_distribute):
            return
        if not _port_is_free(address):
            if may_exist:
                logger.info("A server answers at %s already: it is taken for this program's own.", address)
                return
            raise UsageError(_in_use(config, address))
        settings = config.session_config
        if is_synchronized(config.train_distribute):  # the server itself must know the leader
            settings = config.train_distribute.update_config_proto(settings or default_session_config())
        logger.info("Start Tensorflow server.")
        try:
            _servers[address] = tf.distribute.Server(
                config.cluster_spec,
                job_name=config.task_type,
                task_index=config.task_id,
                config=settings,
                protocol=config.protocol or "grpc",
                start=True,
            )
        except tf.errors.OpError as error:
            if _port_is_free(address):
                raise
            raise UsageError(_in_use(config, address)) from error


def _in_use(config: RunConfig, address: str) -> str:
    return (
        f"TF_CONFIG: this process is to be {name_of_task(config)} at {address}, and the port is in use. Another "
        "program, or the same task of an earlier run, has it: end that one, or give this task another port, in the "
        "TF_CONFIG of all tasks."
    )


def finished_in(model_dir: str) -> Finished | None:
    """The mark of a finished training; None where there is none, or none that can be read."""
    try:
        return read_finished(model_dir)
    except (tf.errors.OpError, OSError, ValueError, KeyError):
        return None


def newly_finished(model_dir: str, before: Finished | None) -> Finished | None:
    """The mark of a training that ended since `before` was read."""
    now = finished_in(model_dir)
    return None if now == before else now


def answers(address: str) -> bool:
    """Whether something listens at `host:port`."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS):
            return True
    except (OSError, ValueError):
        return False


def _port_is_free(address: str) -> bool:
    """Whether a server could listen there: a server of TensorFlow listens on all addresses of its machine."""
    port = address.rpartition(":")[2]
    if not port.isdigit():
        return True  # TensorFlow raises for it
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", int(port)))
        except OSError:
            return False
    return True
