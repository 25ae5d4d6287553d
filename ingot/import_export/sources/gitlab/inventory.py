"""Counts of a GitLab project's data, and the data that cannot be imported, for the plan of an import."""

from ingot.import_export.records import Kind
from ingot.import_export.source import Inventory, KindCount, SourceError
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab.shapes import GitLabProject, GitLabVariable

_PAGE_SIZE = 100
_LISTS: tuple[tuple[Kind, str, dict[str, str]], ...] = (
    ("members", "members", {}),
    ("labels", "labels", {"include_ancestor_groups": "true"}),
    ("milestones", "milestones", {"include_ancestors": "true", "include_parent_milestones": "true"}),
    ("issues", "issues", {"scope": "all"}),
    ("merge_requests", "merge_requests", {"scope": "all"}),
    ("boards", "boards", {}),
    ("releases", "releases", {}),
    ("snippets", "snippets", {}),
    ("protected_branches", "protected_branches", {}),
    ("protected_tags", "protected_tags", {}),
    ("protected_environments", "protected_environments", {}),
    ("hooks", "hooks", {}),
    ("deploy_keys", "deploy_keys", {}),
    ("badges", "badges", {}),
    ("statuses", "jobs", {}),
    ("schedules", "pipeline_schedules", {}),
)
_TITLES: dict[Kind, str] = {
    "merge_requests": "Merge requests",
    "protected_branches": "Protected branches",
    "protected_tags": "Protected tags",
    "protected_environments": "Protected environments",
    "hooks": "Webhooks",
    "deploy_keys": "Deploy keys",
    "statuses": "Results of pipelines",
    "schedules": "Pipeline schedules",
}
# Requests for each item besides its page: discussions and events of an issue; discussions and versions of a merge
# request. Reactions, links and approvals are requested only where they exist.
_REQUESTS_PER_ITEM: dict[Kind, int] = {"issues": 2, "merge_requests": 2}


def take_inventory(client: SourceClient, path: str, project: GitLabProject) -> Inventory:
    """Count each kind with one small request; a refused list is reported as omitted."""
    counts = [KindCount("settings", 1)]
    omitted = [
        "Secret tokens of webhooks: the source does not show them; set them again after the import.",
        "Comments on commits that are older than the activity which the source keeps; an export archive contains them.",
    ]
    requests = 1
    for kind, name, parameters in _LISTS:
        try:
            total = client.total(f"{path}/{name}", parameters)
        except SourceError as error:
            omitted.append(client.omission_of(_TITLES.get(kind, kind.capitalize()), error))
            continue
        # GitLab counts no list of more than 10,000 entries. No list has the external statuses, only the jobs.
        exact = total is not None and kind != "statuses"
        counts.append(KindCount(kind, 10_000 if total is None else total, exact=exact))
        requests += max(1, -(-counts[-1].count // _PAGE_SIZE)) + counts[-1].count * _REQUESTS_PER_ITEM.get(kind, 0)
    _add_variables(client, path, counts, omitted)
    return Inventory(
        name=project.name,
        path=project.path,
        full_path=project.path_with_namespace,
        counts=counts,
        omitted=omitted,
        requests=requests + 1,
    )


def _add_variables(client: SourceClient, path: str, counts: list[KindCount], omitted: list[str]) -> None:
    variables = client.entries_or_none(f"{path}/variables", GitLabVariable, {"per_page": _PAGE_SIZE})
    if variables is None:
        omitted.append("Variables: the token may not read them.")
        return
    counts.append(KindCount("variables", sum(variable.value is not None for variable in variables)))
    hidden = [variable.key for variable in variables if variable.value is None]
    if hidden:
        omitted.append(f"Hidden variables, whose values the source does not show: {', '.join(hidden)}.")
