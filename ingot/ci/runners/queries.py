"""Queries of runners."""

from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, or_, select

from ingot.ci.runners import policy
from ingot.ci.runners.params import ListOwnRunners, ListRunners
from ingot.ci.runners.tables import (
    RegistrationToken,
    Runner,
    RunnerManager,
    registration_tokens,
    runner_managers,
    runner_projects,
    runners,
)
from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.search import text_scan
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid, NotFound
from ingot.projects.namespaces.policy import groups_of_actor
from ingot.projects.namespaces.tables import Namespace, namespace_tree, namespaces
from ingot.projects.projects.filters import PROJECTS
from ingot.projects.projects.policy import projects_of_actor
from ingot.projects.projects.tables import Project, projects

ONLINE_HOURS = 2
"""Time without contact after which a runner is offline; contacts are stored at most every ten minutes."""
STALE_DAYS = 7
MAX_FILTERED_TAGS = 20

_BY_ID = select(runners).where(runners.c.id == bindparam("runner"))
_BY_TOKEN = select(runners).where(runners.c.token_digest == bindparam("digest"))
_PROJECTS = (
    PROJECTS.join(runner_projects, runner_projects.c.project_id == projects.c.id)
    .where(runner_projects.c.runner_id == bindparam("runner"), projects.c.namespace_id.is_not(None))
    .order_by(runner_projects.c.id)
)
_PROJECTS_OF_ACTOR = _PROJECTS.where(projects.c.id.in_(projects_of_actor().scalar_subquery()))
_GROUP = select(namespaces).where(namespaces.c.id == bindparam("group"))
_IS_GROUP = select(namespaces.c.id).where(namespaces.c.id == bindparam("group"), namespaces.c.kind == "group")
_LINK = select(runner_projects.c.id).where(
    runner_projects.c.runner_id == bindparam("runner"), runner_projects.c.project_id == bindparam("project")
)
_COUNT_PROJECTS = (
    select(func.count())
    .select_from(runner_projects.join(projects, projects.c.id == runner_projects.c.project_id))
    .where(runner_projects.c.runner_id == bindparam("runner"), projects.c.namespace_id.is_not(None))
)
_MAINTAINS_PROJECT = (
    select(runner_projects.c.id)
    .where(
        runner_projects.c.runner_id == bindparam("runner"),
        runner_projects.c.project_id.in_(projects_of_actor(Level.MASTER).scalar_subquery()),
    )
    .limit(1)
)
_GROUP_OF_ACTOR = (
    select(namespaces.c.id)
    .where(
        namespaces.c.id == bindparam("group"),
        namespaces.c.id.in_(groups_of_actor(bindparam("least")).scalar_subquery()),
    )
    .limit(1)
)
_MANAGERS = (
    select(runner_managers).where(runner_managers.c.runner_id == bindparam("runner")).order_by(runner_managers.c.id)
)
_MANAGER = _MANAGERS.where(runner_managers.c.system_id == bindparam("system_id"))
_TOKEN_OF = select(registration_tokens).where(registration_tokens.c.place == bindparam("place"))
_TOKEN_BY_DIGEST = select(registration_tokens).where(registration_tokens.c.token_digest == bindparam("digest"))
# Projects whose token has not been entered among the registration tokens.
_UNLISTED_TOKENS = (
    select(projects.c.id, projects.c.runners_token)
    .where(projects.c.namespace_id.is_not(None), ~exists().where(registration_tokens.c.project_id == projects.c.id))
    .order_by(projects.c.id)
    .limit(bindparam("count"))
)


def runner_or_none(db: Connection, runner_id: int) -> Runner | None:
    """Return a runner, if it exists."""
    return db.first(Runner, _BY_ID, runner=runner_id)


def runner_by_token(db: Connection, token: str) -> Runner | None:
    """Return the runner that authenticates with this token, unless the token has expired."""
    runner = db.first(Runner, _BY_TOKEN, digest=db.vault.digest(token))
    if runner is None or (runner.token_expires_at is not None and runner.token_expires_at <= db.now):
        return None
    return runner


