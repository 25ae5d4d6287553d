"""Files in Git LFS: the runner downloads them itself, because its git commands run no filters."""

import base64
import hashlib
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from ingot.runner.http import NoResponse, ServerConnection, exchange_with_retries, json_body

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_MAX_POINTER_BYTES = 1024
_BATCH = 100
_CHUNK = 256 * 1024
_LIST_SECONDS = 600
_TRANSFER_SECONDS = 300.0
_RETRY_PAUSES = (1.0, 4.0)
_SHOW_SUBMODULE = r"""printf '%s\0%s\0' "$toplevel/$sm_path" "$(git config remote.origin.url)" """
_LFS_FILES = ("--", ":(attr:filter=lfs)")
_TYPE = "application/vnd.git-lfs+json"


class LfsFailed(Exception):
    """A file in Git LFS could not be downloaded."""


class LfsFile(NamedTuple):
    """Content of a file in the commit, which stands for the file in Git LFS."""

    oid: str
    size: int


class _Action(msgspec.Struct, frozen=True):
    href: str
    header: dict[str, str] = {}


class _Object(msgspec.Struct, frozen=True):
    oid: str
    actions: dict[str, _Action] = {}
    error: dict[str, Any] | None = None


class _Batch(msgspec.Struct, frozen=True):
    objects: list[_Object] = []


def parse_pointer(data: bytes) -> LfsFile | None:
    """Return the pointer that a file contains; None if it is another file."""
    if not data.startswith(_POINTER) or len(data) > _MAX_POINTER_BYTES:
        return None
    fields = dict(line.split(" ", 1) for line in data.decode(errors="replace").splitlines() if " " in line)
    kind, _, oid = fields.get("oid", "").partition(":")
    size = fields.get("size", "")
    return LfsFile(oid, int(size)) if kind == "sha256" and len(oid) == 64 and size.isdecimal() else None


def list_pointers(project: Path, environment: Mapping[str, str]) -> dict[Path, LfsFile]:
    """Return the files of the work tree that are pointers and that the attributes assign to Git LFS."""
    listing = _output(["git", "ls-files", "-z", *_LFS_FILES], project, environment)
    found = {}
    for name in filter(None, listing.split("\0")):
        path = project / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_POINTER_BYTES:
            continue
        pointer = parse_pointer(path.read_bytes())
        if pointer is not None:
            found[path] = pointer
    return found


def list_submodules(project: Path, environment: Mapping[str, str], *, recursive: bool) -> list[tuple[Path, str]]:
    """Return the directories of the submodules that were checked out, with the addresses of their repositories."""
    command = ["git", "submodule", "--quiet", "foreach", *(["--recursive"] if recursive else []), _SHOW_SUBMODULE]
    words = _output(command, project, environment).split("\0")
    return [(Path(path), url) for path, url in zip(words[::2], words[1::2], strict=False)]


