"""Where what notes are about has its page."""

from ingot.collaboration.notes.views import NoteView

NOTEABLE_PAGES = {
    "Issue": "issues",
    "MergeRequest": "merge_requests",
    "Milestone": "milestones",
    "Snippet": "snippets",
    "Commit": "commit",
}


def note_page(note: NoteView) -> str:
    """The page, below that of the project, where notes have their places; of what is gone, that of what happened."""
    kind = note.noteable_type
    number = {"Commit": note.commit_id, "Snippet": note.noteable_id}.get(kind, note.noteable_iid)
    return f"{NOTEABLE_PAGES[kind]}/{number}" if kind in NOTEABLE_PAGES and number else "activity"
