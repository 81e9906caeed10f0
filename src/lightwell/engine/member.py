"""This process as a member of a cluster that trains together: its server, whom it needs, whom it waits for.

Owns the servers that this process has started, and `Member`, which a `SessionPlan` carries. Takes a `RunConfig`; the
transport is TensorFlow's own. Waits are short and say whom they are for.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.finished import Finished, read_finished
from lightwell.cluster import PS
from lightwell.config import RunConfig
from lightwell.errors import LightwellError, UsageError
from lightwell.log import logger

_PAUSE = 0.25
_TELL_EVERY = 10.0
_CONNECT_SECS = 2.0
_servers: dict[str, Any] = {}  # by address; TensorFlow cannot stop one, so that it lives as long as the process
_servers_lock = threading.Lock()


class TrainingOver(LightwellError):
    """The chief has ended the training while this process was waiting to take part in it."""


class PeerUnreachable(LightwellError, tf.errors.DeadlineExceededError):
    """Another process of the cluster did not answer, or did not do its part, in the time that there was."""

    def __init__(self, text: str) -> None:
        tf.errors.DeadlineExceededError.__init__(self, None, None, text)

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True, eq=False)
class Member:
    """One process of a cluster, about to train.

    Attributes:
        name: what it is called: `worker 1`.
        is_chief: whether it initialises, restores and saves.
        needs: by name, the addresses of those that must be there before a session can be.
        patience: for how many seconds it waits for others.
        model_dir: where the chief says that the training has ended.
        finished_before: what stood there when this process joined.
    """

    name: str
    is_chief: bool
    needs: Mapping[str, str]
    patience: float
    model_dir: str
    finished_before: Finished | None

    def wait_for_servers(self) -> None:
        """Returns once all parameter servers answer.

        Raises:
            PeerUnreachable: one does not, in all that time.
            TrainingOver: the training has ended.
        """

        def silent() -> list[str]:
            return [f"{name} at {address}" for name, address in self.needs.items() if not answers(address)]

        self._wait(silent, "Not reachable: %s", "Start it, or mend its address in TF_CONFIG; is its port open?")

    def wait_for_chief(self, uninitialised: Callable[[], list[str]]) -> None:
        """Returns once the chief has given all variables a value.

        Args:
            uninitialised: names those that have none.

        Raises:
            PeerUnreachable, TrainingOver: as above.
        """

        def left() -> list[str]:
            names = uninitialised()
            return [*names[:3], *([f"and {len(names) - 3} more"] if len(names) > 3 else [])]

        told = "The chief has not given a value to these variables yet: %s"
        self._wait(left, told, "Is the chief running, with the same model and the same TF_CONFIG?")

    def pause(self) -> None:
        """A moment before the next attempt.

        Raises:
            TrainingOver: there is nothing more to attempt.
        """
        time.sleep(_PAUSE)
        self._check_still_on()

    def _wait(self, missing: Callable[[], list[str]], told: str, advice: str) -> None:
        started = last_told = time.monotonic()
        while True:
            self._check_still_on()
            left = missing()
            now = time.monotonic()
            if not left:
                return
            text = f"This process, {self.name}, waits. {told % ', '.join(left)}"
            if now - started > self.patience:
                raise PeerUnreachable(
                    f"train: Session was not ready after waiting {self.patience:g} secs "
                    f"(RunConfig.session_creation_timeout_secs). {text}. {advice}"
                )
            if now - last_told > _TELL_EVERY:
                last_told = now
                logger.warning("%s. %.0f secs so far, %.0f at most. %s", text, now - started, self.patience, advice)
            time.sleep(_PAUSE)

    def _check_still_on(self) -> None:
        if self.is_chief:
            return
        finished = newly_finished(self.model_dir, self.finished_before)
        if finished is not None:
            raise TrainingOver(f"The training has ended at step {finished.global_step}: {finished.stopped}")


def joined(config: RunConfig, model_dir: str) -> Member | None:
    """This process as a member of its cluster, its server started; None for one that trains by itself.

    A server that the program itself has started at this address is used.
    """
    if not config.master:
        return None
    if config.master == f"grpc://{own_address(config)}":
        start_server(config, may_be_there=True)
    servers = config.cluster_spec.as_dict().get(PS, [])
    return Member(
        name=name_of_task(config),
        is_chief=config.is_chief,
        needs={f"ps {index}": address for index, address in enumerate(servers)},
        patience=float(config.session_creation_timeout_secs or float("inf")),
        model_dir=model_dir,
        finished_before=finished_in(model_dir),
    )


def name_of_task(config: RunConfig) -> str:
    """A task in words: `chief`, `worker 1`."""
    return config.task_type if config.is_chief else f"{config.task_type} {config.task_id}"


def own_address(config: RunConfig) -> str:
    """The address that TF_CONFIG gives this process; empty for a task that is not in its cluster."""
    if config.task_type not in config.cluster_spec.jobs:
        return ""
    return str(config.cluster_spec.task_address(config.task_type, config.task_id))


def start_server(config: RunConfig, *, may_be_there: bool) -> None:
    """Starts this task's server, unless this process has.

    Args:
        config: says where.
        may_be_there: whether one that answers at the address already is taken for the program's own.

    Raises:
        UsageError: the port is in use.
    """
    address = own_address(config)
    with _servers_lock:
        if address in _servers:
            return
        if not _port_is_free(address):
            if may_be_there:
                logger.info("A server answers at %s already: it is taken for this program's own.", address)
                return
            raise UsageError(_in_use(config, address))
        logger.info("Start Tensorflow server.")
        try:
            _servers[address] = tf.distribute.Server(
                config.cluster_spec,
                job_name=config.task_type,
                task_index=config.task_id,
                config=config.session_config,
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
        return True  # TensorFlow will tell
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", int(port)))
        except OSError:
            return False
    return True
