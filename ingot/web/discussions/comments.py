"""Forms of a discussion, for every kind of subject: comments, replies, edits, emoji and subscriptions."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.emoji.api import AwardHandlers
from ingot.collaboration.notes.views import DiscussionView
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.discussions.awards import award_summaries, emoji_options, own_award, with_default_awards
from ingot.web.discussions.description_versions import add_version_pages
from ingot.web.discussions.discussable import Discussable, DiscussableKind, PlannedHandlers, discussable_finder
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.notices import notice_by_field
from ingot.web.page_routes import (
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    form_field,
    local_path,
)

_MAX_SEARCH_LENGTH = 64


def discussion_pages(kind: DiscussableKind) -> PageRoutes:
    """Declare the discussion routes below the page of a kind of subject."""
    pages, find = PageRoutes(), discussable_finder(kind)
    route = kind.route
    discussion_route = f"{route}/discussions/:discussion_id"

    @pages.post(f"{route}/notes", notice="Comment added.")
    def write_note(visit: Visit) -> PageResponse:
        """Add a comment; the same form closes and reopens the subject."""
        discussable = find(visit)
        try:
            return _redirect_back(discussable, _create_note(discussable))
        except FORM_ERRORS as error:
            return _note_form(discussable, f"{discussable.url}/notes", error, hidden=_hidden_fields(visit))

    @pages.get(f"{discussion_route}/notes/new")
    def show_reply_form(visit: Visit) -> PageResponse:
        """Show the reply form of a discussion."""
        discussable = find(visit)
        discussion_view = discussable.ask(
            kind.discussions.get_discussion, discussion_id=visit.request.path["discussion_id"]
        )
        has_unresolved = any(note.resolvable and not note.resolved for note in discussion_view.notes)
        url, back = (
            f"{discussable.url}/discussions/{discussion_view.id}/notes",
            _return_path(visit.request.query.get("back")),
        )
        body = _quote(discussion_view, visit.request.query.get("quote"))
        return _note_form(
            discussable, url, body=body, back=back, resolvable=has_unresolved and discussable.may_resolve()
        )

    @pages.post(f"{discussion_route}/notes", notice="Reply added.")
    def reply(visit: Visit) -> PageResponse:
        """Reply to a discussion, and resolve or reopen it if the form requests it."""
        discussable, discussion_id = find(visit), visit.request.path["discussion_id"]
        try:
            written = discussable.ask(kind.discussions.reply, _note_params(visit), discussion_id=discussion_id)
        except FORM_ERRORS as error:
            return _note_form(
                discussable,
                f"{discussable.url}/discussions/{discussion_id}/notes",
                error,
                hidden=_hidden_fields(visit),
            )
        if kind.resolve is not None and form_field(visit.request.form, "note", "resolved"):
            discussable.ask(
                kind.resolve,
                {"resolved": form_field(visit.request.form, "note", "resolved")},
                discussion_id=discussion_id,
            )
        return _redirect_back(discussable, written)

    _note_pages(pages, kind)
    if (resolve_discussion := kind.resolve) is not None:

        @pages.put(
            discussion_route, notice=notice_by_field("resolved", {"true": "Thread resolved."}, "Thread reopened.")
        )
        def resolve(visit: Visit) -> PageResponse:
            """Resolve a discussion, or reopen it."""
            discussable = find(visit)
            params = {"resolved": visit.request.form.get("resolved")}
            resolved = discussable.ask(resolve_discussion, params, discussion_id=visit.request.path["discussion_id"])
            return _redirect_back(discussable, resolved.notes[0])

    if kind.awards is not None:

        @pages.get(f"{route}/award_emoji")
        def show_emoji(visit: Visit) -> PageResponse:
            """Show the emoji picker."""
            return _emoji_picker(find(visit), str(visit.request.query.get("note_id") or ""))

        @pages.post(f"{route}/award_emoji", notice="Reaction changed.")
        def toggle_award(visit: Visit) -> PageResponse:
            """Add the viewer's award of an emoji or remove it."""
            return _toggle_award(find(visit))

    if kind.planned is not None:
        _subscription_pages(pages, kind, kind.planned)
        add_version_pages(pages, kind, kind.planned)
    return pages


