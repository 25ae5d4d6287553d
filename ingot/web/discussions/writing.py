"""What visitors add to a discussion, change and take back; the same for whatever is talked about."""

from typing import Any

from ingot.api.params import Missing
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound, Unchanged
from ingot.web.discussions.awards import given_to, offers, own_award
from ingot.web.discussions.ground import Ground, Kind, ground_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part, local_path
from ingot.web.refusals import sentences

_SHOWN_AGAIN = (Invalid, Conflict, Missing)
_LONGEST_SEARCH = 64


def talk_pages(kind: Kind) -> Pages:
    """Declare what can be said below the page of a kind of thing."""
    pages, find = Pages(), ground_of(kind)
    address = kind.address
    discussion, note = f"{address}/discussions/:discussion_id", f"{address}/discussions/:discussion_id/notes/:note_id"

    @pages.post(f"{address}/notes")
    def write_note(visit: Visit) -> Reply:
        """Say something; the same form closes and reopens what it is about."""
        ground = find(visit)
        try:
            return _back(ground, _written(ground))
        except _SHOWN_AGAIN as refusal:
            return _form(ground, f"{ground.url}/notes", refusal, hidden=_kept(visit))

    @pages.get(f"{discussion}/notes/new")
    def show_reply_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
        """What is there to answer."""
        ground = find(visit)
        found = ground.get("/discussions/:discussion_id", discussion_id=visit.path["discussion_id"])
        open_yet = any(note.resolvable and not note.resolved for note in found.notes)
        may_resolve = kind.resolves and ground.may("PUT", "/discussions/:discussion_id", discussion_id=found.id)
        url, back = f"{ground.url}/discussions/{found.id}/notes", _wanted(visit.query.get("back"))
        return _form(ground, url, body="", back=back, resolvable=open_yet and may_resolve)

    @pages.post(f"{discussion}/notes")
    def reply(visit: Visit) -> Reply:
        """Answer, and settle the discussion where that is wished."""
        ground, number = find(visit), visit.path["discussion_id"]
        try:
            said = ground.call("POST", "/discussions/:discussion_id/notes", _said(visit), discussion_id=number)
        except _SHOWN_AGAIN as refusal:
            return _form(ground, f"{ground.url}/discussions/{number}/notes", refusal, hidden=_kept(visit))
        if kind.resolves and form_part(visit.form, "note", "resolved"):
            resolved = {"resolved": form_part(visit.form, "note", "resolved")}
            ground.call("PUT", "/discussions/:discussion_id", resolved, discussion_id=number)
        return _back(ground, said)

    @pages.get(f"{note}/edit")
    def show_note_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
        """A note to be changed."""
        ground = find(visit)
        found = ground.get("/discussions/:discussion_id/notes/:note_id", **_named(visit))
        reached = ground.reached()
        if found.system or not reached.takes_part or not (found.author.id == visit.signed_in.id or reached.moderates):
            raise NotFound("Note")
        return _form(ground, _note_url(ground), body=found.body, method="put", back=_wanted(visit.query.get("back")))

    @pages.put(note)
    def edit_note(visit: Visit) -> Reply:
        """Let it read differently."""
        ground = find(visit)
        sent = {"body": form_part(visit.form, "note", "body")}
        try:
            edited = ground.call("PUT", "/discussions/:discussion_id/notes/:note_id", sent, **_named(visit))
        except _SHOWN_AGAIN as refusal:
            return _form(ground, _note_url(ground), refusal, method="put")
        return _back(ground, edited)

    @pages.delete(note)
    def delete_note(visit: Visit) -> Reply:
        """Take it away."""
        ground = find(visit)
        ground.call("DELETE", "/discussions/:discussion_id/notes/:note_id", **_named(visit))
        return _back(ground)

    if kind.resolves:

        @pages.put(discussion)
        def resolve(visit: Visit) -> Reply:
            """Settle a discussion, or open it again."""
            ground = find(visit)
            sent = {"resolved": visit.form.get("resolved")}
            found = ground.call("PUT", "/discussions/:discussion_id", sent, discussion_id=visit.path["discussion_id"])
            return _back(ground, found.notes[0])

    if kind.emoji:

        @pages.get(f"{address}/award_emoji")
        def show_emoji(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
            """Which emoji can be given."""
            return _choose(find(visit), str(visit.query.get("note_id") or ""))

        @pages.post(f"{address}/award_emoji")
        def toggle_award(visit: Visit) -> Reply:
            """Give an emoji, or take it back."""
            return _toggle(find(visit))

    if kind.follows:
        _follow_pages(pages, kind)
    return pages


def _follow_pages(pages: Pages, kind: Kind) -> None:
    find = ground_of(kind)

    @pages.post(f"{kind.address}/subscription")
    def follow(visit: Visit) -> Reply:
        """Hear of what becomes of it, or no longer."""
        ground = find(visit)
        return _unless_so(ground, "/subscribe" if visit.form.get("subscribed") == "true" else "/unsubscribe")

    @pages.post(f"{kind.address}/todo")
    def add_todo(visit: Visit) -> Reply:
        """Put it on one's own list."""
        return _unless_so(find(visit), "/todo")


def _unless_so(ground: Ground, route: str) -> Reply:
    try:
        ground.call("POST", route)
    except Unchanged:
        pass  # Somebody pressed it twice.
    return _back(ground)


def _written(ground: Ground) -> Any:
    """A note, where there is something to say, and what the same button does besides."""
    visit, said = ground.visit, None
    event = form_part(visit.form, "note", "state_event")
    if event not in ("close", "reopen") or not ground.kind.follows:
        event = ""
    if form_part(visit.form, "note", "body").strip() or not event:
        said = _begun(ground)
    if event:
        ground.call("PUT", "", {"state_event": event})
    return said


def _begun(ground: Ground) -> Any:
    visit = ground.visit
    fields = visit.form.get("note")
    position = fields.get("position") if isinstance(fields, dict) else None
    sent = _said(visit) | ({"position": position} if isinstance(position, dict) else {})
    if ground.kind.alone and not position and not form_part(visit.form, "note", "discussion"):
        return ground.call("POST", "/notes", sent)
    begun = ground.call("POST", "/discussions", sent)
    return begun.notes[0] if hasattr(begun, "notes") else begun


def _said(visit: Visit) -> dict[str, Any]:
    sent: dict[str, Any] = {"body": form_part(visit.form, "note", "body")}
    if form_part(visit.form, "note", "internal"):
        sent["internal"] = "true"
    if sha := form_part(visit.form, "note", "merge_request_diff_head_sha"):
        sent["merge_request_diff_head_sha"] = sha
    return sent


def _toggle(ground: Ground) -> Reply:
    """A vote for or against takes the other one back, as people expect of it."""
    visit = ground.visit
    note_id, name = str(visit.form.get("note_id") or ""), str(visit.form.get("name") or "").strip().strip(":")
    base, path, subject = _rewarded(ground, note_id)
    given = own_award(visit, subject.kind, subject.id, name)
    try:
        if given is None:
            ground.call("POST", f"{base}/award_emoji", {"name": name}, **path)
        else:
            ground.call("DELETE", f"{base}/award_emoji/:award_id", **path, award_id=given)
    except (Conflict, Invalid, NotFound, Unchanged) as refusal:
        if not visit.fragment:
            return Page("discussions/refused.html", {"ground": ground, "errors": sentences(refusal)}, 422)
    if not visit.fragment:
        return Redirect(ground.url + (f"#note_{note_id}" if note_id else ""))
    return _choose(ground, note_id, chosen=True)


def _rewarded(ground: Ground, note_id: str) -> tuple[str, dict[str, str], Any]:
    """What emoji are given to: a note, or what it is all about."""
    base, path = ("/notes/:note_id", {"note_id": note_id}) if note_id else ("", {})
    found = ground.visit.find("GET", f"{ground.kind.route}{base}/award_emoji", **ground.named(path))
    return base, path, found.subject


def _choose(ground: Ground, note_id: str, *, chosen: bool = False) -> Page:
    visit, (_, _, subject) = ground.visit, _rewarded(ground, note_id)
    awards = given_to(visit, {subject.kind: [subject.id]}).get((subject.kind, subject.id), [])
    search = str(visit.query.get("search") or "")[:_LONGEST_SEARCH]
    shown = {"ground": ground, "awards": awards, "note_id": note_id or None, "search": search}
    shown["offers"] = None if chosen or "shown" in visit.query else offers(search)
    return Page("discussions/_awards_again.html" if visit.fragment else "discussions/awards.html", shown)


def _named(visit: Visit) -> dict[str, str]:
    return {name: visit.path[name] for name in ("discussion_id", "note_id")}


def _note_url(ground: Ground) -> str:
    path = ground.visit.path
    return f"{ground.url}/discussions/{path['discussion_id']}/notes/{path['note_id']}"


def _wanted(text: Any) -> str:
    """Where the visitor wants to go back to."""
    return local_path(text) or ""


def _back(ground: Ground, said: Any = None) -> Redirect:
    """To the page that the form was on, at what was said, if that is there to be seen."""
    back = _wanted(ground.visit.form.get("back")).partition("#")[0]
    here = back if back.startswith(ground.url) else ground.url
    number = getattr(said, "id", None)
    return Redirect(f"{here}#note_{number}" if isinstance(number, int) else here)


def _kept(visit: Visit) -> dict[str, str]:
    """What a form holds besides the text, so that nothing is lost when it is shown again."""
    fields = visit.form.get("note")
    if not isinstance(fields, dict):
        return {}
    kept = {f"note[{name}]": value for name, value in fields.items() if isinstance(value, str) and name != "body"}
    position = fields.get("position")
    if isinstance(position, dict):
        kept |= {f"note[position][{name}]": value for name, value in position.items() if isinstance(value, str)}
    return kept


def _form(
    ground: Ground,
    action: str,
    refusal: Exception | None = None,
    *,
    body: str | None = None,
    method: str = "",
    back: str = "",
    hidden: dict[str, str] | None = None,
    resolvable: bool = False,
) -> Page:
    visit = ground.visit
    shown = {
        "ground": ground,
        "action": action,
        "errors": sentences(refusal) if refusal else [],
        "body": form_part(visit.form, "note", "body") if body is None else body,
        "method": method,
        "back": back or _wanted(visit.form.get("back")),
        "hidden": hidden or {},
        "resolvable": resolvable,
    }
    template = "discussions/_form.html" if visit.fragment else "discussions/form.html"
    return Page(template, shown, 422 if refusal else 200)
