"""Summaries of runners for lists, with a fixed number of statements for a whole page."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from ingot.ci.runners import policy
from ingot.ci.runners.queries import tags_of_runner
from ingot.ci.runners.tables import Runner, runner_projects, runners
from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.projects.namespaces.policy import groups_of_actor
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.policy import projects_of_actor

_BY_IDS = select(runners).where(in_list(runners.c.id, "ids"))
_PROJECT_COUNTS = (
    select(runner_projects.c.runner_id, func.count())
    .where(in_list(runner_projects.c.runner_id, "ids"))
    .group_by(runner_projects.c.runner_id)
)
_MAINTAINED = select(runner_projects.c.runner_id).where(
    in_list(runner_projects.c.runner_id, "ids"),
    runner_projects.c.project_id.in_(projects_of_actor(Level.MASTER).scalar_subquery()),
)
_GROUPS = select(namespaces.c.id).where(
    in_list(namespaces.c.id, "groups"), namespaces.c.id.in_(groups_of_actor(bindparam("least")).scalar_subquery())
)


class RunnerSummary(NamedTuple):
    """Details of a runner that a list shows."""

    tags: list[str]
    locked: bool
    version: str | None
    contacted_at: Timestamp | None
    project_count: int
    may_see: bool
    may_edit: bool


def runner_summaries(db: Connection, actor: Actor, runner_ids: Iterable[int]) -> dict[int, RunnerSummary]:
    """Return the summaries of runners by id."""
    ids = sorted(set(runner_ids))
    if not ids:
        return {}
    found = db.all(Runner, _BY_IDS, ids=ids)
    counts: dict[int, int] = dict(db.rows(_PROJECT_COUNTS, ids=ids))
    access = _access_by_runner(db, actor, found)
    return {
        runner.id: RunnerSummary(
            tags_of_runner(runner),
            runner.locked,
            runner.version,
            runner.contacted_at,
            counts.get(runner.id, 0),
            policy.may_see_runner(actor, access.get(runner.id, NO_ACCESS), runner),
            policy.may_change_runner(actor, access.get(runner.id, NO_ACCESS), runner),
        )
        for runner in found
    }


def _access_by_runner(db: Connection, actor: Actor, found: list[Runner]) -> dict[int, Access]:
    """Return the caller's access to runners, as ``find_runner`` determines it for one."""
    if not actor.known:
        return {}
    caller = {"actor": actor.user_id, "today": db.today}
    maintained = db.rows(_MAINTAINED, ids=[runner.id for runner in found], **caller)
    access = {runner_id: Access(level=Level.MASTER) for (runner_id,) in maintained}
    groups = sorted({runner.group_id for runner in found if runner.group_id is not None})
    for level in (Level.MASTER, Level.OWNER):
        own = {group_id for (group_id,) in db.rows(_GROUPS, groups=groups, least=int(level), **caller)}
        access |= {runner.id: Access(level=level) for runner in found if runner.group_id in own}
    return access