def _quote(discussion: DiscussionView, note_id: object) -> str:
    """Return the text of a note of the discussion as a quote to answer; empty without one."""
    body = next((note.body for note in discussion.notes if str(note.id) == note_id and not note.system), "")
    return "\n".join(f"> {line}".rstrip() for line in body.splitlines()) + "\n\n" if body else ""


def _note_pages(pages: PageRoutes, kind: DiscussableKind) -> None:
    find, note_route = discussable_finder(kind), f"{kind.route}/discussions/:discussion_id/notes/:note_id"

    @pages.get(f"{note_route}/edit")
    def show_note_form(visit: Visit) -> PageResponse:
        """Show the form for editing a note."""
        discussable = find(visit)
        note_view = discussable.ask(kind.discussions.get_note, **_note_path(visit))
        subject_access = discussable.subject_access()
        if (
            note_view.system
            or not subject_access.may_participate
            or not (note_view.author.id == visit.viewer.signed_in.id or subject_access.may_moderate)
        ):
            raise NotFound("Note")
        return _note_form(
            discussable,
            _note_url(discussable),
            body=note_view.body,
            method="put",
            back=_return_path(visit.request.query.get("back")),
        )

    @pages.put(note_route, notice="Comment saved.")
    def edit_note(visit: Visit) -> PageResponse:
        """Update a note."""
        discussable = find(visit)
        params = {"body": form_field(visit.request.form, "note", "body")}
        try:
            edited = discussable.ask(kind.discussions.edit_note, params, **_note_path(visit))
        except FORM_ERRORS as error:
            return _note_form(discussable, _note_url(discussable), error, method="put")
        return _redirect_back(discussable, edited)

    @pages.delete(note_route, notice="Comment deleted.")
    def delete_note(visit: Visit) -> PageResponse:
        """Delete a note."""
        discussable = find(visit)
        discussable.ask(kind.discussions.delete_note, **_note_path(visit))
        return _redirect_back(discussable)


def _subscription_pages(pages: PageRoutes, kind: DiscussableKind, planned: PlannedHandlers) -> None:
    find, following = discussable_finder(kind), planned.planning.following

    @pages.post(
        f"{kind.route}/subscription", notice=notice_by_field("subscribed", {"true": "Subscribed."}, "Unsubscribed.")
    )
    def subscribe(visit: Visit) -> PageResponse:
        """Subscribe to it, or unsubscribe."""
        subscribed = visit.request.form.get("subscribed") == "true"
        return _ignore_unchanged(find(visit), following.subscribe if subscribed else following.unsubscribe)

    @pages.post(f"{kind.route}/todo", notice="To-do item added.")
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
    visit, note = discussable.visit, None
    event, planned = form_field(visit.request.form, "note", "state_event"), discussable.kind.planned
    changes_state = planned is not None and event in ("close", "reopen")
    if form_field(visit.request.form, "note", "body").strip() or not changes_state:
        note = _start_discussion(discussable)
    if planned is not None and changes_state:
        discussable.ask(planned.edit, {"state_event": event})
    return note


def _start_discussion(discussable: Discussable) -> Any:
    visit = discussable.visit
    fields = visit.request.form.get("note")
    position = fields.get("position") if isinstance(fields, dict) else None
    params = _note_params(visit) | ({"position": position} if isinstance(position, dict) else {})
    notes = discussable.kind.notes
    if notes is not None and not position and not form_field(visit.request.form, "note", "discussion"):
        return discussable.ask(notes.write_note, params)
    created = discussable.ask(discussable.kind.discussions.begin, params)
    return created.notes[0] if isinstance(created, DiscussionView) else created


def _note_params(visit: Visit) -> dict[str, Any]:
    params: dict[str, Any] = {"body": form_field(visit.request.form, "note", "body")}
    if form_field(visit.request.form, "note", "internal"):
        params["internal"] = "true"
    if sha := form_field(visit.request.form, "note", "merge_request_diff_head_sha"):
        params["merge_request_diff_head_sha"] = sha
    return params


