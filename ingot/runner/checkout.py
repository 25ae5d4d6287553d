"""Checkout of a job's commit."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from ingot.runner.assignment import GitSource
from ingot.runner.environment import ShellEnvironment

_ALL_REFS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_LOCKS = ("index.lock", "shallow.lock", "HEAD.lock", "config.lock", "packed-refs.lock")
_CLEAN_FLAGS = "-ffdx"
_HELPER = '!f() { test "$1" = get || exit 0; echo username=gitlab-ci-token; echo "password=$CI_JOB_TOKEN"; }; f'
"""The token comes from the environment: arguments are visible to other users of the machine."""

RunGit = Callable[[list[str]], int]
"""Runs git in the project's directory, with its output in the log, and returns its exit status."""


class CheckoutFailed(Exception):
    """The commit could not be checked out."""


def credential_settings(repository_url: str) -> dict[str, str]:
    """Return the environment with which git authenticates at the server of the job, and there only."""
    server = urlunsplit(urlsplit(repository_url)._replace(path="", query="", fragment=""))
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"credential.{server}.helper",
        "GIT_CONFIG_VALUE_0": _HELPER,
        "GIT_TERMINAL_PROMPT": "0",
    }


def public_url(repository_url: str, clone_url: str | None) -> str:
    """Return a repository's URL without credentials, on another server if the runner reaches it there."""
    parts = urlsplit(repository_url)
    host = parts.netloc.rpartition("@")[2]
    if clone_url is None:
        return urlunsplit(parts._replace(netloc=host))
    other = urlsplit(clone_url)
    return urlunsplit(
        parts._replace(scheme=other.scheme, netloc=other.netloc, path=other.path.rstrip("/") + parts.path)
    )


def lfs_access(url: str, clone_url: str, token: str) -> tuple[str, str | None]:
    """Return the URL below which a repository's files in Git LFS are, and the credentials for it.

    The token of the job goes to the job's server only, as git's credentials do.
    """
    parts = urlsplit(url)
    own, host = urlsplit(clone_url), parts.netloc.rpartition("@")[2]
    path = parts.path.rstrip("/")
    clean = urlunsplit((parts.scheme, host, path if path.endswith(".git") else f"{path}.git", "", ""))
    if parts.username:
        return clean, f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    if (parts.scheme, host) == (own.scheme, own.netloc):
        return clean, f"gitlab-ci-token:{token}"
    return clean, None


def submodule_strategy(environment: ShellEnvironment) -> str:
    """Return which submodules a job wants: ``none``, ``normal`` or ``recursive``."""
    return environment.get("GIT_SUBMODULE_STRATEGY") or "none"


class Checkout:
    """Work tree of a job's project."""

    def __init__(self, directory: Path, git: RunGit, environment: ShellEnvironment, log: Callable[[str], None]) -> None:
        self._directory = directory
        self._git = git
        self._environment = environment
        self._log = log

    def prepare(self, source: GitSource, url: str, *, allow_fetch: bool) -> bool:
        """Check out the commit, unless the job does not want it; return whether it was. Raise CheckoutFailed."""
        strategy = self._environment.get("GIT_STRATEGY") or ("fetch" if allow_fetch else "clone")
        if strategy not in ("fetch", "clone", "none", "empty"):
            raise CheckoutFailed(f"GIT_STRATEGY cannot be {strategy!r}")
        if strategy in ("clone", "empty"):
            _remove(self._directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        if strategy in ("none", "empty"):
            self._log("Skipping the checkout")
            return False
        self._fetch(source, url)
        if self._environment.get("GIT_CHECKOUT", "true").lower() in ("false", "0"):
            self._log("Skipping the checkout of the commit")
            return False
        self._log(f"Checking out {source.sha[:8]} as detached HEAD (ref is {source.ref})...")
        self._run(["checkout", "-f", "-q", "--detach", source.sha])
        flags = self._environment.get("GIT_CLEAN_FLAGS") or _CLEAN_FLAGS
        if flags != "none":
            self._run(["clean", *shlex.split(flags)])
        self._update_submodules()
        return True

    def _fetch(self, source: GitSource, url: str) -> None:
        folder = self._directory / ".git"
        if folder.exists():
            self._log("Fetching changes...")
            self._reset_repository(folder)
        else:
            self._log("Cloning the repository...")
        self._run(["init", "-q"])
        self._run(["remote", "add", "origin", url])
        depth = self._environment.number("GIT_DEPTH", source.depth or 0)
        arguments = ["fetch", "origin", "--no-recurse-submodules", "--prune", "--quiet", "-f"]
        if depth > 0:
            arguments += ["--depth", str(depth)]
        elif (folder / "shallow").exists():
            arguments.append("--unshallow")
        arguments += shlex.split(self._environment.get("GIT_FETCH_EXTRA_FLAGS"))
        self._run([*arguments, *(source.refspecs or _ALL_REFS)])

    def _reset_repository(self, folder: Path) -> None:
        """Remove what an interrupted job may have left, and hooks and settings that an earlier job may have added."""
        for lock in _LOCKS:
            (folder / lock).unlink(missing_ok=True)
        (folder / "config").unlink(missing_ok=True)
        _remove(folder / "hooks")

    def _update_submodules(self) -> None:
        strategy = submodule_strategy(self._environment)
        if strategy == "none" or not (self._directory / ".gitmodules").exists():
            return
        recursive = ["--recursive"] if strategy == "recursive" else []
        depth = self._environment.number("GIT_SUBMODULE_DEPTH", 0)
        self._log("Updating submodules...")
        self._run(["submodule", "sync", "-q", *recursive])
        self._run(["submodule", "update", "-q", "--init", *recursive, *(["--depth", str(depth)] if depth > 0 else [])])

    def _run(self, arguments: list[str]) -> None:
        status = self._git(arguments)
        if status != 0:
            raise CheckoutFailed(f"git {arguments[0]} ended with status {status}")


def _remove(path: Path) -> None:
    """Remove a directory, also if a job has made parts of it read-only."""
    if not path.exists():
        return
    for folder, _, _ in os.walk(path):
        with suppress(OSError):  # The removal reports it.
            Path(folder).chmod(0o700)
    shutil.rmtree(path)


def git_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the runner's own git commands, which run no hooks and use no settings of the user."""
    return {
        **environment,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C",
    }
