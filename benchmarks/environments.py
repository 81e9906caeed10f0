"""The peers' virtual environments: made when a row needs one, kept for the next run.

Takes an `Environment`, gives the path of its Python, or an `InstallError` that says in one line why there is none.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers import Environment

ROOT = Path(__file__).resolve().parent.parent
_READY = "bench-ready"
_KNOWN_MINORS = range(20, 8, -1)


class InstallError(Exception):
    """An environment cannot be made."""


def python_of(environment: Environment, kept_in: Path = ROOT) -> Path:
    """The interpreter of an environment, which is made if it is not there or its requirements changed.

    Args:
        environment: what is needed.
        kept_in: the folder in which environments are.

    Raises:
        InstallError: there is no suitable Python, or a package cannot be installed.
    """
    directory, requirements = _places(environment, kept_in)
    python = directory / "bin" / "python"
    if is_ready(environment, kept_in):
        return python
    if not python.exists():
        _run([_interpreter(environment), "-m", "venv", str(directory)])
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    _run([*pip, "--requirement", str(requirements)])
    (directory / _READY).write_text(_digest(requirements))
    return python


def is_ready(environment: Environment, kept_in: Path = ROOT) -> bool:
    """Whether an environment is there, with what it needs today."""
    directory, requirements = _places(environment, kept_in)
    mark = directory / _READY
    is_made = (directory / "bin" / "python").exists() and mark.exists()
    return is_made and mark.read_text() == _digest(requirements)


def _places(environment: Environment, kept_in: Path) -> tuple[Path, Path]:
    requirements = ROOT / "benchmarks" / "peers" / f"{environment.name}.txt"
    return kept_in / f".venv-bench-{environment.name}", requirements


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _interpreter(environment: Environment) -> str:
    """A Python in the environment's range: the one that runs this if it will do, else the newest on the path."""
    own = getattr(sys, "_base_executable", sys.executable)
    on_path = [shutil.which(f"python3.{minor}") for minor in _KNOWN_MINORS]
    for candidate in [own, *filter(None, on_path)]:
        version = _version(candidate)
        if version and environment.oldest <= version <= (environment.newest or version):
            return str(candidate)
    newest = "" if environment.newest is None else f" to {_dotted(environment.newest)}"
    raise InstallError(f"needs Python {_dotted(environment.oldest)}{newest}, and none was found")


def _version(interpreter: str) -> tuple[int, int] | None:
    command = [interpreter, "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:  # a shim of a version that is not active, for one
        return None
    major, minor = map(int, done.stdout.split())
    return major, minor


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no reason was given"]
        raise InstallError("could not be installed: " + without_places(errors[-1].removeprefix("ERROR: ")))


def without_places(text: str) -> str:
    """A message without the addresses and paths of this machine."""
    return re.sub(r"(?:\w+://|(?<![\w.])/)[^\s'\",;:)]+", "…", text)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