def _toggle_award(discussable: Discussable) -> PageResponse:
    """Award an emoji, or remove the viewer's award."""
    visit = discussable.visit
    note_id, name = (
        str(visit.request.form.get("note_id") or ""),
        str(visit.request.form.get("name") or "").strip().strip(":"),
    )
    awards, path, subject = _awardable(discussable, note_id)
    award_id = own_award(visit, subject, name)
    try:
        if award_id is None:
            discussable.ask(awards.give_award, {"name": name}, **path)
        else:
            discussable.ask(awards.take_award_back, **path, award_id=award_id)
    except (Conflict, Invalid, NotFound, Unchanged) as error:
        if not visit.headers.fragment:
            return TemplateResponse(
                "discussions/error.html", {"discussable": discussable, "errors": error_messages(error)}, 422
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
    subject_access: SubjectAccess = discussable.find(awards.list_awards, **path)
    return awards, path, subject_access.subject


def _emoji_picker(discussable: Discussable, note_id: str, *, chosen: bool = False) -> TemplateResponse:
    visit, (_, _, subject) = discussable.visit, _awardable(discussable, note_id)
    awards = award_summaries(visit, subject).get((subject.kind, subject.id), [])
    search = str(visit.request.query.get("search") or "")[:_MAX_SEARCH_LENGTH]
    options = None if chosen or "shown" in visit.request.query else emoji_options(search)
    if options is None and not note_id:
        awards = with_default_awards(awards, discussable.default_awards)
    context = {"discussable": discussable, "awards": awards, "note_id": note_id or None}
    context |= {"search": search, "options": options}
    return TemplateResponse(
        "discussions/_awards_again.html" if visit.headers.fragment else "discussions/awards.html", context
    )


def _note_path(visit: Visit) -> dict[str, str]:
    return {name: visit.request.path[name] for name in ("discussion_id", "note_id")}


def _note_url(discussable: Discussable) -> str:
    path = discussable.visit.request.path
    return f"{discussable.url}/discussions/{path['discussion_id']}/notes/{path['note_id']}"


def _return_path(text: Any) -> str:
    """Return the local path to return to."""
    return local_path(text) or ""


def _redirect_back(discussable: Discussable, note: Any = None) -> LocalRedirect:
    """Redirect to the page of the form, at the new note if there is one."""
    back = _return_path(discussable.visit.request.form.get("back")).partition("#")[0]
    url = back if back.startswith(discussable.url) else discussable.url
    number = getattr(note, "id", None)
    return LocalRedirect(f"{url}#note_{number}" if isinstance(number, int) else url)


def _hidden_fields(visit: Visit) -> dict[str, str]:
    """Return the hidden fields of a form, so that they are retained when it is shown again."""
    fields = visit.request.form.get("note")
    if not isinstance(fields, dict):
        return {}
    hidden = {f"note[{name}]": value for name, value in fields.items() if isinstance(value, str) and name != "body"}
    position = fields.get("position")
    if isinstance(position, dict):
        hidden |= {f"note[position][{name}]": value for name, value in position.items() if isinstance(value, str)}
    return hidden


def _note_form(
    discussable: Discussable,
    action: str,
    error: Exception | None = None,
    *,
    body: str | None = None,
    method: str = "",
    back: str = "",
    hidden: dict[str, str] | None = None,
    resolvable: bool = False,
) -> TemplateResponse:
    visit = discussable.visit
    context = {
        "discussable": discussable,
        "action": action,
        "errors": error_messages(error) if error else [],
        "body": form_field(visit.request.form, "note", "body") if body is None else body,
        "method": method,
        "back": back or _return_path(visit.request.form.get("back")),
        "hidden": hidden or {},
        "resolvable": resolvable,
    }
    template = "discussions/_form.html" if visit.headers.fragment else "discussions/form.html"
    return TemplateResponse(template, context, 422 if error else 200)
