"""State changes of pull mirrors."""

from typing import Any
from urllib.parse import quote

from msgspec import UNSET

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.ssh_key_pairs import generate_key_pair
from ingot.core.outgoing.ssh_urls import check_ssh_url, is_ssh_url
from ingot.core.outgoing.urls import redact_url, strip_credentials
from ingot.projects.imports.service import validate_import_url
from ingot.projects.projects.branch_patterns import branch_matcher
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.pull_mirrors.params import ConfigurePullMirror
from ingot.repositories.pull_mirrors.queries import due_pull_mirrors, find_pull_mirror, pull_mirror_or_none
from ingot.repositories.pull_mirrors.tables import PullMirror, pull_mirrors

UPDATE_PULL_MIRROR = "update_pull_mirror"
INTERVAL_SECONDS = 1800
_OPTIONS = (
    "mirror_trigger_builds",
    "only_mirror_protected_branches",
    "mirror_overwrites_diverged_branches",
    "mirror_branch_regex",
)


def configure_pull_mirror(
    db: Connection, guard: SsrfGuard, user_id: int, project: Project, params: ConfigurePullMirror
) -> PullMirror:
    """Change the settings of a pull mirror; raise Invalid for a URL that is not allowed."""
    options = {name: value for name, value in given_fields(params).items() if name in _OPTIONS}
    if params.enabled is not UNSET:
        options["mirror"] = params.enabled
    if options.get("mirror_branch_regex"):
        branch_matcher(options["mirror_branch_regex"])
    if options:
        db.update(projects, project.id, options_document=edited_options(project.options_document, options))
    return set_pull_mirror(db, user_id, project, _requested_url(db, guard, project, params), params.enabled)


def set_pull_mirror(db: Connection, user_id: int, project: Project, url: str | None, enabled: Any) -> PullMirror:
    """Create or change the mirror of a project and update it if it is enabled; the changes are made as this user.

    ``url`` has been checked; None keeps the current one, and UNSET keeps the mirror enabled or disabled.
    """
    mirror = pull_mirror_or_none(db, project.id)
    if project.import_status in ("scheduled", "started") and mirror is not None:
        raise Invalid("The project is being imported")
    columns: dict[str, Any] = {"user_id": user_id} if enabled is not False else {}
    if url is not None:
        columns |= _ssh_columns(db, url, mirror) if is_ssh_url(url) else _password_columns(db, url)
        shown = url if is_ssh_url(url) else strip_credentials(url)[0]
        db.update(projects, project.id, import_url=db.vault.seal(shown))
    if enabled is not UNSET:
        columns["enabled"] = enabled
    if mirror is None:
        if url is None:
            raise Invalid(import_url=["can't be blank"])
        new = {"user_id": user_id, "enabled": False, **columns, "update_status": "none", "created_at": db.now}
        db.insert_row(pull_mirrors, project_id=project.id, **new)
    else:
        db.update(pull_mirrors, mirror.id, **columns)
    changed = find_pull_mirror(db, project)
    if changed.enabled:
        enqueue_pull(db, changed)
    return changed


def enqueue_pull(db: Connection, mirror: PullMirror) -> None:
    """Enqueue the update of a mirror."""
    enqueue(db, UPDATE_PULL_MIRROR, {"mirror_id": mirror.id}, unique_key=f"pull mirror {mirror.id}")


def enqueue_due_pulls(db: Connection) -> None:
    """Enqueue the updates of mirrors that were updated half an hour ago.

    Only the time and users start an update, never a change of the other repository, so that two instances that mirror
    each other do not loop.
    """
    for mirror in due_pull_mirrors(db, add_duration(db.now, seconds=-INTERVAL_SECONDS)):
        enqueue_pull(db, mirror)


def start_pull(db: Connection, mirror: PullMirror) -> None:
    """Record that an update has begun."""
    db.update(pull_mirrors, mirror.id, update_status="started", last_update_started_at=db.now)


def finish_pull(db: Connection, mirror: PullMirror, error: str | None, known_hosts: str | None = None) -> None:
    """Record the result of an update, and the host keys of the first connection over SSH."""
    columns: dict[str, Any] = {"update_status": "finished" if error is None else "failed", "last_error": error}
    if known_hosts and not mirror.known_hosts:
        columns["known_hosts"] = known_hosts
    if error is None:
        columns["last_successful_update_at"] = db.now
    db.update(pull_mirrors, mirror.id, **columns, last_update_at=db.now)


def _password_columns(db: Connection, url: str) -> dict[str, Any]:
    without_key = {"sealed_private_key": None, "public_key": None, "known_hosts": None}
    return {"url": redact_url(url), "sealed_url": db.vault.seal(url), "auth_method": "password", **without_key}


def _ssh_columns(db: Connection, url: str, mirror: PullMirror | None) -> dict[str, Any]:
    """Return the columns of a mirror over SSH; a new URL gets a new key and forgets the host keys."""
    columns: dict[str, Any] = {"url": url, "sealed_url": db.vault.seal(url), "auth_method": "ssh_public_key"}
    if mirror is None or mirror.url != url or mirror.sealed_private_key is None:
        private, public = generate_key_pair("ingot-mirror")
        columns |= {"sealed_private_key": db.vault.seal(private), "public_key": public, "known_hosts": None}
    return columns


def _requested_url(db: Connection, guard: SsrfGuard, project: Project, params: ConfigurePullMirror) -> str | None:
    given = (params.url, params.auth_user, params.auth_password)
    if all(value is UNSET for value in given) and params.auth_method is None:
        return None
    mirror = pull_mirror_or_none(db, project.id)
    url = params.url.strip() if params.url is not UNSET else ""
    if params.url is UNSET or (mirror is not None and url == mirror.url):
        # The URL that is shown has no credentials; sent back, it means the stored one.
        url = "" if mirror is None else db.vault.unseal(mirror.sealed_url)
    stored_method = None if mirror is None else mirror.auth_method
    if is_ssh_url(url) and (params.auth_method or stored_method) == "ssh_public_key":
        return _checked_ssh_url(guard, url)
    if params.auth_method == "ssh_public_key":
        raise Invalid(url=["must begin with ssh:// for a mirror with a key"])
    try:
        validate_import_url(url, guard)
        if params.auth_user is not UNSET or params.auth_password is not UNSET:
            address, username, password = strip_credentials(url)
            username = params.auth_user if params.auth_user is not UNSET else username
            password = params.auth_password if params.auth_password is not UNSET else password
            url = address.replace("://", f"://{quote(username, safe='')}:{quote(password, safe='')}@", 1)
            validate_import_url(url, guard)
    except Invalid as error:
        raise Invalid(url=error.errors["import_url"]) from error
    return url


def _checked_ssh_url(guard: SsrfGuard, url: str) -> str:
    try:
        check_ssh_url(guard, url)
    except RequestRefused as error:
        raise Invalid(url=[error.reason]) from error
    return url
