"""Projects."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.merge_requests.service import MAX_ASSIGNEES
from ingot.core.access.levels import Level
from ingot.core.errors import Failure
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_groups, load_projects, render_html
from ingot.graphql.params import issue_filters, merge_request_filters, order
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.graphql.schema_loader import snake_case
from ingot.projects.projects.views import ProjectView, SimpleProjectView

resolvers = Resolvers()
resolvers.types[SimpleProjectView] = "Project"
resolvers.rename("Project", fullPath="path_with_namespace")
resolvers.rename("ProjectStatistics", buildArtifactsSize="job_artifacts_size")
CI_CD_SETTINGS = {
    "ci_job_token_scope_enabled": "inboundJobTokenScopeEnabled",
    "keep_latest_artifact": "keepLatestArtifact",
    "merge_pipelines_enabled": "mergePipelinesEnabled",
    "merge_trains_enabled": "mergeTrainsEnabled",
    "merge_trains_skip_train_allowed": "mergeTrainsSkipTrainAllowed",
    "ci_pipeline_variables_minimum_override_role": "pipelineVariablesMinimumOverrideRole",
    "ci_push_repository_for_job_token_allowed": "pushRepositoryForJobTokenAllowed",
}
"""Attributes of projects by the names of their CI/CD settings."""
_LEVELS = {0: "NO_ACCESS", 10: "GUEST", 20: "REPORTER", 30: "DEVELOPER", 40: "MAINTAINER", 50: "OWNER"}
_LEVEL_NUMBERS = {name: number for number, name in _LEVELS.items()}


@resolvers.single("Query.project")
def find_project(context: QueryContext, _: Any, arguments: Arguments) -> Any:
    """Return a project by its path."""
    return context.call("GET /projects/:id", id=arguments["fullPath"])


@resolvers.single("Query.projects")
def list_projects(context: QueryContext, _: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the projects that the caller may see."""
    if arguments.get("ids") is not None:
        numbers = [number_of(each, "Project") for each in arguments["ids"]][:100]
        found = load_projects(context, numbers)
        return connection_of([found[each] for each in numbers if found[each]], arguments)
    if arguments.get("fullPaths") is not None:
        return connection_of(_projects_at(context, arguments["fullPaths"][:50]), arguments)
    params = {
        "search": arguments.get("search"),
        "membership": arguments.get("membership"),
        "topic": ",".join(arguments.get("topics") or []) or None,
        "min_access_level": _LEVEL_NUMBERS.get(arguments.get("minAccessLevel") or ""),
        "with_issues_enabled": arguments.get("withIssuesEnabled"),
        "with_merge_requests_enabled": arguments.get("withMergeRequestsEnabled"),
        "archived": {"ONLY": True, "EXCLUDE": False}.get(arguments.get("archived") or ""),
        **order(arguments.get("sort"), "id"),
    }
    return listed(context, "GET /projects", arguments, params)


def _projects_at(context: QueryContext, paths: Sequence[str]) -> list[Any]:
    found = []
    for path in paths:
        try:
            found.append(context.call("GET /projects/:id", id=path))
        except Failure:  # Not visible, so it is left out.
            continue
    return found


@resolvers.value("Project.id")
def project_id(_: QueryContext, project: Any) -> str:
    """Return the global id."""
    return to_global_id("Project", project.id)


@resolvers.single("Project.ciCdSettings", call="GET project")
def find_ci_cd_settings(context: QueryContext, project: Any, _: Arguments) -> dict[str, Any] | None:
    """Return the CI/CD settings of a project; null if the caller may not change them."""
    if not context.allows("PUT /projects/:id", id=project.id):
        return None
    return ci_cd_settings(context.call("GET /projects/:id", id=project.id))


def ci_cd_settings(project: Any) -> dict[str, Any]:
    """Return the CI/CD settings of a project by the names of their fields."""
    return {"project": project} | {snake_case(field): getattr(project, name) for name, field in CI_CD_SETTINGS.items()}


