"""Lets the people of the demo work on their repository, by the calls that everybody makes."""

from collections.abc import Callable
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.http.request import Origin
from ingot.operations.demo.repository import (
    DEMO_COMMITS,
    DEMO_MERGE_REQUESTS,
    MAIN,
    RELEASE,
    SNIPPET,
    WIKI,
    DemoCommit,
    DemoMergeRequest,
)
from ingot.operations.demo.users import DEMO_USERS
from ingot.operations.demo.work_items import GROUP, PROJECT

ApiCall = Callable[..., Any]


def add_demo_activity(client: InternalClient, actors: dict[str, Actor], base_url: str) -> None:
    """Commit, offer, talk and merge; the owner of the group writes the rest."""
    origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")
    owner = DEMO_USERS[0].username

    def call(who: str, method: str, route: str, sent: dict[str, Any], **path: Any) -> Any:
        named = {"id": f"{GROUP}/{PROJECT}"} | {name: str(value) for name, value in path.items()}
        return client.call(InternalCaller(actors[who], origin), method, f"/projects/:id{route}", named, sent)

    there = {"README.md"}
    for change in DEMO_COMMITS:
        # Only who may push to the main branch does so; the author is named all the same.
        committer = owner if change.branch == MAIN else change.author
        _commit(call, committer, change, there)
    for title, content in WIKI:
        call(owner, "POST", "/wikis", {"title": title, "content": content})
    call(owner, "POST", "/snippets", SNIPPET)
    for offer in DEMO_MERGE_REQUESTS:
        _open_merge_request(call, offer)
    call(owner, "POST", "/repository/tags", RELEASE)


def _commit(call: ApiCall, who: str, change: DemoCommit, there: set[str]) -> None:
    author = next(person for person in DEMO_USERS if person.username == change.author)
    actions = [
        {"action": "update" if path in there else "create", "file_path": path, "content": content}
        for path, content in change.files.items()
    ]
    sent: dict[str, Any] = {"branch": change.branch, "commit_message": change.message, "actions": actions}
    sent |= {"author_name": author.name, "author_email": author.email}
    if change.creates_branch:
        sent["start_branch"] = MAIN
    call(who, "POST", "/repository/commits", sent)
    if change.branch == MAIN:
        there.update(change.files)


def _open_merge_request(call: ApiCall, offer: DemoMergeRequest) -> None:
    sent = {"source_branch": offer.branch, "target_branch": MAIN, "title": offer.title}
    made = call(offer.author, "POST", "/merge_requests", {**sent, "description": offer.description})
    status = {"state": offer.status, "name": "tests", "ref": offer.branch}
    call(offer.author, "POST", "/statuses/:sha", status, sha=made.sha)
    for name, text in offer.said:
        call(name, "POST", "/merge_requests/:merge_request_iid/notes", {"body": text}, merge_request_iid=made.iid)
    if offer.merged_by:
        call(offer.merged_by, "PUT", "/merge_requests/:merge_request_iid/merge", {}, merge_request_iid=made.iid)
