"""The tools: a name, the endpoint that a tool calls, and the parts of its parameters and response that agents need."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.api.granular_permissions import has_permission
from ingot.core.api.openapi import input_schema
from ingot.core.api.route_table import RouteTable
from ingot.core.api.routes import Endpoint
from ingot.mcp import arguments
from ingot.mcp.arguments import ChosenCall

_PAGE = ("page", "per_page")
_ISSUE = ("iid", "title", "description", "state", "labels", "assignees.username", "author.username", "web_url")
_ISSUES = ("iid", "title", "state", "labels", "author.username", "updated_at")
_MERGE_REQUEST = (
    *("iid", "title", "description", "state", "draft", "source_branch", "target_branch", "sha", "author.username"),
    *("detailed_merge_status", "has_conflicts", "labels", "head_pipeline.id", "head_pipeline.status", "web_url"),
)
_MERGE_REQUESTS = ("iid", "title", "state", "draft", "source_branch", "target_branch", "author.username", "updated_at")
_NOTE = ("id", "body", "author.username", "system", "created_at")
_PIPELINE = ("id", "status", "ref", "sha", "source", "created_at", "web_url")
_JOB = ("id", "name", "stage", "status", "failure_reason", "allow_failure", "duration", "web_url")
_COMMIT = ("id", "title", "author_name", "created_at")
_SEARCH = (
    *("id", "iid", "title", "name", "path_with_namespace", "username", "state", "web_url"),
    *("path", "ref", "startline", "data", "project_id"),
)


class Tool(NamedTuple):
    """A tool that calls one endpoint."""

    name: str
    route: str
    takes: tuple[str, ...]
    """Parameters besides those of the path; the endpoint declares their types."""
    gives: tuple[str, ...] = ()
    """Attributes of the response; all of them if empty."""
    tail: bool = False
    """Whether only the end of a text is returned."""
    needs: tuple[str, ...] = ()
    """Required parameters besides those that the endpoint declares as required."""
    own: Mapping[str, Any] = MappingProxyType({})
    """Schemas of parameters that the endpoint does not have, or has in another form."""
    choose: Callable[[dict[str, Any], str], ChosenCall] | None = None
    """Chooses another endpoint by the arguments and the address of this server; without it, there is only one."""

    @property
    def reads_only(self) -> bool:
        """Return whether the tool changes nothing."""
        return self.route.startswith("GET ")


OFFSET = "offset"
_OFFSET = {
    OFFSET: {"type": "integer", "minimum": 0, "description": "First byte to return; a result has at most 50,000 bytes."}
}
_TEXT = {"type": "string"}
_SEARCH_SCOPES = (
    *("projects", "issues", "merge_requests", "milestones", "users", "snippet_titles", "snippet_blobs"),
    *("blobs", "commits", "notes", "wiki_blobs"),
)
_SEARCH_OWN = {
    "scope": {
        "type": "string",
        "enum": list(_SEARCH_SCOPES),
        "description": "Kind of objects; blobs, commits, notes and wiki_blobs in a project only.",
    },
    "project_id": {**_TEXT, "description": "Id or path of the project to search in."},
    "group_id": {**_TEXT, "description": "Id or path of the group to search in."},
}
_WORK_ITEM = {
    "url": {**_TEXT, "description": "Address of the issue, instead of project_id and work_item_iid."},
    "project_id": {**_TEXT, "description": "Id or path of the project."},
    "work_item_iid": {"type": "integer", "description": "Number of the issue in the project."},
}
_PROJECT = "/projects/:id"
_MR = f"{_PROJECT}/merge_requests/:merge_request_iid"
TOOLS = {
    tool.name: tool
    for tool in (
        # Names and parameters as GitLab documents them.
        Tool("get_mcp_server_version", "GET /version", ()),
        Tool(
            "create_issue",
            f"POST {_PROJECT}/issues",
            ("title", "description", "assignee_ids", "milestone_id", "labels", "confidential"),
            _ISSUE,
            needs=("title",),
        ),
        Tool("get_issue", f"GET {_PROJECT}/issues/:issue_iid", (), _ISSUE),
        Tool(
            "create_merge_request",
            f"POST {_PROJECT}/merge_requests",
            (
                *("title", "source_branch", "target_branch", "target_project_id", "description"),
                *("assignee_ids", "reviewer_ids", "labels", "milestone_id"),
            ),
            _MERGE_REQUEST,
            needs=("title", "source_branch", "target_branch"),
        ),
        Tool("get_merge_request", f"GET {_MR}", (), _MERGE_REQUEST),
        Tool("get_merge_request_commits", f"GET {_MR}/commits", _PAGE, _COMMIT),
        Tool("get_merge_request_diffs", f"GET {_MR}/diffs", _PAGE, ("old_path", "new_path", "diff", "deleted_file")),
        Tool("get_merge_request_pipelines", f"GET {_MR}/pipelines", _PAGE, _PIPELINE),
        Tool("get_pipeline_jobs", f"GET {_PROJECT}/pipelines/:pipeline_id/jobs", ("scope", *_PAGE), _JOB),
        Tool(
            "search",
            "GET /search",
            ("search", "state", "confidential", "order_by", "sort", *_PAGE),
            _SEARCH,
            needs=("scope",),
            own=_SEARCH_OWN,
            choose=arguments.search,
        ),
        Tool(
            "search_labels",
            f"GET {_PROJECT}/labels",
            ("search", *_PAGE),
            ("id", "name", "description", "color"),
            needs=("full_path", "is_project"),
            own={"full_path": _TEXT, "is_project": {"type": "boolean"}},
            choose=arguments.search_labels,
        ),
        Tool(
            "create_workitem_note",
            f"POST {_PROJECT}/issues/:issue_iid/notes",
            ("body", "internal"),
            _NOTE,
            own={**_WORK_ITEM, "discussion_id": {**_TEXT, "description": "Discussion to reply in."}},
            choose=arguments.create_work_item_note,
        ),
        Tool(
            "get_workitem_notes",
            f"GET {_PROJECT}/issues/:issue_iid/notes",
            (),
            _NOTE,
            own={
                **_WORK_ITEM,
                "first": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Number of notes."},
                "after": {**_TEXT, "description": "The next_page of the previous result."},
            },
            choose=arguments.get_work_item_notes,
        ),
        # What else an agent needs to work on a project.
        Tool("search_project", f"GET {_PROJECT}/search", ("scope", "search", "ref", *_PAGE), _SEARCH),
        Tool("list_projects", "GET /projects", ("search", "membership", *_PAGE), ("id", "path_with_namespace")),
        Tool(
            "get_project",
            f"GET {_PROJECT}",
            (),
            ("id", "path_with_namespace", "description", "default_branch", "visibility", "archived", "web_url"),
        ),
        Tool("list_tree", f"GET {_PROJECT}/repository/tree", ("path", "ref", "recursive", *_PAGE), ("path", "type")),
        Tool("get_file", f"GET {_PROJECT}/repository/files/:file_path/raw", ("ref",), own=_OFFSET),
        Tool("create_branch", f"POST {_PROJECT}/repository/branches", ("branch", "ref"), ("name", "commit.id")),
        Tool(
            "create_commit",
            f"POST {_PROJECT}/repository/commits",
            ("branch", "start_branch", "commit_message", "actions"),
            ("id", "title", "web_url"),
        ),
        Tool("list_commits", f"GET {_PROJECT}/repository/commits", ("ref_name", "path", *_PAGE), _COMMIT),
        Tool("list_issues", f"GET {_PROJECT}/issues", ("state", "labels", "search", *_PAGE), _ISSUES),
        Tool(
            "update_issue",
            f"PUT {_PROJECT}/issues/:issue_iid",
            ("title", "description", "state_event", "assignee_ids", "labels"),
            _ISSUE,
        ),
        Tool("get_issue_notes", f"GET {_PROJECT}/issues/:issue_iid/notes", _PAGE, _NOTE),
        Tool("create_issue_note", f"POST {_PROJECT}/issues/:issue_iid/notes", ("body",), _NOTE),
        Tool(
            "list_merge_requests",
            f"GET {_PROJECT}/merge_requests",
            ("state", "source_branch", "target_branch", "search", *_PAGE),
            _MERGE_REQUESTS,
        ),
        Tool("get_merge_request_notes", f"GET {_MR}/notes", _PAGE, _NOTE),
        Tool("create_merge_request_note", f"POST {_MR}/notes", ("body",), _NOTE),
        Tool(
            "merge_merge_request", f"PUT {_MR}/merge", ("sha", "squash", "should_remove_source_branch"), _MERGE_REQUEST
        ),
        Tool("list_pipelines", f"GET {_PROJECT}/pipelines", ("ref", "status", *_PAGE), _PIPELINE),
        Tool("get_job_log", f"GET {_PROJECT}/jobs/:job_id/trace", (), tail=True, own=_OFFSET),
    )
}


def endpoint_of(table: RouteTable[Endpoint], tool: Tool) -> Endpoint:
    """Return the endpoint that a tool calls."""
    method, path = tool.route.split()
    return table.declared_as(method, path)


def is_available(table: RouteTable[Endpoint], actor: Actor, tool: Tool, *, read_only: bool) -> bool:
    """Return whether the caller's token has the scope for a tool; in read-only mode, tools that write are missing."""
    return (tool.reads_only or not read_only) and has_permission(actor, endpoint_of(table, tool))


