"""Issues that a text refers to."""

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
    """Return the issues that references in a text of the project ``own`` name and the actor may see, each once."""
    targets = referenced_iids(db, actor, own, references, "issue", most)
    lookups = visible_issues_by_iid(db, actor, targets.scopes, targets.iids)
    return [lookups[key] for key in targets.iids if key in lookups]
