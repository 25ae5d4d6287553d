"""Notes of discussions as elements of pages; a template takes nearly twice as long, and a page can have hundreds."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup, escape

from ingot.web.display_zone import translate_label
from ingot.web.page_routes import Visit
from ingot.web.people import person_element

if TYPE_CHECKING:
    # The environment of all templates imports this module, and most pages have no discussions.
    from ingot.web.discussions.discussable import Discussable
    from ingot.web.discussions.timeline import DiscussionItem, DiscussionThread, NoteItem

ShowAwards = Callable[..., Markup]
"""The macro that shows the emoji of a note, in a form that adds and removes them."""
ShowReview = Callable[..., Markup]
"""The macro that shows a discussion that can be resolved or refers to lines of a diff."""


class NoteElements:
    """Renders the notes of the discussions of one page, in its language.

    The text of a note and its link are markup already; all other texts are escaped here.
    """

    def __init__(
        self,
        visit: Visit,
        discussable: "Discussable",
        back: str,
        show_awards: ShowAwards,
        *,
        may_award: bool,
        may_write: bool,
    ) -> None:
        self._visit = visit
        self._discussable = discussable
        self._may_award = may_award
        self._may_write = may_write
        self._show_awards = show_awards
        self._authors: dict[int, Markup] = {}
        self._back = back
        self._query = escape(f"?back={quote(back)}") if back else ""
        reaction = escape(translate_label("Add reaction"))
        self._award_start = f'<div class="awards"><a class="award" data-part="award" href="{escape(discussable.url)}'
        self._award_end = f'" aria-label="{reaction}">&#9786;+</a></div>'
        self._compare = escape(translate_label("compare with previous version"))
        self._reply = escape(translate_label("Reply"))
        self._quote = escape(translate_label("Quote reply"))
        self._edit = escape(translate_label("Edit"))
        self._edited = f' <span class="hint">{escape(translate_label("edited"))}</span>'
        self._internal = f' <span class="badge">{escape(translate_label("internal"))}</span>'

    def discussions(
        self,
        thread: "DiscussionThread",
        discussions: Iterable["DiscussionItem"],
        contexts: Mapping[str, object],
        show_review: ShowReview,
    ) -> Markup:
        """Return the items of the list of discussions; ``contexts`` holds the lines of a diff that some refer to."""
        shown = [
            show_review(self._visit, thread, each, self, self._back, contexts)
            if each.resolvable or each.id in contexts
            else self._plain(each)
            for each in discussions
        ]
        return Markup("".join(shown))  # noqa: S704 - All values are escaped.

    def of(self, discussion: "DiscussionItem") -> Markup:
        """Return the items of the list of notes of a discussion."""
        return Markup(self._notes(discussion))  # noqa: S704 - All values are escaped.

    def reply(self, discussion: "DiscussionItem") -> Markup:
        """Return the link to the form for a reply."""
        return Markup(self._reply_link(discussion))  # noqa: S704 - All values are escaped.

    def _plain(self, discussion: "DiscussionItem") -> str:
        """Return a discussion that refers to no lines and cannot be resolved."""
        notes = self._notes(discussion)
        if discussion.system:
            return notes
        reply = f'<div class="discussion-actions">\n{self._reply_link(discussion)}</div>\n' if self._may_write else ""
        number = escape(discussion.id)
        return f'<li class="discussion" id="discussion_{number}">\n<ol class="notes">\n{notes}</ol>\n{reply}</li>\n'

    def _notes(self, discussion: "DiscussionItem") -> str:
        shown = [self._event(item) if item.view.system else self._note(discussion, item) for item in discussion.notes]
        return "".join(shown)

    def _reply_link(self, discussion: "DiscussionItem") -> str:
        url = f"{escape(discussion.url)}/notes/new{self._query}"
        return f'<a data-part="reply" href="{url}">{self._reply}</a>'

    def _event(self, item: "NoteItem") -> str:
        author = self._author(item)
        text = f'<span class="text">{item.html}</span>'
        if item.versioned:
            url = f"{escape(self._discussable.url)}/descriptions/{item.view.id}"
            text += f' <a href="{url}">{self._compare}</a>'
        return f'<li class="event" id="note_{item.view.id}">{author} {text} {item.link}</li>\n'

    def _note(self, discussion: "DiscussionItem", item: "NoteItem") -> str:
        note, number = item.view, item.view.id
        edited = self._edited if note.updated_at != note.created_at else ""
        classes, badge = ("note internal", self._internal) if note.internal else ("note", "")
        tools = self._quote_link(discussion, number) if self._may_write else ""
        tools += self._edit_link(discussion, number) if item.may_change else ""
        edit = f'<span class="tools">{tools}</span>' if tools else ""
        return (
            f'<li class="{classes}" id="note_{number}">\n'
            f"<header><span>{self._author(item)} {item.link}{edited}{badge}</span>\n{edit}</header>\n"
            f'<div class="body prose">{item.html}</div>\n{self._awards(item)}</li>\n'
        )

    def _author(self, item: "NoteItem") -> Markup:
        author = item.view.author
        shown = self._authors.get(author.id)
        if shown is None:
            shown = self._authors[author.id] = person_element(author)
        return shown

    def _quote_link(self, discussion: "DiscussionItem", number: int) -> str:
        query = f"{self._query}&amp;quote={number}" if self._query else f"?quote={number}"
        url = f"{escape(discussion.url)}/notes/new{query}"
        return f'<a class="hint" data-part="quote" href="{url}">{self._quote}</a>'

    def _edit_link(self, discussion: "DiscussionItem", number: int) -> str:
        url = f"{escape(discussion.url)}/notes/{number}/edit{self._query}"
        return f'<a class="hint" data-part="edit" href="{url}">{self._edit}</a>'

    def _awards(self, item: "NoteItem") -> str:
        if item.awards:
            return self._show_awards(self._visit, self._discussable, item.awards, self._may_award, item.view.id)
        if not self._may_award:
            return ""
        return f"{self._award_start}/award_emoji?note_id={item.view.id}{self._award_end}"
