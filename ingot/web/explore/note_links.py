"""Page paths of the objects that notes are attached to."""

from ingot.collaboration.notes.views import NoteView

NOTEABLE_PAGES = {
    "Issue": "issues",
    "MergeRequest": "merge_requests",
    "Milestone": "milestones",
    "Snippet": "snippets",
    "Commit": "commit",
}


def note_page(note: NoteView) -> str:
    """Return the page of a note's object, relative to the project; the activity page if the object was deleted."""
    kind = note.noteable_type
    number = {"Commit": note.commit_id, "Snippet": note.noteable_id}.get(kind, note.noteable_iid)
    return f"{NOTEABLE_PAGES[kind]}/{number}" if kind in NOTEABLE_PAGES and number else "activity"
