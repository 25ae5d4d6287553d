"""Lets the people of the demo work on their repository, by the calls that everybody makes."""

from collections.abc import Callable
from typing import Any

from ingot.access.actor import Actor
from ingot.api.inside import Caller, Inside
from ingot.demo.people import PEOPLE
from ingot.demo.repository import CHANGES, MAIN, OFFERS, RELEASE, SNIPPET, WIKI, Change, Offer
from ingot.demo.work_items import GROUP, PROJECT
from ingot.http.request import Origin

Call = Callable[..., Any]


def work(inside: Inside, actors: dict[str, Actor], base_url: str) -> None:
    """Commit, offer, talk and merge; the owner of the group writes the rest."""
    origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")
    owner = PEOPLE[0].username

    def call(who: str, method: str, route: str, sent: dict[str, Any], **path: Any) -> Any:
        named = {"id": f"{GROUP}/{PROJECT}"} | {name: str(value) for name, value in path.items()}
        return inside.call(Caller(actors[who], origin), method, f"/projects/:id{route}", named, sent)

    there = {"README.md"}
    for change in CHANGES:
        # Only who may push to the main branch does so; the author is named all the same.
        committer = owner if change.branch == MAIN else change.author
        _commit(call, committer, change, there)
    for title, content in WIKI:
        call(owner, "POST", "/wikis", {"title": title, "content": content})
    call(owner, "POST", "/snippets", SNIPPET)
    for offer in OFFERS:
        _offer(call, offer)
    call(owner, "POST", "/repository/tags", RELEASE)


def _commit(call: Call, who: str, change: Change, there: set[str]) -> None:
    author = next(person for person in PEOPLE if person.username == change.author)
    actions = [
        {"action": "update" if path in there else "create", "file_path": path, "content": content}
        for path, content in change.files.items()
    ]
    sent: dict[str, Any] = {"branch": change.branch, "commit_message": change.message, "actions": actions}
    sent |= {"author_name": author.name, "author_email": author.email}
    if change.begins:
        sent["start_branch"] = MAIN
    call(who, "POST", "/repository/commits", sent)
    if change.branch == MAIN:
        there.update(change.files)


def _offer(call: Call, offer: Offer) -> None:
    sent = {"source_branch": offer.branch, "target_branch": MAIN, "title": offer.title}
    made = call(offer.author, "POST", "/merge_requests", {**sent, "description": offer.description})
    status = {"state": offer.status, "name": "tests", "ref": offer.branch}
    call(offer.author, "POST", "/statuses/:sha", status, sha=made.sha)
    for name, text in offer.said:
        call(name, "POST", "/merge_requests/:merge_request_iid/notes", {"body": text}, merge_request_iid=made.iid)
    if offer.merged_by:
        call(offer.merged_by, "PUT", "/merge_requests/:merge_request_iid/merge", {}, merge_request_iid=made.iid)
