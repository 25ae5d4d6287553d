"""Permissions on notes; users who can see a subject can read its notes."""

from ingot.collaboration.notes.tables import Note
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_download_code
from ingot.repositories.context import RepositoryContext


def may_comment_on_code(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users who can read the code, unless the project is archived."""
    return actor.known and may_download_code(actor, access, context.project) and not context.project.archived


def may_read_notes(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can see the subject."""
    return True


def may_write_notes(actor: Actor, access: Access, subject_access: SubjectAccess) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Users who can participate in the subject."""
    return actor.known and subject_access.may_participate


def may_edit_note(actor: Actor, subject_access: SubjectAccess, note: Note) -> bool:
    """The author and moderators of the subject; system notes cannot be edited."""
    return (
        not note.system
        and subject_access.may_participate
        and (note.author_id == actor.user_id or subject_access.may_moderate)
    )
