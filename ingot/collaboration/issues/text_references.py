"""Issues that a text refers to; ``closing`` closes those that it says are done."""

from collections.abc import Iterable

from ingot.collaboration.issues.policy import IssueLookup
from ingot.collaboration.issues.queries import visible_issues_by_iid
from ingot.collaboration.planning.references import MAX_REFERENCES, referenced_iids
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference


def referenced_issues(
    db: Connection, actor: Actor, own: str, references: Iterable[Reference], most: int = MAX_REFERENCES
) -> list[IssueLookup]:
    """Return each issue once that references in a text of the project ``own`` lead to and the actor may see."""
    named = referenced_iids(db, actor, own, references, "issue", most)
    found = visible_issues_by_iid(db, actor, named.scopes, named.iids)
    return [found[key] for key in named.iids if key in found]
