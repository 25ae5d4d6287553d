"""Import of the LFS objects of a repository, through the batch API of the source or from an archive."""

import base64
from collections.abc import Callable, Iterator, Sequence
from typing import IO

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.outgoing.guard import SsrfGuard
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.integrations.transfers.source import LfsObjectSource, ProjectSource, RepositoryLocation, SourceError
from ingot.integrations.transfers.sources.client import SourceClient
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.files import ContentMismatch, LfsFiles, is_oid
from ingot.repositories.lfs.pointers import MAX_POINTER_BYTES, parse_pointer
from ingot.repositories.lfs.service import link_object, lock_object_row

OBJECTS_PER_REQUEST = 100
_PIECE_BYTES = 256 * 1024
_MEDIA_TYPE = "application/vnd.git-lfs+json"
_LIST_TIMEOUT_SECONDS = 1800.0


class _Action(msgspec.Struct):
    href: str
    header: dict[str, str] = {}


class _Actions(msgspec.Struct):
    download: _Action | None = None


class _BatchObject(msgspec.Struct):
    oid: str
    size: int
    actions: _Actions | None = None


class _BatchResponse(msgspec.Struct):
    objects: list[_BatchObject]


class LfsObject(msgspec.Struct, frozen=True):
    """Object that a repository refers to."""

    oid: str
    size: int


def referenced_objects(repository: Repository) -> list[LfsObject]:
    """Return the LFS objects of all pointers in the history of a repository."""
    check = [
        "cat-file",
        "--batch-all-objects",
        "--unordered",
        "--batch-check=%(objecttype) %(objectsize) %(objectname)",
    ]
    listing = run_git(check, repository.path, timeout=_LIST_TIMEOUT_SECONDS).out
    small = []
    for line in listing.splitlines():
        kind, length, name = line.split(b" ")
        # The shortest pointer has 120 bytes; reading other blobs would take long.
        if kind == b"blob" and 100 <= int(length) <= MAX_POINTER_BYTES:
            small.append(name)
    if not small:
        return []
    contents = run_git(
        ["cat-file", "--batch", "--buffer"], repository.path, b"\n".join(small) + b"\n", _LIST_TIMEOUT_SECONDS
    ).out
    found: dict[str, LfsObject] = {}
    offset = 0
    while offset < len(contents):
        end = contents.index(b"\n", offset)
        size = int(contents[offset:end].rsplit(b" ", 1)[1])
        content = contents[end + 1 : end + 1 + size]
        oid = parse_pointer(content)
        if oid is not None:
            found[oid] = LfsObject(oid, int(content.rsplit(b"size ", 1)[1]))
        offset = end + 2 + size
    return list(found.values())


def import_lfs_objects(
    database: Database,
    files: LfsFiles,
    project: Project,
    repository: Repository,
    source: ProjectSource,
    location: RepositoryLocation,
    guard: SsrfGuard,
    on_tick: Callable[[], None],
) -> tuple[int, list[str]]:
    """Copy the LFS objects of a project; return their number, and a sentence for each that is missing at the source."""
    problems: list[str] = []
    count = 0
    for item, opened in _opened(source, location, guard, referenced_objects(repository), files):
        on_tick()
        stored = opened is not None and _store(files, item, opened)
        if not stored and files.size_of(item.oid) != item.size:
            problems.append(f"The LFS object {item.oid} is not available at the source.")
            continue

        def link(db: Connection, item: LfsObject = item) -> None:
            lock_object_row(db, item.oid)
            link_object(db, files, project, item.oid, item.size)

        database.write(link)
        count += 1
    return count, problems


def _store(files: LfsFiles, item: LfsObject, opened: IO[bytes]) -> bool:
    incoming = files.receive(item.oid, item.size)
    try:
        while piece := opened.read(_PIECE_BYTES):
            incoming.write(piece)
        incoming.finish()
    except ContentMismatch:  # Reported as missing, because no client could use it.
        incoming.discard()
        return False
    except BaseException:
        incoming.discard()
        raise
    return True


def _opened(
    source: ProjectSource,
    location: RepositoryLocation,
    guard: SsrfGuard,
    objects: Sequence[LfsObject],
    files: LfsFiles,
) -> Iterator[tuple[LfsObject, IO[bytes] | None]]:
    """Yield each object with its content; None if it is stored here already, or missing at the source."""
    if isinstance(source, LfsObjectSource):
        available = {oid: size for oid, size in source.lfs_objects() if is_oid(oid)}
        known = {item.oid: item for item in objects}
        for oid in known:
            opened = source.open_file(f"lfs-objects/{oid}") if oid in available else None
            if opened is None:
                yield known[oid], None
            else:
                with opened as file:
                    yield known[oid], file
        return
    missing = [item for item in objects if files.size_of(item.oid) != item.size]
    yield from ((item, None) for item in objects if item not in missing)
    if missing:
        yield from _downloaded(location, guard, missing)


def _downloaded(
    location: RepositoryLocation, guard: SsrfGuard, objects: Sequence[LfsObject]
) -> Iterator[tuple[LfsObject, IO[bytes] | None]]:
    pair = base64.b64encode(f"{location.username or ''}:{location.password or ''}".encode()).decode()
    headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
    if location.username or location.password:
        headers["Authorization"] = f"Basic {pair}"
    client = SourceClient(guard, location.url, headers, secrets=[location.password or "", pair])
    try:
        for start in range(0, len(objects), OBJECTS_PER_REQUEST):
            part = {item.oid: item for item in objects[start : start + OBJECTS_PER_REQUEST]}
            body = {"operation": "download", "transfers": ["basic"], "objects": list(part.values())}
            for each in client.post("/info/lfs/objects/batch", body, _BatchResponse).objects:
                item, action = part.pop(each.oid, None), each.actions.download if each.actions else None
                if item is None:
                    continue
                if action is None:
                    yield item, None
                    continue
                with client.download(action.href, action.header) as file:
                    yield item, file
            yield from ((item, None) for item in part.values())
    except SourceError as error:
        raise SourceError(f"LFS: {error.reason}", retry_after=error.retry_after) from error
    finally:
        client.close()
