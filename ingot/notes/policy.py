"""Who may write notes; what somebody wrote is read by those who may see what it is about."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.notes.tables import Note
from ingot.projects.policy import may_download_code
from ingot.repository.place import Place
from ingot.subjects import Reached


def may_comment_on_code(actor: Actor, here: Access, place: Place) -> bool:
    """Users who may read the code, unless the project is archived."""
    return actor.known and may_download_code(actor, here, place.project) and not place.project.archived


def may_read_notes(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Whoever was let find what they are about."""
    return True


def may_write_notes(actor: Actor, here: Access, reached: Reached) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Users whom its room lets take part."""
    return actor.known and reached.takes_part


def may_change_note(actor: Actor, reached: Reached, note: Note) -> bool:
    """Who wrote it and who moderates there; what the system wrote stays as it is."""
    return not note.system and reached.takes_part and (note.author_id == actor.user_id or reached.moderates)
