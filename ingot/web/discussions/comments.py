"""Forms of a discussion, for every kind of subject: comments, replies, edits, emoji and subscriptions."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.emoji.api import AwardHandlers
from ingot.collaboration.notes.views import DiscussionView
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.api.params import MissingParameter
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.discussions.awards import award_summaries, emoji_options, own_award
from ingot.web.discussions.discussable import Discussable, DiscussableKind, PlannedHandlers, discussable_finder
from ingot.web.form_errors import error_messages
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    local_path,
)

_REDISPLAYED_FIELDS = (Invalid, Conflict, MissingParameter)
_MAX_SEARCH_LENGTH = 64


def discussion_pages(kind: DiscussableKind) -> PageRoutes:
    """Declare the discussion routes below the page of a kind of subject."""
    pages, find = PageRoutes(), discussable_finder(kind)
    address = kind.address
    discussion, note = f"{address}/discussions/:discussion_id", f"{address}/discussions/:discussion_id/notes/:note_id"

    @pages.post(f"{address}/notes")
    def write_note(visit: Visit) -> PageResponse:
        """Add a comment; the same form closes and reopens the subject."""
        ground = find(visit)
        try:
            return _redirect_back(ground, _create_note(ground))
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, f"{ground.url}/notes", refusal, hidden=_hidden_fields(visit))

    @pages.get(f"{discussion}/notes/new")
    def show_reply_form(visit: Visit) -> PageResponse:
        """Show the reply form of a discussion."""
        ground = find(visit)
        found = ground.ask(kind.discussions.get_discussion, discussion_id=visit.request.path["discussion_id"])
        open_yet = any(note.resolvable and not note.resolved for note in found.notes)
        url, back = f"{ground.url}/discussions/{found.id}/notes", _return_path(visit.request.query.get("back"))
        return _note_form(ground, url, body="", back=back, resolvable=open_yet and ground.may_resolve())

    @pages.post(f"{discussion}/notes")
    def reply(visit: Visit) -> PageResponse:
        """Reply to a discussion, and resolve or reopen it if the form requests it."""
        ground, number = find(visit), visit.request.path["discussion_id"]
        try:
            said = ground.ask(kind.discussions.reply, _note_text(visit), discussion_id=number)
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, f"{ground.url}/discussions/{number}/notes", refusal, hidden=_hidden_fields(visit))
        if kind.resolve is not None and form_field(visit.request.form, "note", "resolved"):
            ground.ask(
                kind.resolve, {"resolved": form_field(visit.request.form, "note", "resolved")}, discussion_id=number
            )
        return _redirect_back(ground, said)

    @pages.get(f"{note}/edit")
    def show_note_form(visit: Visit) -> PageResponse:
        """Show the form for editing a note."""
        ground = find(visit)
        found = ground.ask(kind.discussions.get_note, **_emoji_name(visit))
        reached = ground.reached()
        if (
            found.system
            or not reached.may_participate
            or not (found.author.id == visit.viewer.signed_in.id or reached.may_moderate)
        ):
            raise NotFound("Note")
        return _note_form(
            ground, _note_url(ground), body=found.body, method="put", back=_return_path(visit.request.query.get("back"))
        )

    @pages.put(note)
    def edit_note(visit: Visit) -> PageResponse:
        """Update a note."""
        ground = find(visit)
        sent = {"body": form_field(visit.request.form, "note", "body")}
        try:
            edited = ground.ask(kind.discussions.edit_note, sent, **_emoji_name(visit))
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, _note_url(ground), refusal, method="put")
        return _redirect_back(ground, edited)

    @pages.delete(note)
    def delete_note(visit: Visit) -> PageResponse:
        """Delete a note."""
        ground = find(visit)
        ground.ask(kind.discussions.delete_note, **_emoji_name(visit))
        return _redirect_back(ground)

    if (resolve_discussion := kind.resolve) is not None:

        @pages.put(discussion)
        def resolve(visit: Visit) -> PageResponse:
            """Resolve a discussion, or reopen it."""
            ground = find(visit)
            sent = {"resolved": visit.request.form.get("resolved")}
            found = ground.ask(resolve_discussion, sent, discussion_id=visit.request.path["discussion_id"])
            return _redirect_back(ground, found.notes[0])

    if kind.awards is not None:

        @pages.get(f"{address}/award_emoji")
        def show_emoji(visit: Visit) -> PageResponse:
            """Show the emoji picker."""
            return _emoji_picker(find(visit), str(visit.request.query.get("note_id") or ""))

        @pages.post(f"{address}/award_emoji")
        def toggle_award(visit: Visit) -> PageResponse:
            """Add the viewer's award of an emoji or remove it."""
            return _toggle_award(find(visit))

    if kind.planned is not None:
        _subscription_pages(pages, kind, kind.planned)
    return pages


