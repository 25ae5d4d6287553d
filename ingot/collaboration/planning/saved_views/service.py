"""Reading and state changes of saved views; only their owner sees and changes them."""

from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import bindparam, select

from ingot.collaboration.planning.saved_views.tables import SavedView, saved_views
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound, too_long_message

ListKind = Literal["issues", "merge_requests"]
MAX_VIEWS = 50
"""Views of one user and list."""
MAX_NAME_LENGTH = 60
MAX_QUERY_LENGTH = 2_000
_NAMES = frozenset(
    {
        "assignee_username",
        "author_username",
        "confidential",
        "due_date",
        "label_name[]",
        "milestone_title",
        "scope",
        "search",
        "sort",
        "source_branch",
        "state",
        "target_branch",
    }
)
_OF_LIST = (
    select(saved_views)
    .where(
        saved_views.c.user_id == bindparam("user"),
        saved_views.c.list_kind == bindparam("kind"),
        saved_views.c.project_id.is_not_distinct_from(bindparam("project", type_=saved_views.c.project_id.type)),
        saved_views.c.group_id.is_not_distinct_from(bindparam("group", type_=saved_views.c.group_id.type)),
    )
    .order_by(saved_views.c.name, saved_views.c.id)
)


class ViewedList(NamedTuple):
    """A list of a project, of a group, or of the dashboard if neither is set, as a user sees it."""

    user_id: int
    kind: ListKind
    project_id: int | None
    group_id: int | None


def list_saved_views(db: Connection, of: ViewedList) -> list[SavedView]:
    """Return the views of a user and list by name."""
    return db.all(SavedView, _OF_LIST, user=of.user_id, kind=of.kind, project=of.project_id, group=of.group_id)


def saved_query(query: str) -> str:
    """Return the filters of a query in a fixed order, without the page and whatever is no filter."""
    pairs = parse_qsl(query.removeprefix("?"))
    return urlencode(sorted((name, value) for name, value in pairs if name in _NAMES and "\0" not in value))


def save_view(db: Connection, of: ViewedList, name: str, query: str) -> SavedView:
    """Save a filter under a name; it replaces the filter that has this name already."""
    name, query = _valid_name(name), saved_query(query)
    if len(query) > MAX_QUERY_LENGTH:
        raise Invalid(query=[too_long_message(MAX_QUERY_LENGTH)])
    db.lock(f"saved views of {of.user_id}")
    views = list_saved_views(db, of)
    same = next((view for view in views if view.name == name), None)
    if same is not None:
        db.update(saved_views, same.id, query=query)
        return _found(db, of, same.id)
    if len(views) >= MAX_VIEWS:
        raise Invalid(f"A list can have at most {MAX_VIEWS} saved views")
    columns = {"user_id": of.user_id, "list_kind": of.kind, "project_id": of.project_id, "group_id": of.group_id}
    return _found(db, of, db.insert(saved_views, **columns, name=name, query=query, created_at=db.now))


def rename_view(db: Connection, of: ViewedList, view_id: int, name: str) -> None:
    """Rename a view; raise NotFound if the list has none with this id, and Invalid if the name is taken."""
    name = _valid_name(name)
    db.lock(f"saved views of {of.user_id}")
    view = _found(db, of, view_id)
    if any(other.name == name and other.id != view.id for other in list_saved_views(db, of)):
        raise Invalid(name=["has already been taken"])
    db.update(saved_views, view.id, name=name)


def delete_view(db: Connection, of: ViewedList, view_id: int) -> None:
    """Delete a view; raise NotFound if the list has none with this id."""
    db.delete(saved_views, _found(db, of, view_id).id)


def _found(db: Connection, of: ViewedList, view_id: int) -> SavedView:
    view = next((view for view in list_saved_views(db, of) if view.id == view_id), None)
    if view is None:
        raise NotFound("Saved view")
    return view


def _valid_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise Invalid(name=["can't be blank"])
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])
    return name
