"""State changes of runners."""

import secrets
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete, exists, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.ci.runners.params import CreateRunner, EditRunner, RegisterRunner, RunnerInfo
from ingot.ci.runners.queries import (
    count_runner_projects,
    manager_or_none,
    runner_or_none,
    runner_project_or_none,
    tags_of_runner,
)
from ingot.ci.runners.queue_version import announce_queue_change
from ingot.ci.runners.registration import RunnerOwner
from ingot.ci.runners.tables import Runner, runner_managers, runner_projects, runners
from ingot.core.access.actor import Actor
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Conflict, Denied, Invalid, NotFound, too_long_message
from ingot.projects.projects.tables import Project

CREATED_PREFIX = "glrt-"
"""Beginning of the tokens of runners that users create; clients recognize such tokens by it."""
MAX_TAGS = 50
MAX_TAG_LENGTH = 255
MIN_TIMEOUT_SECONDS = 600
MAX_TIMEOUT_SECONDS = 31 * 24 * 3600
_TOKEN_BYTES = 15
_MAX_INFO_LENGTH = 255
_other = runner_projects.alias("other")
_OF_PROJECT = select(runner_projects.c.runner_id).where(runner_projects.c.project_id == bindparam("project"))
_DELETE_SOLE = delete(runners).where(
    runners.c.runner_type == "project_type",
    runners.c.id.in_(
        select(runner_projects.c.runner_id)
        .where(runner_projects.c.project_id == bindparam("project"))
        .scalar_subquery()
    ),
    ~exists().where(_other.c.runner_id == runners.c.id, _other.c.project_id != bindparam("project")),
)
_DELETE_ASSIGNMENTS = delete(runner_projects).where(runner_projects.c.project_id == bindparam("project"))
_LOCK = select(runners.c.id).where(runners.c.id == bindparam("runner")).with_for_update()


def remove_runners_of_project(db: Connection, project_id: int) -> None:
    """Delete the runners that no other project uses, and the assignments of all others."""
    db.run(_DELETE_SOLE, project=project_id)
    db.run(_DELETE_ASSIGNMENTS, project=project_id)
    announce_queue_change(db)


def register_runner(db: Connection, owner: RunnerOwner, params: RegisterRunner, ip: str) -> tuple[Runner, str]:
    """Create a runner for the owner of a registration token; return it with its token.

    It has not contacted the server yet: it may never ask for jobs.
    """
    active = not params.paused if params.paused is not None else params.active is not False
    attributes = _new_attributes(params) | _machine(params.info, ip)
    note = params.maintenance_note if params.maintenance_note is not None else params.maintainer_note
    return _add_runner(
        db, owner, secrets.token_urlsafe(_TOKEN_BYTES), **attributes | {"active": active, "maintenance_note": note}
    )


def create_runner(db: Connection, actor: Actor, owner: RunnerOwner, params: CreateRunner) -> tuple[Runner, str]:
    """Create a runner for a program that will authenticate with the returned token."""
    attributes = _new_attributes(params) | {
        "active": not params.paused,
        "creator_id": actor.user_id,
        "created_by_user": True,
    }
    return _add_runner(db, owner, _created_token(), **attributes)


def edit_runner(db: Connection, runner: Runner, params: EditRunner) -> Runner:
    """Update the fields that were sent."""
    if not given_fields(params):
        names = ", ".join(params.__struct_fields__)
        raise Invalid(f"{names} are missing, at least one parameter must be provided")
    given = given_fields(params, "paused", "tag_list")
    if params.paused is not UNSET and params.active is not UNSET:
        raise Invalid("active, paused are mutually exclusive")
    if params.paused is not UNSET:
        given["active"] = not params.paused
    tags = tags_of_runner(runner)
    if params.tag_list is not UNSET:
        tags = _valid_tags(params.tag_list)
        given["tags"] = _encode_tags(tags)
    _validate(given, tags, given.get("run_untagged", runner.run_untagged))
    db.update(runners, runner.id, **given, updated_at=db.now)
    announce_queue_change(db)
    return _existing_runner(db, runner.id)


def delete_runner(db: Connection, runner: Runner) -> None:
    """Delete a runner; jobs that it executes end by their timeout."""
    db.delete(runners, runner.id)
    announce_queue_change(db)


def require_sole_project(db: Connection, actor: Actor, runner: Runner) -> None:
    """Raise Denied if other projects use the runner too, so that only administrators may delete it."""
    if not actor.admin and count_runner_projects(db, runner) > 1:
        raise Denied("Runner associated with more than one project")


def reset_runner_token(db: Connection, runner: Runner) -> tuple[str, Timestamp | None]:
    """Replace the token of a runner; return the new one and when it expires."""
    token = _created_token() if runner.created_by_user else secrets.token_urlsafe(_TOKEN_BYTES)
    sealed, digest = db.vault.seal(token), db.vault.digest(token)
    expires_at = _token_expiry(db, runner.runner_type)
    db.update(
        runners, runner.id, sealed_token=sealed, token_digest=digest, token_expires_at=expires_at, updated_at=db.now
    )
    announce_queue_change(db)
    return token, expires_at


def require_assignable(actor: Actor, runner: Runner) -> None:
    """Raise Denied if a runner cannot be made available to further projects."""
    if runner.runner_type == "instance_type":
        raise Denied("Runner is shared")
    if runner.runner_type == "group_type":
        raise Denied("Runner is a group runner")
    if runner.locked and not actor.admin:
        raise Denied("Runner is locked")


