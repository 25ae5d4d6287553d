"""State changes of pull mirrors."""

from typing import Any
from urllib.parse import quote

from msgspec import UNSET

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import enqueue
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import redact_url, strip_credentials
from ingot.errors import Invalid
from ingot.projects.imports.service import validate_import_url
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.pull_mirrors.branch_patterns import branch_matcher
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
        columns |= {"url": redact_url(url), "sealed_url": db.vault.seal(url)}
        db.update(projects, project.id, import_url=db.vault.seal(strip_credentials(url)[0]))
    if enabled is not UNSET:
        columns["enabled"] = enabled
    if mirror is None:
        if url is None:
            raise Invalid(import_url=["can't be blank"])
        new = {"user_id": user_id, "enabled": False, **columns, "update_status": "none", "created_at": db.now}
        db.insert(pull_mirrors, project_id=project.id, **new)
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


def finish_pull(db: Connection, mirror: PullMirror, error: str | None) -> None:
    """Record the result of an update."""
    columns: dict[str, Any] = {"update_status": "finished" if error is None else "failed", "last_error": error}
    if error is None:
        columns["last_successful_update_at"] = db.now
    db.update(pull_mirrors, mirror.id, **columns, last_update_at=db.now)


def _requested_url(db: Connection, guard: SsrfGuard, project: Project, params: ConfigurePullMirror) -> str | None:
    if params.url is UNSET and params.auth_user is UNSET and params.auth_password is UNSET:
        return None
    mirror = pull_mirror_or_none(db, project.id)
    url = params.url.strip() if params.url is not UNSET else ""
    if params.url is UNSET or (mirror is not None and url == mirror.url):
        # The URL that is shown has no credentials; sent back, it means the stored one.
        url = "" if mirror is None else db.vault.unseal(mirror.sealed_url)
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