def find_runner(db: Connection, actor: Actor, runner_id: int) -> tuple[Access, Runner]:
    """Return a visible runner and the caller's access to its project or group; raise NotFound otherwise."""
    runner = runner_or_none(db, runner_id)
    if runner is None:
        raise NotFound("Runner")
    access = _runner_access(db, actor, runner)
    if not policy.may_see_runner(actor, access, runner):
        raise NotFound("Runner")
    return access, runner


def _runner_access(db: Connection, actor: Actor, runner: Runner) -> Access:
    """Return the highest level that the permissions distinguish: owner or maintainer, or none."""
    if not actor.known or runner.runner_type == "instance_type":
        return NO_ACCESS
    caller = {"actor": actor.user_id, "today": db.today}
    if runner.runner_type == "project_type":
        maintains = db.value(_MAINTAINS_PROJECT, runner=runner.id, **caller) is not None
        return Access(level=Level.MASTER) if maintains else NO_ACCESS
    for level in (Level.OWNER, Level.MASTER):
        if db.value(_GROUP_OF_ACTOR, group=runner.group_id, least=int(level), **caller) is not None:
            return Access(level=level)
    return NO_ACCESS


def tags_of_runner(runner: Runner) -> list[str]:
    """Return the tags of a runner."""
    return msgspec.json.decode(runner.tags, type=list[str])


def projects_of_runner(db: Connection, actor: Actor, runner: Runner) -> list[Project]:
    """Return the projects of a runner of which the caller is a member; all of them for administrators."""
    if runner.runner_type != "project_type":
        return []
    if actor.admin:
        return db.all(Project, _PROJECTS, runner=runner.id)
    return db.all(Project, _PROJECTS_OF_ACTOR, runner=runner.id, actor=actor.user_id, today=db.today)


def count_runner_projects(db: Connection, runner: Runner) -> int:
    """Return the number of projects that a runner is assigned to."""
    count: int = db.value(_COUNT_PROJECTS, runner=runner.id)
    return count


def group_of_runner(db: Connection, runner: Runner) -> Namespace | None:
    """Return the group of a group runner."""
    return None if runner.group_id is None else db.first(Namespace, _GROUP, group=runner.group_id)


def is_group(db: Connection, group_id: int) -> bool:
    """Return whether a group with this id exists."""
    return db.value(_IS_GROUP, group=group_id) is not None


def runner_project_or_none(db: Connection, runner_id: int, project_id: int) -> int | None:
    """Return the id of the assignment of a runner to a project."""
    link: int | None = db.value(_LINK, runner=runner_id, project=project_id)
    return link


def list_managers(db: Connection, runner: Runner) -> list[RunnerManager]:
    """Return the machines of a runner, the first one first."""
    return db.all(RunnerManager, _MANAGERS, runner=runner.id)


def manager_or_none(db: Connection, runner_id: int, system_id: str) -> RunnerManager | None:
    """Return a machine of a runner."""
    return db.first(RunnerManager, _MANAGER, runner=runner_id, system_id=system_id)


def registration_token_of(db: Connection, place: str) -> RegistrationToken | None:
    """Return the stored registration token of an owner, such as "project 1"."""
    return db.first(RegistrationToken, _TOKEN_OF, place=place)


def registration_token_by_digest(db: Connection, digest: bytes) -> RegistrationToken | None:
    """Return the stored registration token with this digest."""
    return db.first(RegistrationToken, _TOKEN_BY_DIGEST, digest=digest)


def unlisted_project_tokens(db: Connection, count: int) -> list[tuple[int, bytes]]:
    """Return encrypted tokens of at most ``count`` projects that are not among the registration tokens."""
    return [(project_id, bytes(sealed)) for project_id, sealed in db.rows(_UNLISTED_TOKENS, count=count)]


