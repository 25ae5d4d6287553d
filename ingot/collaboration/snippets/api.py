"""Endpoints of snippets."""

from ingot.collaboration.emoji.api import declare_award_routes
from ingot.collaboration.notes.api import DiscussionPaths, NotePaths, discussion_routes, note_routes
from ingot.collaboration.snippets import policy, queries, service
from ingot.collaboration.snippets.params import CreateProjectSnippet, CreateSnippet, EditSnippet, ListSnippets
from ingot.collaboration.snippets.policy import SnippetLookup
from ingot.collaboration.snippets.tables import Snippet, SnippetFile
from ingot.collaboration.snippets.views import SnippetView, UserAgentView, snippet_view, snippet_views, user_agent_view
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.levels import Access, Level
from ingot.core.access.rules import administrators, require, signed_in
from ingot.core.api.params import MissingParameter, given_fields, path_number
from ingot.core.api.routes import Call, RawResponse, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("snippets")
# Snippets have no history; clients request the only version by one of these names.
_FILE_REFS = frozenset({"main", "master", "HEAD"})


def project_snippet_in_path(call: Call) -> tuple[Access, SnippetLookup]:
    """Find the snippet in the path within a project."""
    lookup = queries.find_project_snippet(call.db, call.actor, call.path["id"], call.path["snippet_id"])
    return lookup.access, lookup


def snippet_in_path(call: Call) -> tuple[Access, SnippetLookup]:
    """Find the snippet in the path, in a project or personal."""
    lookup = queries.find_snippet(call.db, call.actor, path_number(call.path, "id"))
    return lookup.access, lookup


def _subject_access_in_path(call: Call) -> tuple[Access, SubjectAccess]:
    """Find the project snippet in the path as a subject of notes and award emoji."""
    access, lookup = project_snippet_in_path(call)
    return access, SubjectAccess(
        service.snippet_subject(lookup.snippet),
        may_participate=policy.may_participate(call.actor, access, lookup),
        may_moderate=policy.may_moderate(call.actor, access, lookup),
        may_set_times=access.level >= Level.OWNER or call.actor.admin,
    )


NOTES = note_routes(
    routes,
    _subject_access_in_path,
    NotePaths(
        notes="/projects/:id/snippets/:snippet_id/notes",
        note="/projects/:id/snippets/:snippet_id/notes/:note_id",
        awards="/projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji",
        award="/projects/:id/snippets/:snippet_id/notes/:note_id/award_emoji/:award_id",
    ),
)
DISCUSSIONS = discussion_routes(
    routes,
    _subject_access_in_path,
    DiscussionPaths(
        discussions="/projects/:id/snippets/:snippet_id/discussions",
        discussion="/projects/:id/snippets/:snippet_id/discussions/:discussion_id",
        notes="/projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes",
        note="/projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id",
    ),
)
AWARDS = declare_award_routes(
    routes,
    _subject_access_in_path,
    awards="/projects/:id/snippets/:snippet_id/award_emoji",
    award="/projects/:id/snippets/:snippet_id/award_emoji/:award_id",
)


def _snippet_response(call: Call, snippet: Snippet) -> SnippetView:
    return snippet_view(call.db, snippet, call.origin.base)


def _snippet_page(call: Call, listing: Listing[Snippet]) -> Listing[SnippetView]:
    return listing.of(snippet_views(call.db, listing.items, call.origin.base))


def _delete(call: Call, lookup: SnippetLookup | None) -> None:
    if lookup is not None:
        require(policy.may_edit_snippet(call.actor, lookup.access, lookup))
        service.delete_snippet(call.db, call.actor, lookup.snippet)


def _raw_response(file: SnippetFile) -> RawResponse:
    name = file.path.rpartition("/")[2]
    return RawResponse(file.content.encode(), headers=(content_disposition("inline", name), SANDBOX))


@routes.get("/projects/:id/snippets", on=project_in_path, may=policy.may_read_snippets, returns=list[SnippetView])
def list_project_snippets(call: Call, project: Project, page: Page) -> Listing[SnippetView]:
    """List the snippets of a project."""
    access, _ = project_in_path(call)
    return _snippet_page(call, queries.list_project_snippets(call.db, call.actor, access, project, page))


@routes.post("/projects/:id/snippets", on=project_in_path, may=policy.may_create_project_snippet, returns=SnippetView)
def create_project_snippet(call: Call, project: Project, params: CreateProjectSnippet) -> SnippetView:
    """Create a snippet in a project."""
    origin = call.origin.user_agent, call.origin.ip
    return _snippet_response(
        call, service.create_snippet(call.db, call.actor, project, params, params.visibility, *origin)
    )


