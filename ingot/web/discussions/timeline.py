"""Discussions of a subject in chronological order, prepared for display."""

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from ingot.collaboration.notes.description_versions import DESCRIPTION_CHANGED, versioned_notes
from ingot.collaboration.notes.views import DiscussionView, NoteView
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.db.times import Timestamp
from ingot.web.discussions.awards import AwardSummary, award_summaries, with_default_awards
from ingot.web.discussions.discussable import Discussable
from ingot.web.discussions.system_note_translation import translate_system_note
from ingot.web.display_zone import time_element
from ingot.web.languages import page_language
from ingot.web.texts import render_markdown_texts

_PER_PAGE = 100
_MAX_PAGES = 5
_MAX_SYSTEM_NOTES = 20


class NoteItem(msgspec.Struct, frozen=True):
    """Note with the actions that the viewer may perform on it."""

    view: NoteView
    html: Markup
    link: Markup
    """Time of the note, which links to it."""
    awards: list[AwardSummary]
    may_change: bool
    versioned: bool = False
    """True for a change of a description whose version before is kept."""


class DiscussionItem(msgspec.Struct, frozen=True):
    """Discussion with its notes."""

    id: str
    url: str
    notes: list[NoteItem]
    individual: bool
    """True for a single note without replies."""
    resolvable: bool
    resolved: bool

    @property
    def system(self) -> bool:
        """Return whether it is a system note."""
        return self.notes[0].view.system


class DiscussionThread(msgspec.Struct, frozen=True):
    """All discussions of a subject, and the viewer's permissions."""

    discussable: Discussable
    discussions: list[DiscussionItem]
    awards: list[AwardSummary]
    """Emoji awarded to the subject itself, and those that are always offered."""
    other_texts: list[Markup]
    """Other texts of the page, rendered."""
    may_write: bool
    may_write_internal: bool
    may_award: bool
    may_resolve: bool
    page: int
    more: bool
    """True if there are further pages."""

    @property
    def unresolved(self) -> int:
        """Return the number of unresolved discussions."""
        return sum(discussion.resolvable and not discussion.resolved for discussion in self.discussions)

    @property
    def resolvable(self) -> int:
        """Return the number of resolvable discussions."""
        return sum(discussion.resolvable for discussion in self.discussions)


def discussion_thread(discussable: Discussable, *other_texts: str | None) -> DiscussionThread:
    """Return the discussions of a subject, several hundred per page so that links to notes work.

    Texts in ``other_texts``, such as a description, are rendered together with the notes, which saves queries.
    """
    visit = discussable.visit
    subject_access, discussions, page, more = discussable.subject_access(), *_discussions(discussable)
    may_participate = visit.viewer.user is not None and subject_access.may_participate
    items, awards, texts = _discussion_items(discussable, subject_access, discussions, other_texts)
    may_award = may_participate and discussable.kind.awards is not None
    return DiscussionThread(
        discussable,
        items,
        with_default_awards(awards, discussable.default_awards if may_award else ()),
        texts,
        may_write=may_participate,
        may_write_internal=may_participate and subject_access.may_write_internal,
        may_award=may_award,
        may_resolve=subject_access.may_resolve,
        page=page,
        more=more,
    )


def newest_system_notes(discussable: Discussable) -> list[NoteView]:
    """Return the newest system notes of a subject."""
    if discussable.kind.notes is None:
        return []
    params = {"activity_filter": "only_activity", "per_page": _MAX_SYSTEM_NOTES}
    return discussable.ask(discussable.kind.notes.list_notes, params).items


def system_notes_since(discussable: Discussable, before: list[NoteView]) -> list[DiscussionItem]:
    """Return the system notes added since ``before``, to append them to the page."""
    newest_id = max((note.id for note in before), default=0)
    new_notes = sorted(
        (note for note in newest_system_notes(discussable) if note.id > newest_id), key=lambda note: note.id
    )
    discussions = [DiscussionView(str(note.id), individual_note=True, notes=[note]) for note in new_notes]
    return _discussion_items(discussable, discussable.subject_access(), discussions, ())[0]


def _discussions(discussable: Discussable) -> tuple[list[DiscussionView], int, bool]:
    page = discussable.visit.request.page
    discussions: list[DiscussionView] = []
    for number in range((page - 1) * _MAX_PAGES + 1, page * _MAX_PAGES + 1):
        listing = discussable.ask(
            discussable.kind.discussions.list_discussions, {"per_page": _PER_PAGE, "page": number}
        )
        discussions += listing.items
        if number * _PER_PAGE >= (listing.total or 0) and not listing.more:
            return discussions, page, False
    return discussions, page, True


def _discussion_items(
    discussable: Discussable,
    subject_access: SubjectAccess,
    discussions: list[DiscussionView],
    other_texts: Sequence[str | None],
) -> tuple[list[DiscussionItem], list[AwardSummary], list[Markup]]:
    """Return the discussions, the emoji awarded to the subject, and the rendered texts of ``other_texts``."""
    visit = discussable.visit
    notes = [note for discussion in discussions for note in discussion.notes]
    language = page_language(visit)
    bodies = [translate_system_note(note.body, language) if note.system else note.body for note in notes]
    texts = render_markdown_texts(visit, [*bodies, *(text or "" for text in other_texts)], discussable.project_id)
    html = {note.id: text for note, text in zip(notes, texts, strict=False)}
    awards = _award_summaries(discussable, subject_access, [note.id for note in notes if not note.system])
    viewer_id = visit.viewer.user.id if visit.viewer.user else None
    now = visit.database.clock()
    described = [note.id for note in notes if note.system and note.body == DESCRIPTION_CHANGED]
    internal = subject_access.may_see_internal
    versioned = visit.database.read(lambda db: versioned_notes(db, described, internal=internal)) if described else ()

    def show(note: NoteView) -> NoteItem:
        own = viewer_id is not None and (note.author.id == viewer_id or subject_access.may_moderate)
        may_change = own and subject_access.may_participate and not note.system
        shown_awards = awards.get(("note", note.id), [])
        return NoteItem(note, html[note.id], _link(note, now), shown_awards, may_change, note.id in versioned)

    items = [
        DiscussionItem(
            discussion.id,
            f"{discussable.url}/discussions/{discussion.id}",
            [show(note) for note in discussion.notes],
            discussion.individual_note,
            resolvable=any(note.resolvable for note in discussion.notes),
            resolved=all(note.resolved is True for note in discussion.notes if note.resolvable),
        )
        for discussion in discussions
    ]
    return items, awards.get((subject_access.subject.kind, subject_access.subject.id or 0), []), texts[len(notes) :]


def _award_summaries(
    discussable: Discussable, subject_access: SubjectAccess, notes: list[int]
) -> dict[tuple[str, int], list[AwardSummary]]:
    subject = subject_access.subject
    if discussable.kind.awards is None or subject.id is None:
        return {}
    return award_summaries(discussable.visit, subject, notes)


def _link(note: NoteView, now: Timestamp) -> Markup:
    """Render the time of a note; a template takes ten times as long, and a discussion has many."""
    time = time_element(note.created_at, now)
    return Markup(f'<a class="hint" href="#note_{note.id}">{time}</a>')  # noqa: S704 - Contains only numbers and fixed words.
