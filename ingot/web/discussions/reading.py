"""What was said about something, in the order of time, as pages show it."""

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from ingot.db.times import Timestamp
from ingot.notes.views import DiscussionView, NoteView
from ingot.subjects import Reached
from ingot.web.discussions.awards import Given, given_to
from ingot.web.discussions.ground import Ground
from ingot.web.saying import ago, exactly
from ingot.web.texts import html_of_all

_AT_ONCE = 100
_MOST_AT_ONCE = 5
_MOST_RECORDS = 20


class Shown(msgspec.Struct, frozen=True):
    """A note with what the visitor may do to it."""

    view: NoteView
    html: Markup
    time: Markup
    awards: list[Given]
    may_change: bool


class Talk(msgspec.Struct, frozen=True):
    """Notes that belong together."""

    id: str
    notes: list[Shown]
    alone: bool
    """Whether it is one note that nobody answered."""
    resolvable: bool
    resolved: bool

    @property
    def system(self) -> bool:
        """Whether it only records what became of the subject."""
        return self.notes[0].view.system


class Thread(msgspec.Struct, frozen=True):
    """Everything that was said, and what the visitor may add."""

    ground: Ground
    talks: list[Talk]
    awards: list[Given]
    """What the subject itself was given."""
    besides: list[Markup]
    """Other texts of the page."""
    may_write: bool
    may_write_internal: bool
    may_award: bool
    may_resolve: bool
    page: int
    more: bool
    """Whether further pages follow."""

    @property
    def unresolved(self) -> int:
        """How many discussions are still to be settled."""
        return sum(talk.resolvable and not talk.resolved for talk in self.talks)

    @property
    def resolvable(self) -> int:
        """How many can be."""
        return sum(talk.resolvable for talk in self.talks)


def thread_of(ground: Ground, *besides: str | None) -> Thread:
    """The discussions about something; some hundreds at once, so that a link to a note finds it.

    Texts ``besides``, such as a description, are rendered along, which takes no statements of its own.
    """
    visit = ground.visit
    reached, found, page, more = ground.reached(), *_discussions(ground)
    takes_part = visit.user is not None and reached.takes_part
    talks, awards, texts = _shown(ground, reached, found, besides)
    return Thread(
        ground,
        talks,
        awards,
        texts,
        may_write=takes_part,
        may_write_internal=takes_part and reached.writes_internal,
        may_award=takes_part and ground.kind.emoji,
        may_resolve=ground.kind.resolves and ground.may("PUT", "/discussions/:discussion_id"),
        page=page,
        more=more,
    )


def newest_records(ground: Ground) -> list[NoteView]:
    """What became of something of late, without what people said about it."""
    found: list[NoteView] = ground.get("/notes", {"activity_filter": "only_activity", "per_page": _MOST_RECORDS}).items
    return found


def records_since(ground: Ground, before: list[NoteView]) -> list[Talk]:
    """What was recorded since then, to be put at the end of what is shown."""
    known = max((note.id for note in before), default=0)
    fresh = sorted((note for note in newest_records(ground) if note.id > known), key=lambda note: note.id)
    found = [DiscussionView(str(note.id), individual_note=True, notes=[note]) for note in fresh]
    return _shown(ground, ground.reached(), found, ())[0]


def _discussions(ground: Ground) -> tuple[list[DiscussionView], int, bool]:
    page = ground.visit.page
    found: list[DiscussionView] = []
    for number in range((page - 1) * _MOST_AT_ONCE + 1, page * _MOST_AT_ONCE + 1):
        listing = ground.get("/discussions", {"per_page": _AT_ONCE, "page": number})
        found += listing.items
        if number * _AT_ONCE >= (listing.total or 0) and not listing.more:
            return found, page, False
    return found, page, True


def _shown(
    ground: Ground, reached: Reached, found: list[DiscussionView], besides: Sequence[str | None]
) -> tuple[list[Talk], list[Given], list[Markup]]:
    """What was said, what the subject itself was given, and the texts besides."""
    visit = ground.visit
    notes = [note for discussion in found for note in discussion.notes]
    texts = html_of_all(visit, [*(note.body for note in notes), *(text or "" for text in besides)], ground.project_id)
    html = {note.id: text for note, text in zip(notes, texts, strict=False)}
    given = _given(ground, reached, [note.id for note in notes if not note.system])
    me = visit.user.id if visit.user else None
    now = visit.database.clock()

    def show(note: NoteView) -> Shown:
        own = me is not None and (note.author.id == me or reached.moderates)
        may_change = own and reached.takes_part and not note.system
        return Shown(note, html[note.id], _time(note, now), given.get(("note", note.id), []), may_change)

    talks = [
        Talk(
            discussion.id,
            [show(note) for note in discussion.notes],
            discussion.individual_note,
            resolvable=any(note.resolvable for note in discussion.notes),
            resolved=all(note.resolved is True for note in discussion.notes if note.resolvable),
        )
        for discussion in found
    ]
    return talks, given.get((reached.subject.kind, reached.subject.id or 0), []), texts[len(notes) :]


def _given(ground: Ground, reached: Reached, notes: list[int]) -> dict[tuple[str, int], list[Given]]:
    subject = reached.subject
    if not ground.kind.emoji or subject.id is None:
        return {}
    return given_to(ground.visit, {subject.kind: [subject.id], "note": notes})


def _time(note: NoteView, now: Timestamp) -> Markup:
    """When it was written; a template would take ten times as long, and a discussion has many."""
    at = note.created_at
    text = f'<time datetime="{at}" title="{exactly(at)}">{ago(at, now)}</time>'
    return Markup(text)  # noqa: S704 - There is nothing in it but numbers and words of ours.
