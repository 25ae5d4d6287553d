"""Snippets."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.collaboration.snippets.queries import files_of_snippet
from ingot.collaboration.snippets.views import SnippetView
from ingot.core.errors import Failure
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_projects, render_html
from ingot.graphql.locators import snippet_path
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.rename("Snippet", visibilityLevel="visibility")
SNIPPET_MODELS = ("Snippet", "PersonalSnippet", "ProjectSnippet")


class SnippetBlob(msgspec.Struct):
    """A file of a snippet."""

    snippet: SnippetView
    path: str
    content: str


def snippet_by_id(context: QueryContext, snippet_id: int) -> Any:
    """Return a snippet that the caller may see."""
    place = snippet_path(context, snippet_id)
    return context.call(f"GET {place.route}", **place.path)


def _by_ids(context: QueryContext, arguments: Arguments) -> ConnectionPage:
    found = []
    for text in arguments["ids"][:20]:
        try:
            found.append(snippet_by_id(context, number_of(text, *SNIPPET_MODELS)))
        except Failure:  # Not visible, so it is left out.
            continue
    return connection_of(found, arguments)


@resolvers.single("Query.snippets")
def list_snippets(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return snippets by id, those of a project, public ones, or those of the caller."""
    if arguments.get("ids") is not None:
        return _by_ids(context, arguments)
    if arguments.get("projectId") is not None:
        number = number_of(arguments["projectId"], "Project")
        return listed(context, "GET /projects/:id/snippets", arguments, id=number)
    if arguments.get("explore"):
        return listed(context, "GET /snippets/public", arguments)
    return listed(context, "GET /snippets", arguments)


@resolvers.single("Project.snippets")
def list_project_snippets(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the snippets of a project."""
    if arguments.get("ids") is not None:
        page = _by_ids(context, arguments)
        return connection_of([each for each in page.nodes if each.project_id == project.id], {})
    return listed(context, "GET /projects/:id/snippets", arguments, id=project.id)


@resolvers.single(
    "UserCore.snippets",
    "CurrentUser.snippets",
    "MergeRequestAuthor.snippets",
    "MergeRequestAssignee.snippets",
    "MergeRequestReviewer.snippets",
    "MergeRequestParticipant.snippets",
)
def list_user_snippets(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage | None:
    """Return a page of the caller's snippets."""
    if user.id != context.actor.user_id:
        return None
    return (
        _by_ids(context, arguments) if arguments.get("ids") is not None else listed(context, "GET /snippets", arguments)
    )


@resolvers.value("Snippet.id")
def snippet_id(_: QueryContext, snippet: SnippetView) -> str:
    """Return the global id."""
    return to_global_id("PersonalSnippet" if snippet.project_id is None else "ProjectSnippet", snippet.id)


@resolvers.batch("Snippet.descriptionHtml")
def description_html(context: QueryContext, snippets: Sequence[SnippetView], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(context, snippets, lambda snippet: snippet.description, lambda snippet: snippet.project_id)


@resolvers.batch("Snippet.project")
def find_projects(context: QueryContext, snippets: Sequence[SnippetView], _: Arguments) -> list[Any]:
    """Return the projects of snippets; personal snippets have none."""
    found = load_projects(context, {each.project_id for each in snippets if each.project_id is not None})
    return [found.get(each.project_id or 0) for each in snippets]


@resolvers.single("Snippet.blobs")
def list_blobs(context: QueryContext, snippet: SnippetView, arguments: Arguments) -> ConnectionPage:
    """Return the files of a snippet, which the caller sees."""
    wanted = arguments.get("paths")
    files = context.read(lambda db: files_of_snippet(db, snippet.id))
    blobs = [SnippetBlob(snippet, each.path, each.content) for each in files if wanted is None or each.path in wanted]
    return connection_of(blobs, arguments)


@resolvers.value("SnippetBlob.name")
def blob_name(_: QueryContext, blob: SnippetBlob) -> str:
    """Return the name of the file."""
    return blob.path.rpartition("/")[2]


@resolvers.value("SnippetBlob.rawPath")
def blob_raw_path(context: QueryContext, blob: SnippetBlob) -> str:
    """Return the path of the raw file."""
    return blob.snippet.web_url.removeprefix(context.origin.base) + f"/raw/main/{quote(blob.path)}"


@resolvers.value("SnippetBlob.rawPlainData", "SnippetBlob.plainData")
def blob_text(_: QueryContext, blob: SnippetBlob) -> str:
    """Return the content."""
    return blob.content


@resolvers.value("SnippetBlob.size")
def blob_size(_: QueryContext, blob: SnippetBlob) -> int:
    """Return the number of bytes."""
    return len(blob.content.encode())


@resolvers.value("SnippetBlob.binary")
def is_binary(_: QueryContext, __: SnippetBlob) -> bool:
    """Return that the files of snippets are texts."""
    return False


@resolvers.value("SnippetBlob.mode")
def blob_mode(_: QueryContext, __: SnippetBlob) -> str:
    """Return the mode of the file."""
    return "100644"


@resolvers.value("Snippet.userPermissions")
def find_permissions(_: QueryContext, snippet: SnippetView) -> SnippetView:
    """Return the snippet as the parent of its permissions."""
    return snippet


@resolvers.single("SnippetPermissions.adminSnippet", "SnippetPermissions.updateSnippet")
def may_edit(context: QueryContext, snippet: SnippetView, _: Arguments) -> bool:
    """Return whether the caller may edit a snippet."""
    place = snippet_path(context, snippet.id)
    return context.allows(f"PUT {place.route}", **place.path)


@resolvers.value("SnippetPermissions.readSnippet")
def may_read(_: QueryContext, __: SnippetView) -> bool:
    """Return that the caller sees the snippet."""
    return True


@resolvers.single("SnippetPermissions.createNote", "SnippetPermissions.awardEmoji")
def may_comment(context: QueryContext, snippet: SnippetView, _: Arguments) -> bool:
    """Return whether the caller may comment on a snippet; personal ones have no notes."""
    place = snippet_path(context, snippet.id)
    return "snippet_id" in place.path and context.allows(f"POST {place.route}/notes", **place.path)
