"""Issues as a kind of subject, for packages that serve several kinds."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, exists, select

from ingot.collaboration.issues import policy
from ingot.collaboration.issues.queries import assignees_of_issue, issue_by_id
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.issues.views import IssueView, issue_views
from ingot.collaboration.participants.queries import effective_subscriptions
from ingot.collaboration.participants.subject_kinds import Audience, SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.projects.feature_access import feature_level, is_open_to_all
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.projects.sharing.queries import users_with_access

_BY_IDS = select(*ISSUE_COLUMNS).where(in_list(issues.c.id, "issues"), issues.c.deleted_at.is_(None))
_EXISTING = projects.c.issues_enabled.is_(True) & projects.c.namespace_id.is_not(None)


def _visible(issue_id: ColumnElement[int], audience: Audience) -> ColumnElement[bool]:
    public_issues = (projects.c.visibility == "public") & is_open_to_all("issues")
    if audience == "administrator":
        visible = _EXISTING
    elif audience == "nobody":
        visible = _EXISTING & public_issues & issues.c.confidential.is_(False)
    else:
        visible = _EXISTING & policy.visible_issues(external=audience == "external")
    matching = (issues.c.id == issue_id) & issues.c.deleted_at.is_(None) & (projects.c.id == issues.c.project_id)
    return exists().select_from(issues, projects).where(matching, visible)


def _issues_by_ids(db: Connection, issue_ids: Sequence[int]) -> list[Issue]:
    return db.all(Issue, _BY_IDS, issues=list(issue_ids))


def _subjects(db: Connection, issue_ids: Sequence[int]) -> dict[int, Subject]:
    return {issue.id: subject_of(issue) for issue in _issues_by_ids(db, issue_ids)}


def _views(db: Connection, actor: Actor, issue_ids: Sequence[int], base: str) -> Mapping[int, IssueView]:
    views = {view.id: view for view in issue_views(db, actor, _issues_by_ids(db, issue_ids), base)}
    involved = {view.id: {view.author.id, *(user.id for user in view.assignees)} for view in views.values()}
    for issue_id, subscribed in effective_subscriptions(db, actor.user_id, "issue", involved).items():
        views[issue_id].subscribed = subscribed
    return views


def _readers(db: Connection, subject: Subject, user_ids: Collection[int], internal: bool) -> set[int]:
    project = project_or_none(db, subject.project_id or 0)
    if project is None or not project.issues_enabled:
        return set()
    least = Level.GUEST if feature_level(project, "issues") == "private" else Level.NONE
    levels = {user: level for user, level in users_with_access(db, project, user_ids).items() if level >= least}
    if not subject.confidential and not internal:
        return set(levels)
    involved = {subject.author_id, *_assignees(db, subject)}
    return {user_id for user_id, level in levels.items() if level >= Level.REPORTER or user_id in involved}


def _assignees(db: Connection, subject: Subject) -> Sequence[int]:
    return assignees_of_issue(db, subject.id or 0)


def _text(db: Connection, subject: Subject) -> str:
    return issue_by_id(db, subject.id or 0).description or ""


ISSUE_KIND = SubjectKind(
    kind="issue",
    type_name="Issue",
    path="issues",
    sign="#",
    noun="issue",
    visible=_visible,
    subjects=_subjects,
    views=_views,
    readers=_readers,
    assignees=_assignees,
    text=_text,
)
