"""Which issues a text names, for whom; what such a text closes is closed in ``closing``."""

from collections.abc import Iterable

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.issues.policy import Found, Place
from ingot.issues.queries import seen_issues
from ingot.markup.references import Reference, full_project_path
from ingot.projects.queries import seen_by_paths
from ingot.users.accounts.queries import users_by_ids

MOST_NAMED = 50
"""So many issues of one text hear of it; the rest is a list for readers."""


def named_issues(
    db: Connection, actor: Actor, own: str, references: Iterable[Reference], most: int = MOST_NAMED
) -> list[Found]:
    """The issues that references in a text of the project ``own`` lead to, as far as somebody sees them; each once."""
    wanted: dict[tuple[str, int], None] = {}
    for one in references:
        if one.kind == "issue" and one.number is not None and len(wanted) < most:
            wanted[full_project_path(one, own).lower(), one.number] = None
    if not wanted:
        return []
    seen = seen_by_paths(db, actor, {path for path, _ in wanted})
    keys = [(seen[path].project.id, iid) for path, iid in wanted if path in seen]
    found = seen_issues(db, actor, [Place(one.here, one.project) for one in seen.values()], keys)
    return [found[key] for key in keys if key in found]


def acting(db: Connection, user_id: int) -> Actor | None:
    """Somebody as who acts long after they called, with what they hold now; nobody who may not act any more."""
    user = users_by_ids(db, [user_id]).get(user_id)
    if user is None or user.state != "active":
        return None
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