@resolvers.batch("Project.descriptionHtml")
def description_html(context: QueryContext, projects: Sequence[Any], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(context, projects, lambda project: project.description, lambda project: project.id)


@resolvers.value("Project.tagList")
def tag_list(_: QueryContext, project: Any) -> str:
    """Return the topics as one text."""
    return ", ".join(project.tag_list)


@resolvers.value("Project.isForked")
def is_forked(_: QueryContext, project: Any) -> bool:
    """Return whether the project is a fork whose parent the caller may see."""
    return bool(getattr(project, "forked_from_project", None))


@resolvers.batch("Project.forkedFrom")
def forked_from(context: QueryContext, projects: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects that the projects were forked from."""
    numbers = [project.forked_from_project.id if project.forked_from_project else None for project in projects]
    found = load_projects(context, [number for number in numbers if number is not None])
    return [found.get(number) if number is not None else None for number in numbers]


@resolvers.value("Project.mergeRequestsFfOnlyEnabled")
def merges_by_fast_forward(_: QueryContext, project: Any) -> bool:
    """Return whether merges are fast-forward merges."""
    return bool(project.merge_method == "ff")


@resolvers.value("Project.squashReadOnly")
def prescribes_squashing(_: QueryContext, project: Any) -> bool:
    """Return whether the project decides for all merge requests whether commits are squashed."""
    return project is not None and project.squash_option in ("always", "never")


@resolvers.value("Project.allowsMultipleMergeRequestAssignees", "Project.allowsMultipleMergeRequestReviewers")
def allows_several_users(_: QueryContext, __: Any) -> bool:
    """Return that a merge request may have several assignees and reviewers."""
    return MAX_ASSIGNEES > 1


@resolvers.value("Project.ciConfigPathOrDefault")
def ci_config_path(_: QueryContext, project: Any) -> str:
    """Return the path of the CI file."""
    return project.ci_config_path or ".gitlab-ci.yml"


@resolvers.value("Project.repository")
def find_repository(_: QueryContext, project: Any) -> Any:
    """Return the project as the parent of its repository's fields."""
    return project


@resolvers.batch("Project.group")
def find_groups(context: QueryContext, projects: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the groups of projects; a personal project has none."""
    numbers = [project.namespace.id if project.namespace.kind == "group" else 0 for project in projects]
    groups = load_groups(context, {number for number in numbers if number})
    return [groups.get(number) for number in numbers]


@resolvers.single("Project.openMergeRequestsCount")
def count_open_merge_requests(context: QueryContext, project: Any, _: Arguments) -> int | None:
    """Return the number of open merge requests."""
    params = {"state": "opened", "per_page": 1}
    total: int | None = context.call("GET /projects/:id/merge_requests", params, id=project.id).total
    return total


@resolvers.single("Project.statistics")
def find_statistics(context: QueryContext, project: Any, _: Arguments) -> Any:
    """Return the sizes of a project."""
    return context.call("GET /projects/:id", {"statistics": True}, id=project.id).statistics or None


@resolvers.single("Project.languages")
def list_languages(context: QueryContext, project: Any, _: Arguments) -> list[dict[str, Any]]:
    """Return the shares of the programming languages."""
    shares = context.call("GET /projects/:id/languages", id=project.id)
    return [{"name": name, "share": share} for name, share in shares.items()]


@resolvers.value("Project.maxAccessLevel")
def max_access_level(context: QueryContext, project: Any) -> int:
    """Return the caller's level of access."""
    if context.actor.admin:
        return int(Level.OWNER)
    permissions = getattr(project, "permissions", None) or None
    levels = [permissions.project_access, permissions.group_access] if permissions else []
    return max((level.access_level for level in levels if level), default=0)


@resolvers.value("AccessLevel.integerValue")
def level_number(_: QueryContext, level: int) -> int:
    """Return the number of a level."""
    return level


@resolvers.value("AccessLevel.stringValue")
def level_name(_: QueryContext, level: int) -> str:
    """Return the name of a level."""
    return _LEVELS.get(level, "ADMIN" if level > Level.OWNER else "NO_ACCESS")


@resolvers.value("AccessLevel.humanAccess")
def level_text(context: QueryContext, level: int) -> str:
    """Return a level as people read it."""
    return level_name(context, level).replace("_", " ").capitalize()


@resolvers.single("Project.issues")
def list_issues(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the issues of a project."""
    return listed(context, "GET /projects/:id/issues", arguments, issue_filters(arguments), id=project.id)


@resolvers.single("Project.issue")
def find_issue(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return an issue by its number."""
    iid = arguments.get("iid") or next(iter(arguments.get("iids") or []), None)
    return context.call("GET /projects/:id/issues/:issue_iid", id=project.id, issue_iid=iid) if iid else None


@resolvers.single("Project.issueStatusCounts")
def count_issues(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return the numbers of issues by state."""
    route = "GET /projects/:id/issues_statistics"
    return context.call(route, issue_filters(arguments), id=project.id).statistics.counts


@resolvers.single("Project.mergeRequests")
def list_merge_requests(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the merge requests of a project."""
    params = merge_request_filters(arguments)
    return listed(context, "GET /projects/:id/merge_requests", arguments, params, id=project.id)


@resolvers.single("Project.mergeRequest")
def find_merge_request(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a merge request by its number."""
    route = "GET /projects/:id/merge_requests/:merge_request_iid"
    return context.call(route, id=project.id, merge_request_iid=arguments["iid"])


@resolvers.single("Project.projectMembers")
def list_members(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the members of a project, with inherited ones unless only direct ones are requested."""
    direct = arguments.get("relations") == ["DIRECT"]
    route = "GET /projects/:id/members" if direct else "GET /projects/:id/members/all"
    return listed(context, route, arguments, {"query": arguments.get("search")}, id=project.id)


def _permission(field: str, route: str) -> None:
    @resolvers.single(f"ProjectPermissions.{field}")
    def may_call(context: QueryContext, project: ProjectView, _: Arguments) -> bool:
        """Return whether the endpoint of an action allows it to the caller."""
        return context.allows(route, id=project.id)


@resolvers.value("Project.userPermissions")
def find_permissions(_: QueryContext, project: Any) -> Any:
    """Return the project as the parent of its permissions."""
    return project


for _field, _route in {
    "adminOperations": "PUT /projects/:id",
    "adminProject": "PUT /projects/:id",
    "adminWiki": "PUT /projects/:id",
    "archiveProject": "POST /projects/:id/archive",
    "changeNamespace": "PUT /projects/:id/transfer",
    "changeVisibilityLevel": "PUT /projects/:id",
    "createIssue": "POST /projects/:id/issues",
    "createLabel": "POST /projects/:id/labels",
    "createMergeRequestFrom": "POST /projects/:id/repository/commits",
    "createMergeRequestIn": "POST /projects/:id/merge_requests",
    "createPipeline": "POST /projects/:id/pipeline",
    "createPipelineSchedule": "POST /projects/:id/pipeline_schedules",
    "createSnippet": "POST /projects/:id/snippets",
    "createWiki": "POST /projects/:id/wikis",
    "downloadCode": "GET /projects/:id/repository/tree",
    "downloadWikiCode": "GET /projects/:id/wikis",
    "forkProject": "POST /projects/:id/fork",
    "pushCode": "POST /projects/:id/repository/commits",
    "readCommitStatus": "GET /projects/:id/pipelines",
    "readEnvironment": "GET /projects/:id/environments",
    "readMergeRequest": "GET /projects/:id/merge_requests",
    "readProject": "GET /projects/:id",
    "readProjectMember": "GET /projects/:id/members",
    "readWiki": "GET /projects/:id/wikis",
    "removeForkProject": "DELETE /projects/:id/fork",
    "removeProject": "DELETE /projects/:id",
    "renameProject": "PUT /projects/:id",
    "requestAccess": "POST /projects/:id/access_requests",
    "updateWiki": "POST /projects/:id/wikis",
    "uploadFile": "POST /projects/:id/uploads",
    "viewEditPage": "PUT /projects/:id",
}.items():
    _permission(_field, _route)
