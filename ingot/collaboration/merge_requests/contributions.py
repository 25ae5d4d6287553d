"""Earlier contributions of the authors of merge requests."""

from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.tables import MergeRequest, merge_requests
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.projects.projects.tables import Project
from ingot.projects.sharing.queries import users_with_access

_MERGED_BY_AUTHOR = (
    select(merge_requests.c.id)
    .where(
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.author_id == bindparam("author"),
        merge_requests.c.state == "merged",
    )
    .limit(1)
)


def is_first_contribution(db: Connection, project: Project, merge_request: MergeRequest) -> bool:
    """Return whether the author is no member above guest, and no merge request of theirs was merged so far."""
    author = merge_request.author_id
    if project.space_owner_id == author or db.value(_MERGED_BY_AUTHOR, project=project.id, author=author) is not None:
        return False
    return users_with_access(db, project, [author]).get(author, Level.NONE) <= Level.GUEST
