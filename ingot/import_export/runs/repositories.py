"""Import of the git repositories of a project: branches, tags, merge request heads and the wiki."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.git.core.errors import GitError
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.bundles import fetch_bundle
from ingot.git.maintenance.fetch import BRANCHES_AND_TAGS, NO_SPACE, empty_repository, fetch_into, point_head
from ingot.git.writing.ref_updates import RefMoved, RefNameConflict, RefUpdate, update_refs
from ingot.import_export.links import store_links
from ingot.import_export.source import RepositoryLocation, SourceError
from ingot.import_export.tables import import_links
from ingot.projects.imports.jobs import RESERVED_BYTES, TRANSIENT_REASONS

TIMEOUT_SECONDS = 6 * 3600.0
RETRY_SECONDS = 30.0
_STAGED = "refs/keep/import/"
"""Refs of the source while they are compared with those of a repository in use; clients do not see them."""
_LIMITED = (HEADS.decode(), TAGS.decode())
_MERGE_REQUESTS = "refs/merge-requests/"
_PUBLIC = (HEADS, TAGS, _MERGE_REQUESTS.encode())
_IMPORTED = select(import_links.c.key, import_links.c.fingerprint).where(
    import_links.c.import_id == bindparam("import"), import_links.c.kind == bindparam("of_kind")
)


class FetchMonitor(NamedTuple):
    """Callbacks of a running fetch: progress lines, and a check four times a second that can abort it."""

    on_progress: Callable[[str], None]
    on_tick: Callable[[], None]


def imported_refs(db: Connection, import_id: int, kind: str) -> dict[str, str]:
    """Return the objects that refs had at the source when they were last imported."""
    return dict(db.rows(_IMPORTED, **{"import": import_id, "of_kind": kind}))


def store_imported_refs(db: Connection, import_id: int, kind: str, refs: Mapping[str, str]) -> None:
    """Record the refs of the source, so that a repeated import recognizes those that were changed here."""
    known = imported_refs(db, import_id, kind)
    changed = [(ref, 0, oid) for ref, oid in refs.items() if known.get(ref) != oid]
    store_links(db, import_id, kind, changed)


def fetch_repository(
    repository: Repository, location: RepositoryLocation, guard: SsrfGuard, monitor: FetchMonitor
) -> dict[str, str]:
    """Fetch all refs of the source into an empty repository; return them. Raise SourceError if that fails."""
    path = repository.path
    _fetch(path, location, guard, monitor, _refspecs(location), into_empty=True)
    error = repository.ref_limit_error()
    if error is not None:
        empty_repository(path)
        raise SourceError(error)
    if repository.ref_store is not None:
        repository.ref_store.publish()
    return _public_refs(path)


def update_repository(
    repository: Repository,
    location: RepositoryLocation,
    guard: SsrfGuard,
    monitor: FetchMonitor,
    imported: Mapping[str, str],
) -> tuple[dict[str, str], list[str]]:
    """Fetch what has changed at the source since ``imported``; refs that were changed here are left as they are.

    Return the refs of the source, and a sentence for each ref that was left.
    """
    path = repository.path
    staged = [spec.replace(":refs/", f":{_STAGED}") for spec in _refspecs(location)]
    try:
        _fetch(path, location, guard, monitor, staged, into_empty=False)
        incoming = {
            "refs/" + name.decode(errors="replace").removeprefix(_STAGED): oid
            for name, oid in read_refs(path, (_STAGED.encode(),)).items()
        }
        error = repository.ref_limit_error(sum(ref.startswith(_LIMITED) for ref in incoming.keys() - imported.keys()))
        if error is not None:
            raise SourceError(error)
        problems = _apply(repository, incoming, imported)
    finally:
        _delete_staged(repository)
    return incoming, problems


def _apply(repository: Repository, incoming: Mapping[str, str], imported: Mapping[str, str]) -> list[str]:
    current = _public_refs(repository.path)
    problems: list[str] = []
    for ref in sorted({*incoming, *imported}):
        new, before, here = (refs.get(ref, NO_OID) for refs in (incoming, imported, current))
        if new in (before, here):
            continue
        if here != before:
            problems.append(f"{ref} was changed here and at the source; it was left as it is here.")
            continue
        try:
            update_refs(repository, [RefUpdate(ref, here, new)])
        except (RefMoved, RefNameConflict):
            problems.append(f"{ref} could not be updated, because of another change of a ref here.")
    if not problems:
        point_head(repository, None)
    return problems


def _delete_staged(repository: Repository) -> None:
    staged = read_refs(repository.path, (_STAGED.encode(),))
    if staged and repository.ref_store is not None:
        # They are in the local copy only.
        update_refs(
            Repository(repository.path), [RefUpdate(name.decode(), oid, NO_OID) for name, oid in staged.items()]
        )
    elif staged:
        update_refs(
            repository, [RefUpdate(name.decode(errors="surrogateescape"), oid, NO_OID) for name, oid in staged.items()]
        )


def _public_refs(path: Path) -> dict[str, str]:
    return {name.decode(errors="replace"): oid for name, oid in read_refs(path, _PUBLIC).items()}


def _refspecs(location: RepositoryLocation) -> list[str]:
    specs = list(BRANCHES_AND_TAGS)
    if location.merge_request_refs:
        specs.append(f"+{location.merge_request_refs}:{_MERGE_REQUESTS}*/head")
    return specs


def _fetch(
    path: Path,
    location: RepositoryLocation,
    guard: SsrfGuard,
    monitor: FetchMonitor,
    refspecs: list[str],
    *,
    into_empty: bool,
) -> None:
    free = max(0, shutil.disk_usage(path).free - RESERVED_BYTES)
    if not free:
        raise SourceError(NO_SPACE, retry_after=RETRY_SECONDS)
    try:
        if location.bundle:
            patterns = [pattern for pattern in (location.merge_request_refs, *location.further_refs) if pattern]
            reason = fetch_bundle(path, Path(location.url), patterns, TIMEOUT_SECONDS)
        else:
            remote = find_repository(guard, location.url, location.username or "", location.password or "")
            reason = fetch_into(
                path,
                remote.url,
                remote.pinned,
                remote.username,
                remote.password,
                TIMEOUT_SECONDS,
                monitor.on_progress,
                monitor.on_tick,
                max_bytes=free + Repository(path).size_bytes(),
                refspecs=refspecs,
                into_empty=into_empty,
            )
    except (RequestRefused, RequestFailed) as error:
        raise SourceError(error.reason, retry_after=RETRY_SECONDS if error.temporary else None) from error
    except (OSError, GitError) as error:
        raise SourceError("The repository could not be stored", retry_after=RETRY_SECONDS) from error
    if reason is not None:
        raise SourceError(reason, retry_after=RETRY_SECONDS if reason in TRANSIENT_REASONS else None)
