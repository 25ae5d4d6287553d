"""Merge requests as a kind of subject, for packages that serve several kinds."""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import astuple
from sqlalchemy import ColumnElement, exists, select

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.queries import (
    assignees_and_reviewers,
    merge_request_by_id,
    target_project_summaries,
)
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS, MergeRequest, merge_requests
from ingot.collaboration.merge_requests.views import MergeRequestView, SubscribedMergeRequestView, merge_request_views
from ingot.collaboration.participants.queries import effective_subscriptions
from ingot.collaboration.participants.subject_kinds import Audience, SubjectKind
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.projects.feature_access import feature_level, is_open_to_all
from ingot.projects.projects.policy import has_code, has_open_code
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import projects
from ingot.projects.sharing.queries import users_with_access

_BY_IDS = select(*MERGE_REQUEST_COLUMNS).where(
    in_list(merge_requests.c.id, "merge_requests"), merge_requests.c.deleted_at.is_(None)
)
_EXISTING = projects.c.merge_requests_enabled.is_(True) & projects.c.namespace_id.is_not(None) & has_code()


def _visible(merge_request_id: ColumnElement[int], audience: Audience) -> ColumnElement[bool]:
    if audience == "administrator":
        visible = _EXISTING
    elif audience == "nobody":
        visible = _EXISTING & (projects.c.visibility == "public") & has_open_code() & is_open_to_all("merge_requests")
    else:
        visible = _EXISTING & policy.visible_merge_requests(external=audience == "external")
    matching = (
        (merge_requests.c.id == merge_request_id)
        & merge_requests.c.deleted_at.is_(None)
        & (projects.c.id == merge_requests.c.target_project_id)
    )
    return exists().select_from(merge_requests, projects).where(matching, visible)


def _merge_requests_by_ids(db: Connection, merge_request_ids: Sequence[int]) -> list[MergeRequest]:
    return db.all(MergeRequest, _BY_IDS, merge_requests=list(merge_request_ids))


def _subjects(db: Connection, merge_request_ids: Sequence[int]) -> dict[int, Subject]:
    return {
        merge_request.id: subject_of(merge_request) for merge_request in _merge_requests_by_ids(db, merge_request_ids)
    }


def _views(db: Connection, actor: Actor, merge_request_ids: Sequence[int], base: str) -> Mapping[int, MergeRequestView]:
    page = _merge_requests_by_ids(db, merge_request_ids)
    # The mergeability would need git, which subjects do not read.
    views = {view.id: view for view in merge_request_views(db, page, base, target_project_summaries(db, page), {})}
    involved = {view.id: {view.author.id, *(user.id for user in view.assignees)} for view in views.values()}
    return {
        merge_request_id: SubscribedMergeRequestView(*astuple(views[merge_request_id]), subscribed=subscribed)
        for merge_request_id, subscribed in effective_subscriptions(
            db, actor.user_id, "merge_request", involved
        ).items()
    }


def _readers(db: Connection, subject: Subject, user_ids: Collection[int], internal: bool) -> set[int]:
    project = project_or_none(db, subject.project_id or 0)
    if project is None or not project.merge_requests_enabled or project.repository_access_level == "disabled":
        return set()
    levels = users_with_access(db, project, user_ids)
    open_code = project.visibility != "private" and project.repository_access_level == "enabled"
    if open_code and feature_level(project, "merge_requests") == "enabled" and not internal:
        return set(levels)
    return {user_id for user_id, level in levels.items() if level >= Level.REPORTER}


def _assignees(db: Connection, subject: Subject) -> Sequence[int]:
    return assignees_and_reviewers(db, subject.id or 0)[0]


def _text(db: Connection, subject: Subject) -> str:
    return merge_request_by_id(db, subject.id or 0).description or ""


MERGE_REQUEST_KIND = SubjectKind(
    kind="merge_request",
    type_name="MergeRequest",
    path="merge_requests",
    sign="!",
    noun="merge request",
    visible=_visible,
    subjects=_subjects,
    views=_views,
    readers=_readers,
    assignees=_assignees,
    text=_text,
)