@routes.delete("/projects/:id/snippets/:snippet_id", on=project_in_path, may=policy.may_access_snippets, returns=None)
def delete_project_snippet(call: Call, project: Project) -> None:
    """Delete a snippet of a project."""
    access, _ = project_in_path(call)
    snippet_id = path_number(call.path, "snippet_id")
    _delete(call, queries.project_snippet_or_none(call.db, call.actor, access, project, snippet_id))


@routes.get("/snippets", may=signed_in, returns=list[SnippetView])
def list_snippets(call: Call, params: ListSnippets, page: Page) -> Listing[SnippetView]:
    """List the caller's snippets."""
    return _snippet_page(call, queries.list_own_snippets(call.db, call.actor, params, page))


@routes.get("/snippets/public", may=signed_in, returns=list[SnippetView])
def list_public_snippets(call: Call, params: ListSnippets, page: Page) -> Listing[SnippetView]:
    """List the public personal snippets."""
    return _snippet_page(call, queries.list_public_snippets(call.db, params, page))


@routes.get("/snippets/all", may=administrators, returns=list[SnippetView])
def list_all_snippets(call: Call, params: ListSnippets, page: Page) -> Listing[SnippetView]:
    """List all snippets."""
    return _snippet_page(call, queries.list_all_snippets(call.db, params, page))


@routes.get("/snippets/:id", on=snippet_in_path, may=policy.may_read_snippet, returns=SnippetView)
@routes.get(
    "/projects/:id/snippets/:snippet_id", on=project_snippet_in_path, may=policy.may_read_snippet, returns=SnippetView
)
def get_snippet(call: Call, lookup: SnippetLookup) -> SnippetView:
    """Get a snippet."""
    return _snippet_response(call, lookup.snippet)


@routes.post("/snippets", may=signed_in, returns=SnippetView)
def create_snippet(call: Call, params: CreateSnippet) -> SnippetView:
    """Create a personal snippet."""
    require(policy.may_create_snippet(call.actor))
    origin = call.origin.user_agent, call.origin.ip
    return _snippet_response(
        call, service.create_snippet(call.db, call.actor, None, params, params.visibility, *origin)
    )


@routes.put("/snippets/:id", on=snippet_in_path, may=policy.may_edit_snippet, returns=SnippetView)
@routes.put(
    "/projects/:id/snippets/:snippet_id", on=project_snippet_in_path, may=policy.may_edit_snippet, returns=SnippetView
)
def edit_snippet(call: Call, lookup: SnippetLookup, params: EditSnippet) -> SnippetView:
    """Edit a snippet."""
    if not given_fields(params):
        raise MissingParameter("title")
    return _snippet_response(call, service.edit_snippet(call.db, call.actor, lookup.snippet, params))


@routes.delete("/snippets/:id", may=signed_in, returns=None)
def delete_snippet(call: Call) -> None:
    """Delete a snippet."""
    _delete(call, queries.snippet_or_none(call.db, call.actor, path_number(call.path, "id")))


@routes.get("/snippets/:id/raw", on=snippet_in_path, may=policy.may_read_snippet, returns=RawResponse)
@routes.get(
    "/projects/:id/snippets/:snippet_id/raw",
    on=project_snippet_in_path,
    may=policy.may_read_snippet,
    returns=RawResponse,
)
def get_raw_snippet(call: Call, lookup: SnippetLookup) -> RawResponse:
    """Get the raw content of a snippet's first file."""
    return _raw_response(queries.first_file(call.db, lookup.snippet.id))


@routes.get(
    "/snippets/:id/files/:ref/:file_path/raw", on=snippet_in_path, may=policy.may_read_snippet, returns=RawResponse
)
@routes.get(
    "/projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw",
    on=project_snippet_in_path,
    may=policy.may_read_snippet,
    returns=RawResponse,
)
def get_raw_snippet_file(call: Call, lookup: SnippetLookup) -> RawResponse:
    """Get the raw content of a file of a snippet."""
    if call.path["ref"] not in _FILE_REFS:
        raise NotFound("Reference")
    return _raw_response(queries.find_file(call.db, lookup.snippet.id, call.path["file_path"]))


@routes.get("/snippets/:id/user_agent_detail", on=snippet_in_path, may=administrators, returns=UserAgentView)
@routes.get(
    "/projects/:id/snippets/:snippet_id/user_agent_detail",
    on=project_snippet_in_path,
    may=administrators,
    returns=UserAgentView,
)
def get_snippet_origin(call: Call, lookup: SnippetLookup) -> UserAgentView:  # noqa: ARG001 - Every handler takes the call.
    """Get the user agent and IP address that created a snippet."""
    return user_agent_view(lookup.snippet)