def describe(table: RouteTable[Endpoint], tool: Tool) -> dict[str, Any]:
    """Return the description of a tool as the protocol defines it."""
    return {
        "name": tool.name,
        "description": endpoint_of(table, tool).summary.split("\n")[0],
        "inputSchema": schema_of(table, tool),
        "annotations": {"readOnlyHint": tool.reads_only, "openWorldHint": False},
    }


def schema_of(table: RouteTable[Endpoint], tool: Tool) -> dict[str, Any]:
    """Return the schema of the arguments of a tool."""
    schema = input_schema(endpoint_of(table, tool))
    path = (
        {} if tool.choose is not None else {name: _path_schema(name, known) for name, known in schema["path"].items()}
    )
    properties = {**schema["properties"], **path, **tool.own}
    names = [*path, *tool.takes, *tool.own]
    required = [*path, *(name for name in schema["required"] if name in tool.takes), *tool.needs]
    return {
        "type": "object",
        "properties": {name: properties[name] for name in dict.fromkeys(names)},
        "required": list(dict.fromkeys(required)),
        "additionalProperties": False,
    }


def _path_schema(name: str, known: dict[str, Any]) -> dict[str, Any]:
    if name == "id":
        return {"type": "string", "description": "Number or full path of the project, also URL-encoded."}
    return {"type": "integer"} if name.endswith("_iid") else known
