"""Which issues a text names, for whom; what such a text closes is closed in ``closing``."""

from collections.abc import Iterable
from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.issues.policy import Found, Place
from ingot.issues.queries import seen_issues
from ingot.markup.references import Kind, Reference, full_project_path
from ingot.projects.queries import seen_by_paths
from ingot.users.accounts.queries import users_by_ids

MOST_NAMED = 50
"""So many issues of one text hear of it, and as many of another kind; the rest is a list for readers."""


class Named(NamedTuple):
    """Projects that a text names and somebody may see, and the numbers within them, each once."""

    places: list[Place]
    numbers: list[tuple[int, int]]
    """The project's row, and the number of something in it."""


def named_numbers(
    db: Connection, actor: Actor, own: str, references: Iterable[Reference], kind: Kind, most: int = MOST_NAMED
) -> Named:
    """Where references of a kind lead in a text of the project ``own``; whether it is there is for its room to say."""
    wanted: dict[tuple[str, int], None] = {}
    for one in references:
        if one.kind == kind and one.number is not None and len(wanted) < most:
            wanted[full_project_path(one, own).lower(), one.number] = None
    seen = seen_by_paths(db, actor, {path for path, _ in wanted}) if wanted else {}
    numbers = [(seen[path].project.id, iid) for path, iid in wanted if path in seen]
    return Named([Place(one.here, one.project) for one in seen.values()], numbers)


def named_issues(
    db: Connection, actor: Actor, own: str, references: Iterable[Reference], most: int = MOST_NAMED
) -> list[Found]:
    """The issues that references in a text of the project ``own`` lead to, as far as somebody sees them; each once."""
    named = named_numbers(db, actor, own, references, "issue", most)
    found = seen_issues(db, actor, named.places, named.numbers)
    return [found[key] for key in named.numbers if key in found]


def acting(db: Connection, user_id: int) -> Actor | None:
    """Somebody as who acts long after they called, with what they hold now; nobody who may not act any more."""
    user = users_by_ids(db, [user_id]).get(user_id)
    if user is None or user.state != "active":
        return None
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
