"""What visitors add to a discussion, change and take back; the same for whatever is talked about."""

from typing import Any

from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.discussions.awards import award_summaries, emoji_options, own_award_id
from ingot.web.discussions.discussable import Discussable, DiscussableKind, discussable_finder
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
    """Declare what can be said below the page of a kind of thing."""
    pages, find = PageRoutes(), discussable_finder(kind)
    address = kind.address
    discussion, note = f"{address}/discussions/:discussion_id", f"{address}/discussions/:discussion_id/notes/:note_id"

    @pages.post(f"{address}/notes")
    def write_note(visit: Visit) -> PageResponse:
        """Say something; the same form closes and reopens what it is about."""
        ground = find(visit)
        try:
            return _redirect_back(ground, _create_note(ground))
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, f"{ground.url}/notes", refusal, hidden=_hidden_fields(visit))

    @pages.get(f"{discussion}/notes/new")
    def show_reply_form(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
        """What is there to answer."""
        ground = find(visit)
        found = ground.get("/discussions/:discussion_id", discussion_id=visit.path["discussion_id"])
        open_yet = any(note.resolvable and not note.resolved for note in found.notes)
        may_resolve = kind.is_resolvable and ground.may("PUT", "/discussions/:discussion_id", discussion_id=found.id)
        url, back = f"{ground.url}/discussions/{found.id}/notes", _return_path(visit.query.get("back"))
        return _note_form(ground, url, body="", back=back, resolvable=open_yet and may_resolve)

    @pages.post(f"{discussion}/notes")
    def reply(visit: Visit) -> PageResponse:
        """Answer, and settle the discussion where that is wished."""
        ground, number = find(visit), visit.path["discussion_id"]
        try:
            said = ground.call("POST", "/discussions/:discussion_id/notes", _note_text(visit), discussion_id=number)
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, f"{ground.url}/discussions/{number}/notes", refusal, hidden=_hidden_fields(visit))
        if kind.is_resolvable and form_field(visit.form, "note", "resolved"):
            resolved = {"resolved": form_field(visit.form, "note", "resolved")}
            ground.call("PUT", "/discussions/:discussion_id", resolved, discussion_id=number)
        return _redirect_back(ground, said)

    @pages.get(f"{note}/edit")
    def show_note_form(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
        """A note to be changed."""
        ground = find(visit)
        found = ground.get("/discussions/:discussion_id/notes/:note_id", **_emoji_name(visit))
        reached = ground.reached()
        if (
            found.system
            or not reached.may_participate
            or not (found.author.id == visit.signed_in.id or reached.may_moderate)
        ):
            raise NotFound("Note")
        return _note_form(
            ground, _note_url(ground), body=found.body, method="put", back=_return_path(visit.query.get("back"))
        )

    @pages.put(note)
    def edit_note(visit: Visit) -> PageResponse:
        """Let it read differently."""
        ground = find(visit)
        sent = {"body": form_field(visit.form, "note", "body")}
        try:
            edited = ground.call("PUT", "/discussions/:discussion_id/notes/:note_id", sent, **_emoji_name(visit))
        except _REDISPLAYED_FIELDS as refusal:
            return _note_form(ground, _note_url(ground), refusal, method="put")
        return _redirect_back(ground, edited)

    @pages.delete(note)
    def delete_note(visit: Visit) -> PageResponse:
        """Take it away."""
        ground = find(visit)
        ground.call("DELETE", "/discussions/:discussion_id/notes/:note_id", **_emoji_name(visit))
        return _redirect_back(ground)

    if kind.is_resolvable:

        @pages.put(discussion)
        def resolve(visit: Visit) -> PageResponse:
            """Settle a discussion, or open it again."""
            ground = find(visit)
            sent = {"resolved": visit.form.get("resolved")}
            found = ground.call("PUT", "/discussions/:discussion_id", sent, discussion_id=visit.path["discussion_id"])
            return _redirect_back(ground, found.notes[0])

    if kind.emoji:

        @pages.get(f"{address}/award_emoji")
        def show_emoji(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
            """Which emoji can be given."""
            return _emoji_picker(find(visit), str(visit.query.get("note_id") or ""))

        @pages.post(f"{address}/award_emoji")
        def toggle_award(visit: Visit) -> PageResponse:
            """Give an emoji, or take it back."""
            return _toggle_award(find(visit))

    if kind.follows:
        _subscription_pages(pages, kind)
    return pages


def _subscription_pages(pages: PageRoutes, kind: DiscussableKind) -> None:
    find = discussable_finder(kind)

    @pages.post(f"{kind.address}/subscription")
    def follow(visit: Visit) -> PageResponse:
        """Hear of what becomes of it, or no longer."""
        ground = find(visit)
        return _ignore_unchanged(ground, "/subscribe" if visit.form.get("subscribed") == "true" else "/unsubscribe")

    @pages.post(f"{kind.address}/todo")
    def add_todo(visit: Visit) -> PageResponse:
        """Put it on one's own list."""
        return _ignore_unchanged(find(visit), "/todo")


def _ignore_unchanged(discussable: Discussable, route: str) -> PageResponse:
    try:
        discussable.call("POST", route)
    except Unchanged:
        pass  # Somebody pressed it twice.
    return _redirect_back(discussable)


def _create_note(discussable: Discussable) -> Any:
    """A note, where there is something to say, and what the same button does besides."""
    visit, said = discussable.visit, None
    event = form_field(visit.form, "note", "state_event")
    if event not in ("close", "reopen") or not discussable.kind.follows:
        event = ""
    if form_field(visit.form, "note", "body").strip() or not event:
        said = _start_discussion(discussable)
    if event:
        discussable.call("PUT", "", {"state_event": event})
    return said


def _start_discussion(discussable: Discussable) -> Any:
    visit = discussable.visit
    fields = visit.form.get("note")
    position = fields.get("position") if isinstance(fields, dict) else None
    sent = _note_text(visit) | ({"position": position} if isinstance(position, dict) else {})
    if discussable.kind.alone and not position and not form_field(visit.form, "note", "discussion"):
        return discussable.call("POST", "/notes", sent)
    begun = discussable.call("POST", "/discussions", sent)
    return begun.notes[0] if hasattr(begun, "notes") else begun


def _note_text(visit: Visit) -> dict[str, Any]:
    sent: dict[str, Any] = {"body": form_field(visit.form, "note", "body")}
    if form_field(visit.form, "note", "internal"):
        sent["internal"] = "true"
    if sha := form_field(visit.form, "note", "merge_request_diff_head_sha"):
        sent["merge_request_diff_head_sha"] = sha
    return sent


def _toggle_award(discussable: Discussable) -> PageResponse:
    """A vote for or against takes the other one back, as people expect of it."""
    visit = discussable.visit
    note_id, name = str(visit.form.get("note_id") or ""), str(visit.form.get("name") or "").strip().strip(":")
    base, path, subject = _awardable(discussable, note_id)
    given = own_award_id(visit, subject.kind, subject.id, name)
    try:
        if given is None:
            discussable.call("POST", f"{base}/award_emoji", {"name": name}, **path)
        else:
            discussable.call("DELETE", f"{base}/award_emoji/:award_id", **path, award_id=given)
    except (Conflict, Invalid, NotFound, Unchanged) as refusal:
        if not visit.fragment:
            return TemplateResponse(
                "discussions/refused.html", {"discussable": discussable, "errors": error_messages(refusal)}, 422
            )
    if not visit.fragment:
        return LocalRedirect(discussable.url + (f"#note_{note_id}" if note_id else ""))
    return _emoji_picker(discussable, note_id, chosen=True)


def _awardable(discussable: Discussable, note_id: str) -> tuple[str, dict[str, str], Any]:
    """What emoji are given to: a note, or what it is all about."""
    base, path = ("/notes/:note_id", {"note_id": note_id}) if note_id else ("", {})
    found = discussable.visit.find("GET", f"{discussable.kind.route}{base}/award_emoji", **discussable.named(path))
    return base, path, found.subject


def _emoji_picker(discussable: Discussable, note_id: str, *, chosen: bool = False) -> TemplateResponse:
    visit, (_, _, subject) = discussable.visit, _awardable(discussable, note_id)
    awards = award_summaries(visit, {subject.kind: [subject.id]}).get((subject.kind, subject.id), [])
    search = str(visit.query.get("search") or "")[:_MAX_SEARCH_LENGTH]
    shown = {"discussable": discussable, "awards": awards, "note_id": note_id or None, "search": search}
    shown["offers"] = None if chosen or "shown" in visit.query else emoji_options(search)
    return TemplateResponse("discussions/_awards_again.html" if visit.fragment else "discussions/awards.html", shown)


def _emoji_name(visit: Visit) -> dict[str, str]:
    return {name: visit.path[name] for name in ("discussion_id", "note_id")}


def _note_url(discussable: Discussable) -> str:
    path = discussable.visit.path
    return f"{discussable.url}/discussions/{path['discussion_id']}/notes/{path['note_id']}"


def _return_path(text: Any) -> str:
    """Where the visitor wants to go back to."""
    return local_path(text) or ""


def _redirect_back(discussable: Discussable, said: Any = None) -> LocalRedirect:
    """To the page that the form was on, at what was said, if that is there to be seen."""
    back = _return_path(discussable.visit.form.get("back")).partition("#")[0]
    here = back if back.startswith(discussable.url) else discussable.url
    number = getattr(said, "id", None)
    return LocalRedirect(f"{here}#note_{number}" if isinstance(number, int) else here)


def _hidden_fields(visit: Visit) -> dict[str, str]:
    """What a form holds besides the text, so that nothing is lost when it is shown again."""
    fields = visit.form.get("note")
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
        "body": form_field(visit.form, "note", "body") if body is None else body,
        "method": method,
        "back": back or _return_path(visit.form.get("back")),
        "hidden": hidden or {},
        "resolvable": resolvable,
    }
    template = "discussions/_form.html" if visit.fragment else "discussions/form.html"
    return TemplateResponse(template, shown, 422 if refusal else 200)
