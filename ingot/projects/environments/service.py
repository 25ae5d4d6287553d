"""State changes of environments and deployments."""

import re
import secrets
import string
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET
from sqlalchemy import bindparam, exists, update

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid, too_long_message
from ingot.core.events.bus import emit
from ingot.projects.environments.events import DeploymentSucceeded, EnvironmentStopped
from ingot.projects.environments.params import (
    CreateDeployment,
    CreateEnvironment,
    DeleteReviewApps,
    EditEnvironment,
)
from ingot.projects.environments.protection.deploy_permission import require_may_deploy_to
from ingot.projects.environments.protection.queries import has_rule
from ingot.projects.environments.queries import (
    environment_by_name_or_none,
    environment_by_slug_or_none,
    environment_by_url_or_none,
    find_deployment,
    find_environment,
    last_deployment_or_none,
    next_iid,
    stopped_review_apps,
)
from ingot.projects.environments.tables import Deployment, Environment, Status, Tier, deployments, environments
from ingot.projects.projects.tables import Project

MAX_LENGTH = 255
_MIN_STALE_DAYS, _MAX_STALE_DAYS = 7, 3652
_REVIEW_APP_DAYS = 30
_DELETION_DAYS = 7
"""A review app is deleted that long after it was scheduled for deletion."""
_DEPLOYED_SINCE = exists().where(
    deployments.c.environment_id == environments.c.id, deployments.c.updated_at >= bindparam("before")
)
_STOP_STALE = (
    update(environments)
    .where(
        environments.c.project_id == bindparam("project"),
        environments.c.state == "available",
        environments.c.updated_at < bindparam("before"),
        ~_DEPLOYED_SINCE,
        ~has_rule(),
    )
    .values(auto_stop_at=bindparam("now"))
)
MAX_SLUG_LENGTH = 24
SLUG_SUFFIX_LENGTH = 6
ALLOWED_SCHEMES = ("http", "https", "ssh", "git")
_NAME = re.compile(r"[A-Za-z0-9_/${}. -]+")
_UNSAFE_SCHEMES = ("javascript", "data", "vbscript")
_URL = re.compile(r"[^\s\x00-\x20\x7f\"<>\\^`{|}]+")
_SHA = re.compile(r"[0-9a-f]{40}", re.IGNORECASE)
_TIERS: tuple[tuple[Tier, "re.Pattern[str]"], ...] = (
    ("development", re.compile(r"dev|review|trunk", re.IGNORECASE)),
    ("testing", re.compile(r"test|tst|int|acc?e?pt|qa|qc|control|quality", re.IGNORECASE)),
    ("staging", re.compile(r"sta?g|mode?l|pre|demo|non", re.IGNORECASE)),
    ("production", re.compile(r"pro?d|live", re.IGNORECASE)),
)


def create_environment(db: Connection, project: Project, params: CreateEnvironment) -> Environment:
    """Create an environment with a slug derived from its name; raise Invalid for invalid fields."""
    _reject_slug(params.slug)
    url = params.external_url or None
    _validate(db, project, params.name, url, None)
    environment_id = db.insert(
        environments,
        project_id=project.id,
        name=params.name,
        name_key=params.name.casefold(),
        slug=_free_slug(db, project, params.name),
        external_url=url,
        state="available",
        tier=params.tier or tier_of(params.name),
        created_at=db.now,
        updated_at=db.now,
    )
    return find_environment(db, project, environment_id)


def find_or_create_environment(db: Connection, project: Project, params: CreateEnvironment) -> Environment:
    """Return the environment with a name; create it if there is none, once for concurrent calls."""
    environment = environment_by_name_or_none(db, project, params.name)
    if environment is None:
        db.lock(f"environments of project {project.id}")
        environment = environment_by_name_or_none(db, project, params.name) or create_environment(db, project, params)
    return environment


