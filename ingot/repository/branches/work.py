"""Making and deleting branches, outside of transactions."""

from ingot.access.actor import Actor
from ingot.db.database import Database
from ingot.errors import Conflict, Denied, Invalid
from ingot.git.commits import NO_OID, branch_tip, commit_id
from ingot.git.merged import merged_into
from ingot.git.names import ref_trouble
from ingot.git.refs import HEADS
from ingot.git.sorted_refs import NamedRef, sorted_refs
from ingot.git.updating import RefUpdate
from ingot.repository.changes.policy import KEPT_DEFAULT
from ingot.repository.changes.work import change_refs
from ingot.repository.place import Place
from ingot.repository.protection import policy as protection
from ingot.repository.protection.queries import branch_rules

_AT_ONCE = 500
"""Branches that are deleted in one change."""


def create_branch(database: Database, actor: Actor, place: Place, name: str, ref: str) -> NamedRef:
    """Add a branch at another branch, a tag or a commit."""
    if ref_trouble(name) is not None:
        raise Invalid("Branch name is invalid")
    if branch_tip(place.repository, name) is not None:
        raise Invalid("Branch already exists")
    start = commit_id(place.repository, ref)
    if start is None:
        raise Invalid("Invalid reference name")
    update = RefUpdate(f"refs/heads/{name}", NO_OID, start)
    try:
        change_refs(database, place.repository, actor, place.project, [update])
    except Conflict:
        raise Invalid("Branch already exists") from None
    return NamedRef(name.encode(), start)


def delete_branch(database: Database, actor: Actor, place: Place, name: str) -> None:
    """Remove a branch; one that is gone already is no error."""
    tip = branch_tip(place.repository, name)
    if tip is None:
        return
    if name == place.project.default_branch:
        raise Invalid(KEPT_DEFAULT)
    update = RefUpdate(f"refs/heads/{name}", tip, NO_OID)
    try:
        change_refs(database, place.repository, actor, place.project, [update])
    except Conflict:
        if branch_tip(place.repository, name) is not None:
            raise


def delete_merged_branches(database: Database, actor: Actor, place: Place) -> None:
    """Remove every branch that the default branch contains, but for protected ones; one that moves meanwhile stays."""
    repository, project = place.repository, place.project
    default = branch_tip(repository, project.default_branch)
    if default is None:
        return
    branches = sorted_refs(repository, HEADS, project.generation)
    merged = merged_into(repository, branches, default) - {default}
    rules = database.read(lambda db: branch_rules(db, project.id))
    gone = []
    for branch in branches:
        try:
            name = branch.name.decode()
        except UnicodeDecodeError:  # Nothing could be recorded of it, so it is left to whoever made it.
            continue
        if branch.oid in merged and not protection.branch_rules_on(rules, name):
            gone.append(RefUpdate(f"refs/heads/{name}", branch.oid, NO_OID))
    for start in range(0, len(gone), _AT_ONCE):
        _delete_those_left(database, actor, place, gone[start : start + _AT_ONCE])


def _delete_those_left(database: Database, actor: Actor, place: Place, updates: list[RefUpdate]) -> None:
    """Delete branches all at once, and one by one where somebody was at one of them."""
    try:
        change_refs(database, place.repository, actor, place.project, updates)
    except (Conflict, Denied):
        if len(updates) > 1:
            for update in updates:
                _delete_those_left(database, actor, place, [update])
