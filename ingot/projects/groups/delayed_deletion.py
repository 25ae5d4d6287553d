"""Deletion of groups after a period, in which owners can restore them."""

from sqlalchemy import select

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration, day_of
from ingot.core.errors import Invalid
from ingot.core.events.bus import emit
from ingot.core.jobs.queue import enqueue
from ingot.core.names import NAMESPACES
from ingot.projects.groups.events import GroupDeletionScheduled, GroupRestored
from ingot.projects.groups.params import EditGroup
from ingot.projects.groups.service import delete_group, edit_group
from ingot.projects.namespaces.group_options import edited_group_options, group_options
from ingot.projects.namespaces.group_rules import require_no_deletion_around
from ingot.projects.namespaces.queries import namespace_by_id, namespace_or_none
from ingot.projects.namespaces.scheduled_deletion import (
    DeleteScheduled,
    require_deletion_allowed,
    require_deletion_at_once,
    restored_name,
    scheduled_name,
    suffix_of_restored,
)
from ingot.projects.namespaces.service import is_beside_another, release_old_path
from ingot.projects.namespaces.tables import Namespace, namespaces

DELETE_GROUP = "delete_scheduled_group"
_MARKED = (
    select(namespaces.c.id, namespaces.c.options_document)
    .where(namespaces.c.options_document.contains('"marked_for_deletion_on"'))
    .order_by(namespaces.c.id)
)


def request_group_deletion(db: Connection, actor: Actor, group: Namespace, params: DeleteScheduled) -> bool:
    """Delete a group, or schedule it if the instance delays deletions; return whether it was scheduled."""
    db.must_hold(NAMESPACES)
    require_deletion_allowed(db, actor)
    delayed = all_settings(db).deletion_adjourned_period > 0
    if delayed and not params.permanently_remove and group.options.marked_for_deletion_on is None:
        _schedule(db, actor, group)
        return True
    if delayed:
        require_deletion_at_once("Group", group.options.marked_for_deletion_on, group.full_path, params)
    delete_group(db, group)
    return False


def _schedule(db: Connection, actor: Actor, group: Namespace) -> None:
    """Mark a group, rename it so that its name and path can be used again, and archive what is below."""
    renamed = EditGroup(name=scheduled_name(group.name, group.id), path=scheduled_name(group.path, group.id))
    document = edit_group(db, actor, group, renamed).options_document
    release_old_path(db, group.full_path)
    marked = {
        "marked_for_deletion_on": day_of(db.now),
        "name_before_deletion": group.name,
        "path_before_deletion": group.path,
    }
    db.update(namespaces, group.id, options_document=edited_group_options(document, marked))
    emit(db, GroupDeletionScheduled(group.id))


def restore_group(db: Connection, actor: Actor, group: Namespace) -> Namespace:
    """Take back the scheduled deletion of a group; raise Invalid if there is none.

    The group gets a new name and path if others use the former path by now.
    """
    db.must_hold(NAMESPACES)
    options = group.options
    if options.marked_for_deletion_on is None:
        raise Invalid("Group has not been marked for deletion")
    if group.parent_id is not None:
        require_no_deletion_around(db, namespace_by_id(db, group.parent_id))
    cleared = dict.fromkeys(("marked_for_deletion_on", "name_before_deletion", "path_before_deletion"))
    db.update(namespaces, group.id, options_document=edited_group_options(group.options_document, cleared))
    name = restored_name(group.name, options.name_before_deletion, group.id)
    path = restored_name(group.path, options.path_before_deletion, group.id)
    suffix = suffix_of_restored(is_beside_another(db, group, name, path))
    renamed = EditGroup(name=name + suffix, path=path + suffix)
    restored = edit_group(db, actor, namespace_by_id(db, group.id), renamed)
    emit(db, GroupRestored(group.id))
    return restored


def enqueue_due_groups(db: Connection) -> None:
    """Enqueue the deletion of groups whose period has ended."""
    days = all_settings(db).deletion_adjourned_period
    until = day_of(add_duration(db.now, days=-days))
    for group_id, document in db.rows(_MARKED):
        marked_on = group_options(document).marked_for_deletion_on
        if marked_on is not None and marked_on <= until:
            enqueue(db, DELETE_GROUP, group_id, unique_key=f"{DELETE_GROUP}:{group_id}")


def delete_scheduled_group(db: Connection, group_id: int) -> None:
    """Delete a group whose deletion is due, unless it was restored."""
    db.lock(NAMESPACES)
    group = namespace_or_none(db, str(group_id))
    if group is not None and group.options.marked_for_deletion_on is not None:
        delete_group(db, group)
