"""Which issues a text names, for whom; what such a text closes is closed in ``closing``."""

from collections.abc import Iterable
from typing import NamedTuple

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.issues.policy import IssueLookup, IssueProjectLookup
from ingot.collaboration.issues.queries import visible_issues_by_iid
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference, ReferenceKind, full_project_path
from ingot.projects.projects.queries import visible_projects_by_path

MAX_REFERENCED = 50
"""So many issues of one text hear of it, and as many of another kind; the rest is a list for readers."""


class ReferencedNumbers(NamedTuple):
    """Projects that a text names and somebody may see, and the numbers within them, each once."""

    places: list[IssueProjectLookup]
    numbers: list[tuple[int, int]]
    """The project's row, and the number of something in it."""


def referenced_numbers(
    db: Connection,
    actor: Actor,
    own: str,
    references: Iterable[Reference],
    kind: ReferenceKind,
    most: int = MAX_REFERENCED,
) -> ReferencedNumbers:
    """Where references of a kind lead in a text of the project ``own``; whether it is there is for its room to say."""
    wanted: dict[tuple[str, int], None] = {}
    for one in references:
        if one.kind == kind and one.number is not None and len(wanted) < most:
            wanted[full_project_path(one, own).lower(), one.number] = None
    seen = visible_projects_by_path(db, actor, {path for path, _ in wanted}) if wanted else {}
    numbers = [(seen[path].project.id, iid) for path, iid in wanted if path in seen]
    return ReferencedNumbers([IssueProjectLookup(one.here, one.project) for one in seen.values()], numbers)


def referenced_issues(
    db: Connection, actor: Actor, own: str, references: Iterable[Reference], most: int = MAX_REFERENCED
) -> list[IssueLookup]:
    """The issues that references in a text of the project ``own`` lead to, as far as somebody sees them; each once."""
    named = referenced_numbers(db, actor, own, references, "issue", most)
    found = visible_issues_by_iid(db, actor, named.places, named.numbers)
    return [found[key] for key in named.numbers if key in found]


def active_actor_or_none(db: Connection, user_id: int) -> Actor | None:
    """Somebody as who acts long after they called, with what they hold now; nobody who may not act any more."""
    user = users_by_ids(db, [user_id]).get(user_id)
    if user is None or user.state != "active":
        return None
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