def download_files(
    pointers: Mapping[Path, LfsFile],
    url: str,
    credentials: str | None,
    log: Callable[[str], None],
    check: Callable[[], None],
) -> None:
    """Replace pointers by the files; raise LfsFailed if one cannot be had.

    The credentials, ``user:password``, are sent to the server of the URL only.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise LfsFailed("files can be downloaded by HTTP and HTTPS only")
    basic = None if credentials is None else base64.b64encode(credentials.encode()).decode()
    paths = list(pointers)
    log(f"Downloading {len(paths)} {'file' if len(paths) == 1 else 'files'} of Git LFS...")
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        actions = dict(_request_actions(url, basic, {pointers[path] for path in batch}))
        for path in batch:
            check()
            pointer = pointers[path]
            if pointer.oid not in actions:
                raise LfsFailed(f"the server names no address for {path.name} ({pointer.oid})")
            _download(actions[pointer.oid], pointer, path, url, basic)


def mark_unchanged(folder: Path, environment: Mapping[str, str]) -> None:
    """Let git count downloaded files as unchanged: it turns them into pointers when it compares them.

    The index forgets the sizes of the pointers, because git compares no contents when the sizes differ.
    """
    _output(["git", "config", "filter.lfs.clean", f"'{sys.executable}' -I -m {__name__}"], folder, environment)
    entries = _output(["git", "ls-files", "-s", "-z", *_LFS_FILES], folder, environment)
    _output(["git", "update-index", "-z", "--index-info"], folder, environment, entries)


def _output(command: Sequence[str], directory: Path, environment: Mapping[str, str], given: str = "") -> str:
    """Run a git command and return its output; raise LfsFailed if it fails."""
    result = subprocess.run(
        command,
        cwd=directory,
        env=dict(environment),
        input=given.encode(errors="surrogateescape"),
        capture_output=True,
        check=False,
        timeout=_LIST_SECONDS,
    )
    if result.returncode != 0:
        raise LfsFailed(f"git {command[1]} ended with status {result.returncode}")
    return result.stdout.decode(errors="surrogateescape")


def _request_actions(url: str, basic: str | None, pointers: set[LfsFile]) -> Iterator[tuple[str, _Action]]:
    body = {
        "operation": "download",
        "transfers": ["basic"],
        "objects": [{"oid": pointer.oid, "size": pointer.size} for pointer in sorted(pointers)],
    }
    headers = {"Accept": _TYPE, "Content-Type": _TYPE, **_authorization(basic)}
    try:
        reply = exchange_with_retries(url, "POST", "/info/lfs/objects/batch", headers, json_body(body))
        batch = msgspec.json.decode(reply.body, type=_Batch) if reply.status == 200 else None
    except (NoResponse, msgspec.DecodeError) as error:
        raise LfsFailed(f"the server gave no usable response: {error}") from error
    if batch is None:
        raise LfsFailed(f"the server answered {reply.status}")
    for item in batch.objects:
        if item.error is not None:
            raise LfsFailed(f"{item.oid}: {item.error.get('message', 'not available')}")
        if "download" in item.actions:
            yield item.oid, item.actions["download"]


def _authorization(basic: str | None) -> dict[str, str]:
    return {} if basic is None else {"Authorization": f"Basic {basic}"}


def _download(action: _Action, pointer: LfsFile, path: Path, url: str, basic: str | None) -> None:
    headers = {name: value for name, value in action.header.items() if name.lower() != "transfer-encoding"}
    same_server = urlsplit(action.href).netloc == urlsplit(url).netloc
    if same_server and not any(name.lower() == "authorization" for name in headers):
        headers |= _authorization(basic)
    for pause in (*_RETRY_PAUSES, None):
        try:
            _transfer(action.href, headers, pointer, path)
        except (OSError, http.client.HTTPException, LfsFailed) as error:
            if pause is None:
                raise LfsFailed(f"{path.name} could not be downloaded: {error}") from error
            time.sleep(pause)
        else:
            return


def _transfer(href: str, headers: Mapping[str, str], pointer: LfsFile, path: Path) -> None:
    """Write the file beside its place and replace the pointer when its content is right."""
    parts = urlsplit(href)
    connection = ServerConnection(f"{parts.scheme}://{parts.netloc}", _TRANSFER_SECONDS)
    partial = path.with_name(f".{path.name}.{pointer.oid[:8]}.part")
    try:
        connection.send("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers, None)
        response = connection.response()
        if response.status != 200:
            raise LfsFailed(f"the server answered {response.status}")
        digest, size = hashlib.sha256(), 0
        with partial.open("wb") as file:
            while piece := response.read(_CHUNK):
                digest.update(piece)
                size += len(piece)
                file.write(piece)
        if (digest.hexdigest(), size) != (pointer.oid, pointer.size):
            raise LfsFailed("its content is damaged")
        partial.chmod(path.stat().st_mode & 0o7777)
        partial.replace(path)
    finally:
        connection.close()
        partial.unlink(missing_ok=True)


def main() -> int:
    """Write the pointer of a file from the standard input, as git's clean filter."""
    data = sys.stdin.buffer
    head = data.read(_MAX_POINTER_BYTES + 1)
    if parse_pointer(head) is not None or not head:
        sys.stdout.buffer.write(head)
        return 0
    digest, size = hashlib.sha256(head), len(head)
    while piece := data.read(_CHUNK):
        digest.update(piece)
        size += len(piece)
    sys.stdout.buffer.write(_POINTER + f"oid sha256:{digest.hexdigest()}\nsize {size}\n".encode())
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