def edit_environment(
    db: Connection, project: Project, environment: Environment, params: EditEnvironment
) -> Environment:
    """Change the given fields; the slug does not change because URLs contain it."""
    _reject_slug(params.slug)
    name = environment.name if params.name is UNSET else params.name
    url = environment.external_url if params.external_url is UNSET else params.external_url or None
    tier = environment.tier if params.tier is UNSET else params.tier
    _validate(db, project, name, url, environment)
    db.update(
        environments,
        environment.id,
        name=name,
        name_key=name.casefold(),
        external_url=url,
        tier=tier,
        updated_at=db.now,
    )
    return find_environment(db, project, environment.id)


def stop_environment(
    db: Connection, actor: Actor, project: Project, environment: Environment, *, run_job: bool = True
) -> Environment:
    """Mark an environment as stopped; ``run_job`` starts the job that removes it, if there is one."""
    if environment.state != "stopped":
        _set_state(db, environment, "stopped")
        if run_job:
            emit(db, EnvironmentStopped(project.id, environment.id, actor.user_id))
    return find_environment(db, project, environment.id)


def stop_stale_environments(db: Connection, project: Project, before: Timestamp) -> None:
    """Let the next search of due environments stop those that were neither changed nor deployed to since a time.

    Protected environments are not stopped.
    """
    if not add_duration(db.now, days=-_MAX_STALE_DAYS) <= before <= add_duration(db.now, days=-_MIN_STALE_DAYS):
        raise Invalid("400 Bad request - Invalid Date")
    db.run(_STOP_STALE, project=project.id, before=before, now=db.now)


def schedule_review_app_deletion(db: Connection, project: Project, params: DeleteReviewApps) -> list[Environment]:
    """Let stopped review apps be deleted in a week and return them; a dry run only returns them."""
    before = params.before or add_duration(db.now, days=-_REVIEW_APP_DAYS)
    found = stopped_review_apps(db, project, before, params.limit)
    if not found:
        raise Invalid("400 Bad request - No stopped review app was created before this time")
    if not params.dry_run:
        for environment in found:
            db.update(environments, environment.id, auto_delete_at=add_duration(db.now, days=_DELETION_DAYS))
    return found


def delete_environment(db: Connection, environment: Environment) -> None:
    """Delete an environment with its deployments."""
    db.delete(environments, environment.id)


def create_deployment(
    db: Connection, actor: Actor, access: Access, project: Project, params: CreateDeployment
) -> Deployment:
    """Record a deployment made outside of our jobs; creates its environment if it does not exist.

    Raise Denied if the environment is protected from the user.
    """
    errors: dict[str, list[str]] = {}
    if not _SHA.fullmatch(params.sha):
        errors["sha"] = ["is invalid"]
    if not params.ref.strip():
        errors["ref"] = ["can't be blank"]
    elif len(params.ref) > MAX_LENGTH:
        errors["ref"] = [too_long_message(MAX_LENGTH)]
    if errors:
        raise Invalid(**errors)
    environment = find_or_create_environment(db, project, CreateEnvironment(params.environment))
    require_may_deploy_to(db, actor, access, project, environment.name)
    deployment_id = db.insert(
        deployments,
        iid=next_iid(db, project),
        project_id=project.id,
        environment_id=environment.id,
        user_id=actor.user_id,
        sha=params.sha.lower(),
        ref=params.ref,
        tag=params.tag,
        created_at=db.now,
        **_status_columns(db, params.status),
    )
    if params.status == "success":
        _set_state(db, environment, "available")
        emit(db, DeploymentSucceeded(project.id, deployment_id))
    return find_deployment(db, project, deployment_id)


def edit_deployment(db: Connection, project: Project, deployment: Deployment, status: Status) -> Deployment:
    """Change the status of a deployment; raise Invalid if a finished deployment would run again."""
    if status == deployment.status:
        return deployment
    if status == "running":
        raise Invalid(status=[f"cannot become running after {deployment.status}"])
    db.update(deployments, deployment.id, **_status_columns(db, status))
    if status == "success":
        _set_state(db, find_environment(db, project, deployment.environment_id), "available")
        emit(db, DeploymentSucceeded(project.id, deployment.id))
    return find_deployment(db, project, deployment.id)


