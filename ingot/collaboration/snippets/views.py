"""Response structs of snippets."""

from collections.abc import Sequence
from urllib.parse import quote

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.snippets.params import ListSnippets
from ingot.collaboration.snippets.queries import list_public_snippets, paths_by_snippet
from ingot.collaboration.snippets.tables import Snippet
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Timestamp
from ingot.projects.projects.queries import paths_of_projects

DEFAULT_REF = "main"
"""The ref name in the URLs of raw files; snippets have only one version."""


class SnippetFileView(View):
    """A file of a snippet and the URL of its raw content."""

    path: str
    raw_url: str


class SnippetView(View):
    """A snippet without its contents."""

    id: int
    title: str
    description: str | None
    visibility: str
    author: UserBrief
    created_at: Timestamp
    updated_at: Timestamp
    project_id: int | None
    web_url: str
    raw_url: str
    ssh_url_to_repo: str | None
    http_url_to_repo: str | None
    file_name: str
    files: list[SnippetFileView]
    imported: bool
    imported_from: str


class UserAgentView(View):
    """The user agent and IP address that created a snippet."""

    user_agent: str
    ip_address: str
    spamfilter_submitted: bool
    akismet_submitted: bool


def snippet_views(db: Connection, snippets: Sequence[Snippet], base: str) -> list[SnippetView]:
    """Build the views of a page of snippets, with one statement per relation."""
    if not snippets:
        return []
    users = users_by_ids(db, [snippet.author_id for snippet in snippets])
    files = paths_by_snippet(db, [snippet.id for snippet in snippets])
    project_paths = paths_of_projects(db, sorted({snippet.project_id for snippet in snippets if snippet.project_id}))
    return [
        _view(
            snippet,
            user_brief(users[snippet.author_id], base),
            files.get(snippet.id, []),
            _web_url(snippet, project_paths, base),
        )
        for snippet in snippets
    ]


def snippet_view(db: Connection, snippet: Snippet, base: str) -> SnippetView:
    """Build the view of a snippet."""
    return snippet_views(db, [snippet], base)[0]


def user_agent_view(snippet: Snippet) -> UserAgentView:
    """Build the view of the user agent and IP address."""
    return UserAgentView(snippet.user_agent, snippet.ip_address, spamfilter_submitted=False, akismet_submitted=False)


def _web_url(snippet: Snippet, project_paths: dict[int, str], base: str) -> str:
    prefix = f"/{project_paths[snippet.project_id]}" if snippet.project_id is not None else ""
    return f"{base}{prefix}/snippets/{snippet.id}"


def _view(snippet: Snippet, author: UserBrief, paths: list[str], web_url: str) -> SnippetView:
    return SnippetView(
        id=snippet.id,
        title=snippet.title,
        description=snippet.description,
        visibility=snippet.visibility,
        author=author,
        created_at=snippet.created_at,
        updated_at=snippet.updated_at,
        project_id=snippet.project_id,
        web_url=web_url,
        raw_url=f"{web_url}/raw",
        # Snippets are not stored as git repositories.
        ssh_url_to_repo=None,
        http_url_to_repo=None,
        file_name=paths[0] if paths else "",
        files=[SnippetFileView(path, f"{web_url}/raw/{DEFAULT_REF}/{quote(path)}") for path in paths],
        imported=False,
        imported_from="none",
    )


def public_snippet_views(db: Connection, page: Page, base: str) -> Listing[SnippetView]:
    """List public snippets for anyone; the API lists them only to signed-in callers, but shows each to all."""
    found = list_public_snippets(db, ListSnippets(), page)
    return found.of(snippet_views(db, found.items, base))
