"""Variables of a job: expansion, files and the environment of its processes."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ingot.runner.assignment import VariableSpec

_REFERENCE = re.compile(r"\$(?:\{(?P<braced>[^}]*)\}|(?P<plain>[A-Za-z_][A-Za-z0-9_]*|[$*#@!?0-9-]))")
_SPECIAL = frozenset("*#@!?-0123456789")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PRIVATE_PREFIXES = ("INGOT_", "GIT_CONFIG_")
"""Variables of the runner's own environment that jobs do not get: they contain secrets or change what git does."""


class ShellEnvironment:
    """Variables of one job; a later one replaces an earlier one with the same key."""

    def __init__(self, variables: Iterable[VariableSpec], files: Path) -> None:
        self._files = files
        self._specs = {variable.key: variable for variable in variables}
        self._values = {
            key: spec.value if spec.raw else self._expanded(spec.value) for key, spec in self._specs.items()
        }

    def get(self, key: str, default: str = "") -> str:
        """Return the value of a variable, or the path of its file."""
        spec = self._specs.get(key)
        if spec is None:
            return default
        return str(self._files / key) if spec.file else self._values[key]

    def number(self, key: str, default: int) -> int:
        """Return a variable as a number; the default if it is none."""
        try:
            return int(self.get(key))
        except ValueError:
            return default

    def set(self, key: str, value: str) -> None:
        """Set a variable without expansion."""
        self.add([VariableSpec(key, value, raw=True)])

    def add(self, variables: Iterable[VariableSpec]) -> None:
        """Add variables without expansion."""
        for variable in variables:
            self._specs[variable.key] = variable
            self._values[variable.key] = variable.value

    def expand(self, text: str) -> str:
        """Replace references to variables."""
        return _REFERENCE.sub(lambda match: self._referenced(match, self.get), text)

    def secrets(self) -> list[str]:
        """Return the values that must not appear in the log."""
        return [self._values[key] for key, spec in self._specs.items() if spec.masked]

    def write_files(self) -> None:
        """Write the values of file variables to files that only this user can read."""
        self._files.mkdir(mode=0o700, parents=True, exist_ok=True)
        for key, spec in self._specs.items():
            if spec.file and _NAME.fullmatch(key):
                path = self._files / key
                path.unlink(missing_ok=True)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                    file.write(self._values[key])

    def for_processes(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the job's processes."""
        environment = {key: value for key, value in inherited.items() if not key.startswith(_PRIVATE_PREFIXES)}
        for key in self._specs:
            value = self.get(key)
            if _NAME.fullmatch(key) and "\0" not in value:
                environment[key] = value
        return environment

    def _expanded(self, value: str) -> str:
        """Replace references by the values before their own expansion, as gitlab-runner does."""
        return _REFERENCE.sub(lambda match: self._referenced(match, self._unexpanded), value)

    def _unexpanded(self, key: str) -> str:
        spec = self._specs.get(key)
        if spec is None:
            return ""
        return str(self._files / key) if spec.file else spec.value

    @staticmethod
    def _referenced(match: re.Match[str], lookup: Callable[[str], str]) -> str:
        name = match["braced"] if match["braced"] is not None else match["plain"]
        if name == "$":
            return "$"
        return "" if name in _SPECIAL else lookup(name)
