"""Identity of a runner: its token, kept in its directory, and the name of this machine."""

import json
import os
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ingot.runner.client import register, verify
from ingot.runner.http import json_body


class RegistrationFailed(Exception):
    """The server did not register the runner."""


class RunnerDirectory:
    """Directory of a runner, with its token and the name of this machine in a file that only its user can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = folder / "runner.json"

    def system_id(self) -> str:
        """Return the name of this machine; the same at every start."""
        state = self._read()
        if "system_id" not in state:
            state["system_id"] = f"r_{secrets.token_hex(6)}"
            self._write(state)
        return str(state["system_id"])

    def registered_token(
        self,
        url: str,
        registration_token: str,
        tags: Iterable[str],
        description: str | None = None,
        key: str | None = None,
    ) -> str:
        """Return the runner's token, after registration if the server knows none; raise RegistrationFailed.

        Tokens are stored under the server's URL, or under ``key``.
        """
        state = self._read()
        known = state.get("runners", {}).get(key or url)
        if known and verify(url, known, self.system_id()).status == 200:
            return str(known)
        reply = register(url, registration_token, description or socket.gethostname(), tags)
        if reply.status != 201:
            raise RegistrationFailed(f"The server answered {reply.status} to the registration")
        token = str(json.loads(reply.body)["token"])
        state = self._read()
        state.setdefault("runners", {})[key or url] = token
        self._write(state)
        return token

    def _read(self) -> dict[str, Any]:
        try:
            state = json.loads(self._file.read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _write(self, state: dict[str, Any]) -> None:
        partial = self._file.with_name(f"runner.json.{os.getpid()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(json_body(state))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._file)