def _subscription_pages(pages: PageRoutes, kind: DiscussableKind, planned: PlannedHandlers) -> None:
    find, following = discussable_finder(kind), planned.planning.following

    @pages.post(f"{kind.address}/subscription")
    def follow(visit: Visit) -> PageResponse:
        """Subscribe to it, or unsubscribe."""
        subscribes = visit.request.form.get("subscribed") == "true"
        return _ignore_unchanged(find(visit), following.subscribe if subscribes else following.unsubscribe)

    @pages.post(f"{kind.address}/todo")
    def add_todo(visit: Visit) -> PageResponse:
        """Add the subject to the viewer's to-do list."""
        return _ignore_unchanged(find(visit), planned.add_todo)


def _ignore_unchanged(discussable: Discussable, endpoint: Callable[..., object]) -> PageResponse:
    try:
        discussable.ask(endpoint)
    except Unchanged:
        pass  # Already in the requested state, for example after a double click.
    return _redirect_back(discussable)


def _create_note(discussable: Discussable) -> Any:
    """Create a note if there is a text, and close or reopen the subject if requested."""
    visit, said = discussable.visit, None
    event, planned = form_field(visit.request.form, "note", "state_event"), discussable.kind.planned
    changes_state = planned is not None and event in ("close", "reopen")
    if form_field(visit.request.form, "note", "body").strip() or not changes_state:
        said = _start_discussion(discussable)
    if planned is not None and changes_state:
        discussable.ask(planned.edit, {"state_event": event})
    return said


def _start_discussion(discussable: Discussable) -> Any:
    visit = discussable.visit
    fields = visit.request.form.get("note")
    position = fields.get("position") if isinstance(fields, dict) else None
    sent = _note_text(visit) | ({"position": position} if isinstance(position, dict) else {})
    notes = discussable.kind.notes
    if notes is not None and not position and not form_field(visit.request.form, "note", "discussion"):
        return discussable.ask(notes.write_note, sent)
    begun = discussable.ask(discussable.kind.discussions.begin, sent)
    return begun.notes[0] if isinstance(begun, DiscussionView) else begun


def _note_text(visit: Visit) -> dict[str, Any]:
    sent: dict[str, Any] = {"body": form_field(visit.request.form, "note", "body")}
    if form_field(visit.request.form, "note", "internal"):
        sent["internal"] = "true"
    if sha := form_field(visit.request.form, "note", "merge_request_diff_head_sha"):
        sent["merge_request_diff_head_sha"] = sha
    return sent


def _toggle_award(discussable: Discussable) -> PageResponse:
    """Award an emoji, or remove the viewer's award."""
    visit = discussable.visit
    note_id, name = (
        str(visit.request.form.get("note_id") or ""),
        str(visit.request.form.get("name") or "").strip().strip(":"),
    )
    awards, path, subject = _awardable(discussable, note_id)
    given = own_award(visit, subject, name)
    try:
        if given is None:
            discussable.ask(awards.give_award, {"name": name}, **path)
        else:
            discussable.ask(awards.take_award_back, **path, award_id=given)
    except (Conflict, Invalid, NotFound, Unchanged) as refusal:
        if not visit.headers.fragment:
            return TemplateResponse(
                "discussions/refused.html", {"discussable": discussable, "errors": error_messages(refusal)}, 422
            )
    if not visit.headers.fragment:
        return LocalRedirect(discussable.url + (f"#note_{note_id}" if note_id else ""))
    return _emoji_picker(discussable, note_id, chosen=True)


