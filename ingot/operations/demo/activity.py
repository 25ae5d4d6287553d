"""Demo activity in the repository, created through the API endpoints."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.discussions import api as merge_request_discussions_api
from ingot.collaboration.merge_requests.merge import api as merge_api
from ingot.collaboration.snippets import api as snippets_api
from ingot.core.access.actor import Actor
from ingot.core.api.internal_client import InternalCaller, InternalClient, Target, V
from ingot.core.api.routes import AlternateResponse
from ingot.core.http.request import Origin
from ingot.errors import Conflict
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
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.statuses import api as statuses_api
from ingot.repositories.tags import api as tags_api
from ingot.repositories.wikis import api as wikis_api


class DemoClient:
    """Calls endpoints of the demo's project as one of its people."""

    def __init__(self, inside: InternalClient, actors: dict[str, Actor], base_url: str) -> None:
        self._inside = inside
        self._actors = actors
        self._origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")

    def ask(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any], **path: object) -> V:
        """Call an endpoint of the project and return its response."""
        path_params = {"id": f"{GROUP}/{PROJECT}"} | {name: str(value) for name, value in path.items()}
        caller = InternalCaller(self._actors[username], self._origin)
        return self._inside.call(caller, endpoint, Target(path_params, "projects"), sent)


def add_demo_activity(inside: InternalClient, actors: dict[str, Actor], base_url: str) -> None:
    """Create commits, merge requests, notes, wiki pages, a snippet and a release."""
    client, owner = DemoClient(inside, actors, base_url), DEMO_USERS[0].username
    existing_files = {"README.md"}
    for change in DEMO_COMMITS:
        # Commits to the protected branch are pushed by the owner, but name their author.
        committer = owner if change.branch == MAIN else change.author
        _commit(client, committer, change, existing_files)
    for title, content in WIKI:
        client.ask(owner, wikis_api.create_page, {"title": title, "content": content})
    client.ask(owner, snippets_api.create_project_snippet, SNIPPET)
    for request in DEMO_MERGE_REQUESTS:
        _open_merge_request(client, request)
    client.ask(owner, tags_api.create_tag, RELEASE)


def _commit(client: DemoClient, committer: str, change: DemoCommit, existing_files: set[str]) -> None:
    author = next(person for person in DEMO_USERS if person.username == change.author)
    actions = [
        {"action": "update" if path in existing_files else "create", "file_path": path, "content": content}
        for path, content in change.files.items()
    ]
    sent: dict[str, Any] = {"branch": change.branch, "commit_message": change.message, "actions": actions}
    sent |= {"author_name": author.name, "author_email": author.email}
    if change.creates_branch:
        sent["start_branch"] = MAIN
    client.ask(committer, commit_writing_api.create_commit, sent)
    if change.branch == MAIN:
        existing_files.update(change.files)


def _open_merge_request(client: DemoClient, request: DemoMergeRequest) -> None:
    sent = {"source_branch": request.branch, "target_branch": MAIN, "title": request.title}
    described = {**sent, "description": request.description}
    merge_request = client.ask(request.author, merge_requests_api.create_merge_request, described)
    if isinstance(merge_request, AlternateResponse):
        raise Conflict(f"The merge request {request.title!r} cannot be opened: {merge_request.content}")
    status = {"state": request.status, "name": "tests", "ref": request.branch}
    client.ask(request.author, statuses_api.post_status, status, sha=merge_request.sha)
    path_params = {"merge_request_iid": merge_request.iid}
    for name, text in request.comments:
        client.ask(name, merge_request_discussions_api.NOTES.write_note, {"body": text}, **path_params)
    if request.merged_by:
        client.ask(request.merged_by, merge_api.merge_merge_request, {}, **path_params)
