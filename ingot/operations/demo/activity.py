"""Demo activity in the repository, created through the API endpoints."""

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
    """Create commits, merge requests, notes, wiki pages, a snippet and a release."""
    origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")
    owner = DEMO_USERS[0].username

    def call(username: str, method: str, route: str, sent: dict[str, Any], **path: Any) -> Any:
        path_params = {"id": f"{GROUP}/{PROJECT}"} | {name: str(value) for name, value in path.items()}
        return client.call(InternalCaller(actors[username], origin), method, f"/projects/:id{route}", path_params, sent)

    existing_files = {"README.md"}
    for change in DEMO_COMMITS:
        # Commits to the protected branch are pushed by the owner, but name their author.
        committer = owner if change.branch == MAIN else change.author
        _commit(call, committer, change, existing_files)
    for title, content in WIKI:
        call(owner, "POST", "/wikis", {"title": title, "content": content})
    call(owner, "POST", "/snippets", SNIPPET)
    for request in DEMO_MERGE_REQUESTS:
        _open_merge_request(call, request)
    call(owner, "POST", "/repository/tags", RELEASE)


def _commit(call: ApiCall, committer: str, change: DemoCommit, existing_files: set[str]) -> None:
    author = next(person for person in DEMO_USERS if person.username == change.author)
    actions = [
        {"action": "update" if path in existing_files else "create", "file_path": path, "content": content}
        for path, content in change.files.items()
    ]
    sent: dict[str, Any] = {"branch": change.branch, "commit_message": change.message, "actions": actions}
    sent |= {"author_name": author.name, "author_email": author.email}
    if change.creates_branch:
        sent["start_branch"] = MAIN
    call(committer, "POST", "/repository/commits", sent)
    if change.branch == MAIN:
        existing_files.update(change.files)


def _open_merge_request(call: ApiCall, request: DemoMergeRequest) -> None:
    sent = {"source_branch": request.branch, "target_branch": MAIN, "title": request.title}
    merge_request = call(request.author, "POST", "/merge_requests", {**sent, "description": request.description})
    status = {"state": request.status, "name": "tests", "ref": request.branch}
    call(request.author, "POST", "/statuses/:sha", status, sha=merge_request.sha)
    for name, text in request.comments:
        call(
            name,
            "POST",
            "/merge_requests/:merge_request_iid/notes",
            {"body": text},
            merge_request_iid=merge_request.iid,
        )
    if request.merged_by:
        call(
            request.merged_by,
            "PUT",
            "/merge_requests/:merge_request_iid/merge",
            {},
            merge_request_iid=merge_request.iid,
        )