def _awardable(discussable: Discussable, note_id: str) -> tuple[AwardHandlers, dict[str, str], Any]:
    """Return the endpoints of the awards of a note or of the subject itself, with their parameters and the subject."""
    of_notes = discussable.kind.notes.awards if discussable.kind.notes else None
    awards, path = (of_notes, {"note_id": note_id}) if note_id else (discussable.kind.awards, {})
    if awards is None:
        raise NotFound("Award Emoji")
    found: SubjectAccess = discussable.find(awards.list_awards, **path)
    return awards, path, found.subject


def _emoji_picker(discussable: Discussable, note_id: str, *, chosen: bool = False) -> TemplateResponse:
    visit, (_, _, subject) = discussable.visit, _awardable(discussable, note_id)
    awards = award_summaries(visit, subject).get((subject.kind, subject.id), [])
    search = str(visit.request.query.get("search") or "")[:_MAX_SEARCH_LENGTH]
    shown = {"discussable": discussable, "awards": awards, "note_id": note_id or None, "search": search}
    shown["offers"] = None if chosen or "shown" in visit.request.query else emoji_options(search)
    return TemplateResponse(
        "discussions/_awards_again.html" if visit.headers.fragment else "discussions/awards.html", shown
    )


def _emoji_name(visit: Visit) -> dict[str, str]:
    return {name: visit.request.path[name] for name in ("discussion_id", "note_id")}


def _note_url(discussable: Discussable) -> str:
    path = discussable.visit.request.path
    return f"{discussable.url}/discussions/{path['discussion_id']}/notes/{path['note_id']}"


def _return_path(text: Any) -> str:
    """Return the local path to return to."""
    return local_path(text) or ""


def _redirect_back(discussable: Discussable, said: Any = None) -> LocalRedirect:
    """Redirect to the page of the form, at the new note if there is one."""
    back = _return_path(discussable.visit.request.form.get("back")).partition("#")[0]
    url = back if back.startswith(discussable.url) else discussable.url
    number = getattr(said, "id", None)
    return LocalRedirect(f"{url}#note_{number}" if isinstance(number, int) else url)


def _hidden_fields(visit: Visit) -> dict[str, str]:
    """Return the hidden fields of a form, so that they are retained when it is shown again."""
    fields = visit.request.form.get("note")
    if not isinstance(fields, dict):
        return {}
    kept = {f"note[{name}]": value for name, value in fields.items() if isinstance(value, str) and name != "body"}
    position = fields.get("position")
    if isinstance(position, dict):
        kept |= {f"note[position][{name}]": value for name, value in position.items() if isinstance(value, str)}
    return kept


def _note_form(
    discussable: Discussable,
    action: str,
    refusal: Exception | None = None,
    *,
    body: str | None = None,
    method: str = "",
    back: str = "",
    hidden: dict[str, str] | None = None,
    resolvable: bool = False,
) -> TemplateResponse:
    visit = discussable.visit
    shown = {
        "discussable": discussable,
        "action": action,
        "errors": error_messages(refusal) if refusal else [],
        "body": form_field(visit.request.form, "note", "body") if body is None else body,
        "method": method,
        "back": back or _return_path(visit.request.form.get("back")),
        "hidden": hidden or {},
        "resolvable": resolvable,
    }
    template = "discussions/_form.html" if visit.headers.fragment else "discussions/form.html"
    return TemplateResponse(template, shown, 422 if refusal else 200)
