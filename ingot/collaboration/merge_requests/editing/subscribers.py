"""Subscribers of merge requests to changes of labels, milestones, projects and users."""

from sqlalchemy import bindparam, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.merge_requests.editing.service import remove_merge_request_relations
from ingot.collaboration.merge_requests.review_states import settle_change_requests_of
from ingot.collaboration.merge_requests.tables import MERGE_REQUEST_COLUMNS, MergeRequest, merge_requests
from ingot.collaboration.milestones.events import MilestonesMerging
from ingot.collaboration.planning.milestones import MilestoneReferences
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespaceMoved
from ingot.projects.projects.events import ProjectMoved

subscriptions = Subscriptions()
_MILESTONES = MilestoneReferences(merge_requests, merge_requests.c.target_project_id)
_OF_USER = merge_requests.c.author_id == bindparam("user")
_REASSIGN = update(merge_requests).where(_OF_USER).values(author_id=bindparam("placeholder"))
_WRITTEN = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(_OF_USER, merge_requests.c.deleted_at.is_(None))
    .order_by(merge_requests.c.target_project_id, merge_requests.c.id)
)


@subscriptions.on(MilestonesMerging)
def merge_milestones(db: Connection, event: MilestonesMerging) -> None:
    """Change references to merged milestones into references to the remaining one."""
    _MILESTONES.merge(db, event.milestone_ids, event.into_id)


@subscriptions.on(ProjectMoved)
def replace_milestones_of_project(db: Connection, event: ProjectMoved) -> None:
    """Replace milestones of groups that a moved project no longer belongs to."""
    _MILESTONES.replace_in_project(db, event.project_id)


@subscriptions.on(NamespaceMoved)
def replace_milestones_of_namespace(db: Connection, event: NamespaceMoved) -> None:
    """Replace milestones of groups that the projects of a moved namespace no longer belong to."""
    _MILESTONES.replace_in_namespace(db, event.namespace_id)


@subscriptions.on(UserDeleting)
def reassign_merge_requests(db: Connection, event: UserDeleting) -> None:
    """Reassign the user's merge requests to the placeholder user, or remove their relations for a hard deletion."""
    settle_change_requests_of(db, event.user_id)
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
        return
    for merge_request in db.all(MergeRequest, _WRITTEN, user=event.user_id):
        remove_merge_request_relations(db, merge_request)
