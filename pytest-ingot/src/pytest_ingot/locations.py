"""Places where the program of the server can be: this environment, another one, a container image, or a URL."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple, NoReturn

DEFAULT_IMAGE = "ingot"
"""Name that the documentation gives the image."""
_RUNTIMES = ("podman", "docker")
_INSPECT_SECONDS = 30.0


class ServerNotFound(Exception):
    """No server was found; the text says where one was looked for and what to do."""


class Program(NamedTuple):
    """Command on this machine."""

    command: tuple[str, ...]


class Image(NamedTuple):
    """Container image and the program that runs it."""

    runtime: str
    name: str


class Address(NamedTuple):
    """URL of a server that already runs."""

    url: str


Location = Program | Image | Address


def find_server(chosen: str = "") -> Location:
    """Return the chosen location, or the first of this environment, another one, and the image ``ingot``.

    A choice is ``here``, the path of a program or an environment, ``image:NAME``, or a URL. Raises ``ServerNotFound``.
    """
    if not chosen:
        return _first_location()
    if chosen.startswith(("http://", "https://")):
        return Address(chosen.rstrip("/"))
    if chosen == "here":
        return Program(_command_here() or _missing("ingot-forge is not installed in this environment"))
    if chosen.startswith("image:"):
        runtime = next(iter(_runtimes()), None) or _missing("Neither podman nor docker is installed")
        return Image(runtime, chosen.removeprefix("image:"))
    return Program((_program(chosen),))


def _first_location() -> Location:
    here = _command_here()
    if here:
        return Program(here)
    for program in _programs_of_tools():
        return Program((program,))
    for runtime in _runtimes():
        if _has_image(runtime, DEFAULT_IMAGE):
            return Image(runtime, DEFAULT_IMAGE)
    return _missing("There is no Ingot in this environment, on PATH, among the programs of pipx and uv, or as an image")


def _missing(reason: str) -> NoReturn:
    raise ServerNotFound(
        f"{reason}. Install the server (pip install ingot-forge[testing], pipx install ingot-forge or"
        " uv tool install ingot-forge), or choose it: pytest --ingot-server=PATH, image:NAME or URL"
    )


def _command_here() -> tuple[str, ...]:
    """Return the command of this environment; a package of another project is called ``ingot`` too."""
    try:
        distribution("ingot-forge")
    except PackageNotFoundError:
        return ()
    return (sys.executable, "-m", "ingot")


def _programs_of_tools() -> Iterator[str]:
    """List the programs on PATH and in the folders where pipx and uv put those of the tools that they install."""
    folders = [os.environ.get(name, "") for name in ("PIPX_BIN_DIR", "UV_TOOL_BIN_DIR", "XDG_BIN_HOME")]
    for path in (os.environ.get("PATH", os.defpath), *folders, str(Path.home() / ".local" / "bin")):
        program = shutil.which("ingot", path=path) if path else None
        if program is not None:
            yield program


def _program(chosen: str) -> str:
    """Return the program of a path, which may be that of an environment."""
    path = Path(chosen).expanduser()
    for candidate in (path / "bin" / "ingot", path / "Scripts" / "ingot.exe", path):
        found = shutil.which(str(candidate))
        if found is not None:
            return found
    raise ServerNotFound(f"{chosen} is neither a program nor an environment with the program ingot")


def _runtimes() -> Iterator[str]:
    """List the container runtimes on PATH."""
    for name in _RUNTIMES:
        found = shutil.which(name)
        if found is not None:
            yield found


def _has_image(runtime: str, name: str) -> bool:
    """Return whether the image is on this machine; nothing is pulled."""
    try:
        done = subprocess.run(
            [runtime, "image", "inspect", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_INSPECT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