_contacted = runners.c.contacted_at
_IN_ANCESTORS = runners.c.group_id.in_(
    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
)
_IN_PROJECT = runners.c.id.in_(
    select(runner_projects.c.runner_id).where(runner_projects.c.project_id == bindparam("project"))
)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "owned": or_(
        runners.c.id.in_(
            select(runner_projects.c.runner_id).where(
                runner_projects.c.project_id.in_(projects_of_actor(Level.MASTER).scalar_subquery())
            )
        ),
        runners.c.group_id.in_(groups_of_actor(Level.OWNER).scalar_subquery()),
    ),
    "project": or_(_IN_PROJECT, _IN_ANCESTORS),
    "project_with_shared": or_(_IN_PROJECT, _IN_ANCESTORS, runners.c.runner_type == "instance_type"),
    "group": or_(_IN_ANCESTORS, runners.c.runner_type == "instance_type"),
    "instance_type": runners.c.runner_type == "instance_type",
    "group_type": runners.c.runner_type == "group_type",
    "project_type": runners.c.runner_type == "project_type",
    "shared": runners.c.runner_type == "instance_type",
    "specific": runners.c.runner_type != "instance_type",
    "active": runners.c.active,
    "paused": ~runners.c.active,
    "online": _contacted > bindparam("online_since"),
    "offline": _contacted <= bindparam("online_since"),
    "stale": and_(
        runners.c.created_at <= bindparam("stale_since"),
        or_(_contacted.is_(None), _contacted <= bindparam("stale_since")),
    ),
    "never_contacted": _contacted.is_(None),
    "version_prefix": func.substr(runners.c.version, 1, func.length(bindparam("prefix"))) == bindparam("prefix"),
}


@lru_cache(maxsize=128)
def _list_query(filters: frozenset[str], tag_count: int) -> ListQuery:
    tags = [text_scan(f"tag_{number}", runners.c.tags) for number in range(tag_count)]
    matching: Select[Any] = select(runners).where(*(_CONDITIONS[name] for name in sorted(filters)), *tags)
    return list_query(matching, runners.c.id, runners.c.id.asc())


def list_runners(
    db: Connection, source: set[str], params: ListRunners | ListOwnRunners, page: Page, **values: Any
) -> Listing[Runner]:
    """List the runners of a source, a set of conditions on the values, that match the filters."""
    filters = source | {word for word in (params.scope, params.type, params.status) if word}
    if params.paused is not None:
        filters.add("paused" if params.paused else "active")
    if params.version_prefix:
        filters.add("version_prefix")
        values["prefix"] = params.version_prefix
    tags = params.tag_list or []
    if len(tags) > MAX_FILTERED_TAGS:
        raise Invalid(tag_list=["is invalid"])
    values |= {f"tag_{number}": msgspec.json.encode(tag).decode() for number, tag in enumerate(tags)}
    if filters & {"online", "offline"}:
        values["online_since"] = online_since(db.now)
    if "stale" in filters:
        values["stale_since"] = stale_since(db.now)
    return fetch_page(db, Runner, _list_query(frozenset(filters), len(tags)), page, **values)


def list_own_runners(db: Connection, actor: Actor, params: ListOwnRunners, page: Page) -> Listing[Runner]:
    """List the runners of projects that the caller maintains and of groups that the caller owns."""
    return list_runners(db, {"owned"}, params, page, actor=actor.user_id, today=db.today)


def list_all_runners(db: Connection, params: ListRunners, page: Page) -> Listing[Runner]:
    """List the runners of the instance, of all groups and of all projects."""
    return list_runners(db, set(), params, page)


def list_project_runners(db: Connection, project: Project, params: ListRunners, page: Page) -> Listing[Runner]:
    """List the runners that may execute jobs of a project."""
    source = {"project_with_shared" if project.shared_runners_enabled else "project"}
    return list_runners(db, source, params, page, project=project.id, namespace=project.namespace_id)


def list_group_runners(db: Connection, group: Namespace, params: ListRunners, page: Page) -> Listing[Runner]:
    """List the runners that projects of a group may use."""
    return list_runners(db, {"group"}, params, page, namespace=group.id)


def online_since(now: Timestamp) -> Timestamp:
    """Return the time since which a runner must have been in contact to be online."""
    return add_duration(now, hours=-ONLINE_HOURS)


def stale_since(now: Timestamp) -> Timestamp:
    """Return the time since which a runner must have been in contact not to be stale."""
    return add_duration(now, days=-STALE_DAYS)
