"""State changes of push mirrors."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.ssh_key_pairs import generate_key_pair
from ingot.core.outgoing.ssh_urls import check_ssh_url, is_ssh_url
from ingot.core.outgoing.urls import strip_credentials
from ingot.projects.imports.service import validate_import_url
from ingot.projects.projects.tables import Project
from ingot.repositories.mirrors.params import CreateMirror, EditMirror
from ingot.repositories.mirrors.queries import count_mirrors, failed_mirrors, find_mirror, mirror_identity
from ingot.repositories.mirrors.tables import RemoteMirror, remote_mirrors

UPDATE_MIRROR = "update_remote_mirror"
MAX_MIRRORS = 10
MAX_VISITED = 20
_HIDDEN = "*****:*****@"


def create_mirror(db: Connection, guard: SsrfGuard, project: Project, params: CreateMirror) -> RemoteMirror:
    """Create a mirror and update it if it is enabled; raise Invalid for a URL that is not allowed."""
    if count_mirrors(db, project) >= MAX_MIRRORS:
        raise Invalid(f"A project has {MAX_MIRRORS} mirrors at most")
    mirror_id = db.insert(
        remote_mirrors,
        project_id=project.id,
        **_url_columns(db, guard, params.url, params.auth_method),
        enabled=params.enabled,
        only_protected_branches=params.only_protected_branches,
        keep_divergent_refs=params.keep_divergent_refs,
        update_status="none",
        created_at=db.now,
    )
    mirror = find_mirror(db, project, mirror_id)
    if mirror.enabled:
        enqueue_update(db, mirror)
    return mirror


def edit_mirror(
    db: Connection, guard: SsrfGuard, project: Project, mirror: RemoteMirror, params: EditMirror
) -> RemoteMirror:
    """Change a mirror and update it if it is enabled."""
    columns = given_fields(params, "auth_method", "url")
    if params.url is not UNSET and params.url != mirror.url:
        columns |= _url_columns(db, guard, params.url, params.auth_method, mirror)
    elif params.auth_method not in (None, mirror.auth_method):
        raise Invalid(auth_method=["does not suit the URL"])
    db.update(remote_mirrors, mirror.id, **columns)
    edited = find_mirror(db, project, mirror.id)
    if edited.enabled:
        enqueue_update(db, edited)
    return edited


def delete_mirror(db: Connection, mirror: RemoteMirror) -> None:
    """Delete a mirror; the other repository remains as it is."""
    db.delete(remote_mirrors, mirror.id)


def enqueue_update(db: Connection, mirror: RemoteMirror, visited: Sequence[str] = ()) -> None:
    """Enqueue the update of a mirror; ``visited`` names the mirrored projects through which the change came."""
    path = [*visited, mirror_identity(db, mirror.project_id)][-MAX_VISITED:]
    enqueue(db, UPDATE_MIRROR, {"mirror_id": mirror.id, "visited": path}, unique_key=f"mirror {mirror.id}")


def enqueue_failed_updates(db: Connection) -> int:
    """Enqueue the updates that have failed again; return their number."""
    failed = failed_mirrors(db)
    for mirror in failed:
        enqueue_update(db, mirror)
    return len(failed)


def start_update(db: Connection, mirror: RemoteMirror) -> None:
    """Record that an update has begun."""
    db.update(remote_mirrors, mirror.id, update_status="started", last_update_started_at=db.now)


def finish_update(db: Connection, mirror: RemoteMirror, error: str | None, known_hosts: str | None = None) -> None:
    """Record the result of an update, and the host keys of the first connection over SSH."""
    columns: dict[str, Any] = {"update_status": "finished" if error is None else "failed", "last_error": error}
    if known_hosts and not mirror.known_hosts:
        columns["known_hosts"] = known_hosts
    if error is None:
        columns["last_successful_update_at"] = db.now
    db.update(remote_mirrors, mirror.id, **columns, last_update_at=db.now)


def _url_columns(
    db: Connection, guard: SsrfGuard, url: str, auth_method: str | None, mirror: RemoteMirror | None = None
) -> dict[str, Any]:
    url = url.strip()
    if is_ssh_url(url) and auth_method != "password" and (auth_method or mirror):
        return _ssh_columns(db, guard, url)
    if auth_method == "ssh_public_key":
        raise Invalid(url=["must begin with ssh:// for a mirror with a key"])
    try:
        validate_import_url(url, guard)
    except Invalid as error:
        raise Invalid(url=error.errors["import_url"]) from error
    address, username, password = strip_credentials(url)
    scheme, _, rest = address.partition("://")
    shown = f"{scheme}://{_HIDDEN}{rest}" if username or password else address
    without_key = {"sealed_private_key": None, "public_key": None, "known_hosts": None}
    return {"url": shown, "sealed_url": db.vault.seal(url), "auth_method": "password", **without_key}


def _ssh_columns(db: Connection, guard: SsrfGuard, url: str) -> dict[str, Any]:
    """Return the columns of a mirror over SSH; a new URL gets a new key, and forgets the host keys of the old one."""
    try:
        check_ssh_url(guard, url)
    except RequestRefused as error:
        raise Invalid(url=[error.reason]) from error
    private, public = generate_key_pair("ingot-mirror")
    return {
        "url": url,
        "sealed_url": db.vault.seal(url),
        "auth_method": "ssh_public_key",
        "sealed_private_key": db.vault.seal(private),
        "public_key": public,
        "known_hosts": None,
    }