def delete_deployment(db: Connection, project: Project, deployment: Deployment) -> None:
    """Delete a deployment; raise Invalid if it runs or is the one that its environment shows."""
    if deployment.status == "running":
        raise Invalid("Cannot destroy running deployment")
    last = last_deployment_or_none(db, project, find_environment(db, project, deployment.environment_id))
    if last is not None and last.id == deployment.id:
        raise Invalid("Deployment currently deployed to environment")
    db.delete(deployments, deployment.id)


def tier_of(name: str) -> Tier:
    """Return the deployment tier that GitLab infers from an environment's name."""
    return next((tier for tier, words in _TIERS if words.search(name)), "other")


def slug_of(name: str) -> str:
    """Return a DNS label for a name: lowercase letters, digits and single dashes, at most 24 characters.

    The slug starts with a letter. If it differs from the name, a random suffix makes it unique.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())
    if not slug[:1].isalpha():
        slug = "env-" + slug.removeprefix("-")
    slug = slug[:MAX_SLUG_LENGTH].rstrip("-")
    if slug == name:
        return slug
    suffix = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(SLUG_SUFFIX_LENGTH))
    return f"{slug[: MAX_SLUG_LENGTH - SLUG_SUFFIX_LENGTH - 1].rstrip('-')}-{suffix}"


def _free_slug(db: Connection, project: Project, name: str) -> str:
    slug = slug_of(name)
    while environment_by_slug_or_none(db, project, slug) is not None:
        # A name may equal the slug of another environment; the added space forces a random suffix.
        slug = slug_of(f"{slug} ")
    return slug


def _reject_slug(slug: Any) -> None:
    if slug is not UNSET:
        raise Invalid(slug=["is derived from the name and cannot be set"])


def _validate(db: Connection, project: Project, name: str, url: str | None, edited: Environment | None) -> None:
    errors: dict[str, list[str]] = {}
    if not name.strip():
        errors["name"] = ["can't be blank"]
    elif len(name) > MAX_LENGTH:
        errors["name"] = [too_long_message(MAX_LENGTH)]
    elif not _NAME.fullmatch(name):
        errors["name"] = ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces"]
    elif _is_taken(environment_by_name_or_none(db, project, name), edited):
        errors["name"] = ["has already been taken"]
    if url is not None:
        if len(url) > MAX_LENGTH:
            errors["external_url"] = [too_long_message(MAX_LENGTH)]
        elif _has_unsafe_scheme(url):
            errors["external_url"] = ["must be a valid URL"]
        elif _is_taken(environment_by_url_or_none(db, project, url), edited):
            errors["external_url"] = ["has already been taken"]
    if errors:
        raise Invalid(**errors)


def _is_taken(existing: Environment | None, edited: Environment | None) -> bool:
    return existing is not None and (edited is None or existing.id != edited.id)


def _has_unsafe_scheme(url: str) -> bool:
    """Check whether a browser would execute a URL; browsers ignore control characters and spaces in a scheme."""
    scheme = "".join(sign for sign in url.partition(":")[0] if sign > " ").lower()
    return scheme in _UNSAFE_SCHEMES


def is_link_target(url: str) -> bool:
    """Check whether pages may link to a URL; other schemes are refused because some execute scripts."""
    if not _URL.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ALLOWED_SCHEMES and bool(parts.hostname)
    except ValueError:
        return False


def _set_state(db: Connection, environment: Environment, state: str) -> None:
    if environment.state != state:
        ended = "auto_stop_at" if state == "stopped" else "auto_delete_at"
        db.update(environments, environment.id, state=state, updated_at=db.now, **{ended: None})


def _status_columns(db: Connection, status: Status) -> dict[str, Any]:
    return {"status": status, "updated_at": db.now, "finished_at": None if status == "running" else db.now}
