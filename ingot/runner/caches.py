"""Caches of projects on the runner's disk."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote
from zipfile import BadZipFile

from ingot.runner.archives import UnsafeArchive, extract_zip, write_zip
from ingot.runner.artifacts import untracked_files
from ingot.runner.assignment import CacheSpec
from ingot.runner.environment import ShellEnvironment
from ingot.runner.patterns import matching_files

_DEFAULT_KEY = "default"


class CacheDirectory:
    """Caches of one project; a cache is replaced as a whole, so that a reader never sees a part."""

    def __init__(self, folder: Path, project: Path, environment: ShellEnvironment, log: Callable[[str], None]) -> None:
        self._folder = folder
        self._project = project
        self._environment = environment
        self._log = log

    def restore(self, spec: CacheSpec) -> None:
        """Extract a cache into the project; a missing or damaged one is no error."""
        if self._policy(spec) == "push":
            self._log(f"Not downloading the cache {self._key(spec.key)} because of its policy")
            return
        fallback = self._environment.get("CACHE_FALLBACK_KEY")
        for key in (spec.key, *(spec.fallback_keys or ()), *((fallback,) if fallback else ())):
            name = self._key(key)
            archive = self._archive(name)
            self._log(f"Checking cache for {name}...")
            if archive.exists():
                try:
                    extract_zip(archive, self._project)
                except (BadZipFile, UnsafeArchive, OSError) as error:
                    self._log(f"\x1b[33;1mThe cache cannot be extracted: {error}\x1b[0;m")
                else:
                    self._log("Restored the cache")
                return
        self._log("No cache found")

    def save(self, spec: CacheSpec, git: Mapping[str, str], *, succeeded: bool) -> None:
        """Store a cache, if its policy says so; a failure is no error of the job."""
        when = spec.when or "on_success"
        if self._policy(spec) == "pull" or when not in (
            "always",
            "on_success" if succeeded else "on_failure",
        ):
            return
        name = self._key(spec.key)
        self._log(f"Creating cache {name}...")
        expand = self._environment.expand
        files, unmatched = matching_files(self._project, map(expand, spec.paths or ()), ())
        for pattern in unmatched:
            self._log(f"\x1b[33;1m{pattern}: no matching files\x1b[0;m")
        if spec.untracked:
            files = sorted({*files, *matching_files(self._project, untracked_files(self._project, git), ())[0]})
        if not files:
            return
        archive = self._archive(name)
        partial = archive.with_name(f"{archive.name}.{os.getpid()}-{id(self)}.part")
        try:
            archive.parent.mkdir(parents=True, exist_ok=True)
            write_zip(partial, self._project, files)
            partial.replace(archive)
        except OSError as error:
            partial.unlink(missing_ok=True)
            self._log(f"\x1b[33;1mThe cache cannot be stored: {error}\x1b[0;m")
        else:
            self._log("Created cache")

    def _policy(self, spec: CacheSpec) -> str:
        return self._environment.expand(spec.policy or "")

    def _key(self, key: str | None) -> str:
        return self._environment.expand(key or "").strip() or _DEFAULT_KEY

    def _archive(self, name: str) -> Path:
        # A key is one file name, whatever it contains; "." and ".." begin with a dot and are quoted as well.
        return self._folder / (quote(name, safe="-_ @+").replace(".", "%2E")[:200] + ".zip")
