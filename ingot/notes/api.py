"""Comments on commits over the API."""

from ingot.api.routes import Call, Routes, Stage
from ingot.db.paging import Listing, Page
from ingot.notes import policy, queries, work
from ingot.notes.params import PostComment
from ingot.notes.views import CommentView, comment_views
from ingot.repository.commits.queries import find_commit
from ingot.repository.place import Place, may_read_code, place_in_path

routes = Routes("notes")


@routes.get(
    "/projects/:id/repository/commits/:sha/comments", on=place_in_path, may=may_read_code, returns=list[CommentView]
)
def list_comments(call: Call, place: Place, page: Page) -> Listing[CommentView]:
    """List the comments on a commit."""
    commit = find_commit(place.repository, call.path["sha"])
    found = queries.list_comments(call.db, place.project.id, commit.oid, page)
    return found.of(comment_views(call.db, found.items, call.origin.base))


@routes.post(
    "/projects/:id/repository/commits/:sha/comments",
    on=place_in_path,
    may=policy.may_comment_on_code,
    returns=CommentView,
    staged=True,
)
def post_comment(stage: Stage, place: Place, params: PostComment) -> CommentView:
    """Comment on a commit, or on a line that it changed."""
    return work.post_comment(stage.database, stage.actor, place, stage.path["sha"], params, stage.origin.base)
