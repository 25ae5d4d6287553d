"""Suggested changes in notes, shown as small diffs with the forms that apply them."""

import re
from html import escape
from typing import Any
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from ingot.collaboration.notes.views import SuggestionView
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.web.discussions.timeline import DiscussionItem, DiscussionThread, NoteItem
from ingot.web.display_zone import translate_label
from ingot.web.merge_requests.context import MergeRequestContext

BATCH_FORM = "apply-suggestions"
"""Id of the form that applies the selected suggestions."""
_BLOCK = re.compile(r'<pre class="code highlight"><code class="language-suggestion">.*?</code></pre>\n?', re.DOTALL)


def may_apply_suggestions(merge_request: MergeRequestContext) -> bool:
    """Return whether the viewer may commit to the source branch."""
    source = merge_request.source
    if merge_request.view.state != "opened" or source.project is None or not source.branch_exists:
        return False
    visit = merge_request.visit
    return visit.viewer.user is not None and visit.may(commit_writing_api.create_commit, id=source.project.id)


def with_suggestions(merge_request: MergeRequestContext, thread: DiscussionThread) -> DiscussionThread:
    """Return the thread with the suggestions of its notes as diffs, and with their forms if the viewer may commit."""
    if not any(_suggestions(note) for discussion in thread.discussions for note in discussion.notes):
        return thread
    back = quote(merge_request.visit.request.address, safe="")
    url = f"{merge_request.url}/suggestions?back={back}" if may_apply_suggestions(merge_request) else ""
    csrf = merge_request.visit.viewer.csrf

    def show(discussion: DiscussionItem) -> DiscussionItem:
        notes = [_with_diffs(note, url, csrf) for note in discussion.notes]
        return msgspec.structs.replace(discussion, notes=notes)

    return msgspec.structs.replace(thread, discussions=[show(discussion) for discussion in thread.discussions])


def appliable_count(thread: DiscussionThread) -> int:
    """Return the number of suggestions that can be applied."""
    notes = [note for discussion in thread.discussions for note in discussion.notes]
    return sum(suggestion.appliable for note in notes for suggestion in _suggestions(note))


def _suggestions(note: NoteItem) -> list[SuggestionView]:
    suggestions = note.view.suggestions
    return suggestions if isinstance(suggestions, list) else []


def _with_diffs(note: NoteItem, url: str, csrf: str) -> NoteItem:
    waiting = iter(_suggestions(note))

    def show(block: re.Match[str]) -> str:
        suggestion = next(waiting, None)
        return block[0] if suggestion is None else _box(suggestion, url, csrf)

    if not _suggestions(note):
        return note
    html = Markup(_BLOCK.sub(show, str(note.html)))  # noqa: S704 - Sanitized text and escaped lines.
    return msgspec.structs.replace(note, html=html)


def _box(suggestion: SuggestionView, url: str, csrf: str) -> str:
    first, last = suggestion.from_line, suggestion.to_line
    title = "Suggested change, line {}" if first == last else "Suggested change, lines {} to {}"
    title = translate_label(title).format(*dict.fromkeys((first, last)))
    state = _controls(suggestion, url, csrf)
    rows = _rows("before", "−", suggestion.from_content) + _rows("after", "+", suggestion.to_content)
    return (
        f'<div class="suggestion"><div class="suggestion-bar"><span>{title}</span>{state}</div>'
        f'<table class="suggested" aria-label="{title}"><tbody>{rows}</tbody></table></div>'
    )


def _controls(suggestion: SuggestionView, url: str, csrf: str) -> str:
    if suggestion.applied:
        return f'<span class="badge">{translate_label("Applied")}</span>'
    if not suggestion.appliable:
        return f'<span class="badge">{translate_label("Outdated")}</span>'
    if not url:
        return ""
    return (
        f'<span class="actions"><label class="choice"><input type="checkbox" name="ids[]" value="{suggestion.id}" '
        f'form="{BATCH_FORM}"> {translate_label("Select")}</label>'
        f'<form class="inline" method="post" action="{escape(url)}">'
        f'<input type="hidden" name="authenticity_token" value="{escape(csrf)}">'
        f'<button class="quiet" name="ids[]" value="{suggestion.id}">{translate_label("Apply suggestion")}</button>'
        "</form></span>"
    )


def _rows(kind: str, sign: str, content: str) -> str:
    lines = content.removesuffix("\n").split("\n") if content else []
    return "".join(
        f'<tr class="{kind}"><td>{sign}</td><td>{escape(line.removesuffix(chr(13)), quote=False)}</td></tr>'
        for line in lines
    )


def selected_suggestions(form: dict[str, Any]) -> list[str]:
    """Return the ids of the suggestions that a form selects."""
    ids = form.get("ids")
    return [str(each) for each in ids] if isinstance(ids, list) else [str(ids)] if ids else []
