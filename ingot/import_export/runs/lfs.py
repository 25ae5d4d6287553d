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
from ingot.import_export.source import LfsObjectSource, ProjectSource, RepositoryLocation, SourceError
from ingot.import_export.sources.client import SourceClient
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.files import ContentMismatch, LfsFiles, is_oid
from ingot.repositories.lfs.pointers import MAX_POINTER_BYTES, parse_pointer
from ingot.repositories.lfs.queries import sizes_in_project
from ingot.repositories.lfs.service import link_object, lock_object_row

OBJECTS_PER_REQUEST = 100
_PIECE_BYTES = 256 * 1024
_PART_BYTES = 512 * 1024
"""Names of blobs that are read at once; their contents have at most 25 times as many bytes."""
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
    found: dict[str, LfsObject] = {}
    for names in _small_blobs(repository):
        read = ["cat-file", "--batch", "--buffer"]
        contents = run_git(read, repository.path, names, _LIST_TIMEOUT_SECONDS).out
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


def _small_blobs(repository: Repository) -> list[bytes]:
    """Return the names of the blobs that can be pointers, one per line, in parts that are read at once.

    The output of git is not collected, because a large repository has millions of objects.
    """
    parts = [bytearray()]
    rest = b""

    def read(chunk: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            kind, length, name = line.split(b" ")
            # The shortest pointer has 120 bytes; reading other blobs would take long.
            if kind == b"blob" and 100 <= int(length) <= MAX_POINTER_BYTES:
                if len(parts[-1]) >= _PART_BYTES:
                    parts.append(bytearray())
                parts[-1] += name + b"\n"

    form = "--batch-check=%(objecttype) %(objectsize) %(objectname)"
    command = ["cat-file", "--batch-all-objects", "--unordered", form]
    run_git(command, repository.path, timeout=_LIST_TIMEOUT_SECONDS, on_stdout=read)
    return [bytes(part) for part in parts if part]


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
    """Copy the LFS objects of a project; return their number, and a sentence for each that is missing at the source.

    An object that other projects of this instance have is received nevertheless: knowing its digest grants no access.
    """
    problems: list[str] = []
    referenced = referenced_objects(repository)
    known = database.read(lambda db: sizes_in_project(db, project.id, [item.oid for item in referenced]))
    count = len(known)
    for item, opened in _opened(source, location, guard, [item for item in referenced if item.oid not in known]):
        on_tick()
        if opened is None or not _store(files, item, opened):
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
) -> Iterator[tuple[LfsObject, IO[bytes] | None]]:
    """Yield each object with its content; None if it is missing at the source."""
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
    if objects:
        yield from _downloaded(location, guard, objects)


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
                opened = client.open_file(action.href, action.header) if action is not None else None
                if opened is None:
                    yield item, None
                    continue
                with opened as file:
                    yield item, file
            yield from ((item, None) for item in part.values())
    except SourceError as error:
        raise SourceError(f"LFS: {error.reason}", retry_after=error.retry_after) from error
    finally:
        client.close()
