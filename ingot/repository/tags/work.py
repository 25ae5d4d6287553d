"""Making and deleting tags, outside of transactions."""

from functools import partial

from ingot.access.actor import Actor
from ingot.db.database import Database
from ingot.errors import Conflict, Invalid
from ingot.git.commits import NO_OID, commit_id
from ingot.git.names import ref_trouble
from ingot.git.sorted_refs import NamedRef
from ingot.git.tagging import tag_or_none, write_tag
from ingot.git.updating import RefUpdate
from ingot.repository.changes.work import change_refs
from ingot.repository.place import Place
from ingot.repository.tags.queries import tagger_of


class TagExists(Invalid):
    """There is a tag of this name already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Tag {name} already exists")


def create_tag(database: Database, actor: Actor, place: Place, name: str, ref: str, message: str = "") -> NamedRef:
    """Add a tag at a branch, another tag or a commit; with a message it is an annotated one, signed by the caller."""
    repository = place.repository
    if ref_trouble(name) is not None:
        raise Invalid("Tag name invalid")
    target = commit_id(repository, ref)
    if target is None:
        raise Invalid(f"Target {ref} is invalid")
    if tag_or_none(repository, name) is not None:
        raise TagExists(name)
    if message.strip():
        tagger = database.read(partial(tagger_of, actor=actor))
        target = write_tag(repository, name, target, message, tagger)
    update = RefUpdate(f"refs/tags/{name}", NO_OID, target)
    try:
        change_refs(database, repository, actor, place.project, [update])
    except Conflict:
        raise TagExists(name) from None
    return NamedRef(name.encode(), target)


def delete_tag(database: Database, actor: Actor, place: Place, name: str) -> None:
    """Remove a tag, and with it what was told about it; one that is gone already is no error."""
    tag = tag_or_none(place.repository, name)
    if tag is not None:
        update = RefUpdate(f"refs/tags/{name}", tag.oid, NO_OID)
        try:
            change_refs(database, place.repository, actor, place.project, [update])
        except Conflict:
            if tag_or_none(place.repository, name) is not None:
                raise
