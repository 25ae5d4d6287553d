"""Creation and deletion of tags, outside of transactions."""

from functools import partial

from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Invalid
from ingot.git.core.names import ref_name_error
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.history.commits import NO_OID, commit_id_or_none
from ingot.git.history.tags import tag_or_none, write_tag
from ingot.git.writing.ref_updates import RefUpdate
from ingot.repositories.context import RepositoryContext
from ingot.repositories.ref_changes.apply import change_refs
from ingot.repositories.tags.queries import tagger_signature


class TagExists(Invalid):
    """A tag with this name exists already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Tag {name} already exists")


def create_tag(
    database: Database, actor: Actor, context: RepositoryContext, name: str, ref: str, message: str = ""
) -> NamedRef:
    """Create a tag at a branch, tag or commit; a message makes it an annotated tag with the caller as tagger."""
    repository = context.repository
    if ref_name_error(name) is not None:
        raise Invalid("Tag name invalid")
    target = commit_id_or_none(repository, ref)
    if target is None:
        raise Invalid(f"Target {ref} is invalid")
    if tag_or_none(repository, name) is not None:
        raise TagExists(name)
    if message.strip():
        tagger = database.read(partial(tagger_signature, actor=actor))
        target = write_tag(repository, name, target, message, tagger)
    update = RefUpdate(f"refs/tags/{name}", NO_OID, target)
    try:
        change_refs(database, repository, actor, context.project, [update])
    except Conflict:
        raise TagExists(name) from None
    return NamedRef(name.encode(), target)


def delete_tag(database: Database, actor: Actor, context: RepositoryContext, name: str) -> None:
    """Delete a tag and its release; do nothing if it does not exist."""
    tag = tag_or_none(context.repository, name)
    if tag is not None:
        update = RefUpdate(f"refs/tags/{name}", tag.oid, NO_OID)
        try:
            change_refs(database, context.repository, actor, context.project, [update])
        except Conflict:
            if tag_or_none(context.repository, name) is not None:
                raise