def assign_runner(db: Connection, runner: Runner, project: Project) -> None:
    """Make a project runner available to another project."""
    if runner_project_or_none(db, runner.id, project.id) is not None:
        raise Conflict("Runner was already enabled for this project")
    db.insert(runner_projects, runner_id=runner.id, project_id=project.id)
    announce_queue_change(db)


def unassign_runner(db: Connection, project: Project, runner_id: int) -> None:
    """Make a runner unavailable to a project; raise NotFound if it is not available there.

    It must have another project.
    """
    db.value(_LOCK, runner=runner_id)
    link = runner_project_or_none(db, runner_id, project.id)
    if link is None:
        raise NotFound("Runner")
    if count_runner_projects(db, _existing_runner(db, runner_id)) == 1:
        raise Denied("Only one project associated with the runner. Please remove the runner instead")
    db.delete(runner_projects, link)
    announce_queue_change(db)


def note_contact(db: Connection, runner_id: int, info: RunnerInfo | None, ip: str, system_id: str | None) -> None:
    """Record that a runner is in contact with the server, and which machine it runs on."""
    contact = {**_machine(info, ip), "contacted_at": db.now}
    if db.update_counted(runners, runner_id, **contact) == 0 or not system_id:
        return
    contact.pop("name", None)
    manager = manager_or_none(db, runner_id, system_id)
    if manager is None:
        db.insert(runner_managers, runner_id=runner_id, system_id=system_id, created_at=db.now, **contact)
    else:
        db.update(runner_managers, manager.id, **contact)


def remove_manager(db: Connection, runner: Runner, system_id: str) -> None:
    """Remove a machine from a runner; raise NotFound if it has no such machine."""
    manager = manager_or_none(db, runner.id, system_id)
    if manager is None:
        raise NotFound(message="404 Runner manager not found Not Found")
    db.delete(runner_managers, manager.id)


def _machine(info: RunnerInfo | None, ip: str) -> dict[str, Any]:
    """Return the columns that describe the machine of a runner; information that is not sent stays."""
    names = ("name", "version", "revision", "platform", "architecture")
    sent = {name: getattr(info, name) for name in names} if info is not None else {}
    columns = {name: value[:_MAX_INFO_LENGTH] for name, value in sent.items() if value}
    return columns | {"ip_address": ip}


def _new_attributes(params: RegisterRunner | CreateRunner) -> dict[str, Any]:
    tags = _valid_tags(params.tag_list or [])
    run_untagged = params.run_untagged if params.run_untagged is not None else True
    attributes = {
        "description": params.description,
        "maintenance_note": params.maintenance_note,
        "locked": params.locked,
        "run_untagged": run_untagged,
        "access_level": params.access_level,
        # Runners send 0 for no limit.
        "maximum_timeout": params.maximum_timeout or None,
        "tags": _encode_tags(tags),
    }
    _validate(attributes, tags, run_untagged)
    return attributes


def _add_runner(db: Connection, owner: RunnerOwner, token: str, **attributes: Any) -> tuple[Runner, str]:
    runner_type = "instance_type"
    if owner.project_id is not None:
        runner_type = "project_type"
    elif owner.group_id is not None:
        runner_type = "group_type"
    runner_id = db.insert(
        runners,
        **{"created_by_user": False, **attributes},
        runner_type=runner_type,
        token_expires_at=_token_expiry(db, runner_type),
        group_id=owner.group_id,
        sealed_token=db.vault.seal(token),
        token_digest=db.vault.digest(token),
        created_at=db.now,
        updated_at=db.now,
    )
    if owner.project_id is not None:
        db.insert(runner_projects, runner_id=runner_id, project_id=owner.project_id)
    return _existing_runner(db, runner_id), token


def _token_expiry(db: Connection, runner_type: str) -> Timestamp | None:
    """Return when a token that is created now expires."""
    settings = cached_all_settings(db)
    seconds = {
        "instance_type": settings.runner_token_expiration_interval,
        "group_type": settings.group_runner_token_expiration_interval,
        "project_type": settings.project_runner_token_expiration_interval,
    }[runner_type]
    return add_duration(db.now, seconds=seconds) if seconds is not None else None


def _existing_runner(db: Connection, runner_id: int) -> Runner:
    runner = runner_or_none(db, runner_id)
    if runner is None:  # Deleted by a concurrent transaction.
        raise NotFound("Runner")
    return runner


def _created_token() -> str:
    return CREATED_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)


def _valid_tags(tag_list: list[str]) -> list[str]:
    tags = sorted({tag.strip() for tag in tag_list} - {""})
    if len(tags) > MAX_TAGS:
        raise Invalid(tags_list=[f"Too many tags specified. Please limit the number of tags to {MAX_TAGS}"])
    if any(len(tag) > MAX_TAG_LENGTH for tag in tags):
        raise Invalid(tag_list=[too_long_message(MAX_TAG_LENGTH)])
    return tags


def _encode_tags(tags: list[str]) -> str:
    return msgspec.json.encode(tags).decode()


def _validate(attributes: dict[str, Any], tags: list[str], run_untagged: bool) -> None:
    if not tags and not run_untagged:
        raise Invalid(tags_list=["can not be empty when runner is not allowed to pick untagged jobs"])
    timeout = attributes.get("maximum_timeout")
    if timeout is not None and timeout < MIN_TIMEOUT_SECONDS:
        raise Invalid(maximum_timeout=["needs to be at least 10 minutes"])
    if timeout is not None and timeout > MAX_TIMEOUT_SECONDS:
        raise Invalid(maximum_timeout=["must be less than 1 month"])
