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
    CONFLICTING_COMMIT,
    DEMO_COMMITS,
    DEMO_MERGE_REQUESTS,
    MAIN,
    RELEASE,
    REVIEW_COMMENT,
    REVIEWED_FILE,
    REVIEWED_LINE,
    REVIEWER,
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

    def __init__(
        self, inside: InternalClient, actors: dict[str, Actor], base_url: str, project: str = f"{GROUP}/{PROJECT}"
    ) -> None:
        self._inside = inside
        self._actors = actors
        self._base_url = base_url
        self._origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")
        self._project = project

    def of_project(self, path: str) -> "DemoClient":
        """Return a client for another project."""
        return DemoClient(self._inside, self._actors, self._base_url, path)

    def ask_instance(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any]) -> V:
        """Call an endpoint that concerns no project."""
        return self._inside.call(InternalCaller(self._actors[username], self._origin), endpoint, Target({}), sent)

    def ask(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any], **path: object) -> V:
        """Call an endpoint of the project and return its response."""
        path_params = {"id": self._project} | {name: str(value) for name, value in path.items()}
        caller = InternalCaller(self._actors[username], self._origin)
        return self._inside.call(caller, endpoint, Target(path_params, "projects"), sent)


def add_demo_activity(client: DemoClient) -> None:
    """Create commits, merge requests, notes, wiki pages, a snippet and a release."""
    owner = DEMO_USERS[0].username
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
    _review_lines(client)
    _commit(client, owner, CONFLICTING_COMMIT, existing_files)
    client.ask(owner, tags_api.create_tag, RELEASE)


def _review_lines(client: DemoClient) -> None:
    """Discuss a line of the first merge request, with a suggestion that can be applied."""
    path_params = {"merge_request_iid": 1}
    request = client.ask(REVIEWER, merge_requests_api.get_merge_request, {}, **path_params)
    refs = request.diff_refs
    if refs is None:
        return
    position = {"base_sha": refs.base_sha, "start_sha": refs.start_sha, "head_sha": refs.head_sha}
    position |= {"position_type": "text", "old_path": REVIEWED_FILE, "new_path": REVIEWED_FILE}
    sent = {"body": REVIEW_COMMENT, "position": {**position, "new_line": REVIEWED_LINE}}
    client.ask(REVIEWER, merge_request_discussions_api.create_discussion, sent, **path_params)


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
