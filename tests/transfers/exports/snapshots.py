"""Contents of a project as the API shows them, without what differs between equal projects: ids and addresses."""

import re
from typing import Any

import httpx

from tests.client import Api, User

_DROPPED = frozenset(
    {
        # Ids, and addresses that contain ids or the host.
        *("id", "_links", "links", "web_path", "commit_path", "tag_path", "raw_url", "discussion_id", "evidences"),
        *("avatar_url", "web_url", "ssh_url_to_repo", "http_url_to_repo", "readme_url", "import_url"),
        # The importing user chooses the name and the place of a project.
        *("name_with_namespace", "path_with_namespace", "namespace", "owner", "creator_id", "permissions", "path"),
        # The project was imported, and its runners have to be registered again.
        *("import_status", "import_type", "import_error", "runners_token", "last_activity_at"),
    }
)
_ID = re.compile(r".*_(?:ids?|url)|.*_html")
_USER_KEYS = frozenset({"author", "assignee", "closed_by", "merged_by", "merge_user", "resolved_by", "owner", "user"})
_UPLOAD = re.compile(r"/uploads/[0-9a-f]{32}/")
_PROJECT_URL = re.compile(r"http://127\.0\.0\.1:\d+/api/v4/projects/\d+")
_WORK_ITEMS = """query($path: ID!) { namespace(fullPath: $path) { workItems(first: 100) { nodes { iid
    workItemType { name } widgets { ... on WorkItemWidgetHierarchy { children { nodes { iid } } } } } } } }"""
_LABEL = re.compile(r"~\d+")


def snapshot(api: Api, url: str, path: str, caller: User) -> dict[str, Any]:
    """Return everything that an export contains."""

    def read(part: str, **params: Any) -> Any:
        answer = api.get(f"{url}{part}", caller, **{"per_page": 100, **params})
        assert answer.status_code == 200, (part, answer.text)
        return comparable(answer.json(), path)

    def details(kind: str, number: int) -> dict[str, Any]:
        base = f"/{kind}/{number}"
        parts = ["", "/discussions", "/award_emoji", "/resource_label_events", "/resource_state_events"]
        parts += ["/resource_milestone_events", "/participants"]
        parts += (
            ("/versions", "/approvals", "/commits", "/reviewers")
            if kind == "merge_requests"
            else ("/links", "/closed_by")
        )
        return {part: read(base + part) for part in parts}

    contents = {
        part: read(f"/{part}")
        for part in (
            *("labels", "milestones", "members", "boards", "releases", "protected_branches", "protected_tags"),
            "protected_environments",
            *(
                "hooks",
                "deploy_keys",
                "badges",
                "pipeline_schedules",
                "repository/branches",
                "repository/tags",
                "wikis",
            ),
        )
    }
    contents["project"] = read("")
    contents["hierarchy"] = _hierarchy(api, path, caller)
    for kind in ("issues", "merge_requests"):
        numbers = [item["iid"] for item in api.get(f"{url}/{kind}", caller, per_page=100, sort="asc").json()]
        contents[kind] = {number: details(kind, number) for number in numbers}
    contents["snippets"] = [
        {**comparable(snippet, path), "notes": read(f"/snippets/{snippet['id']}/notes")}
        for snippet in api.get(f"{url}/snippets", caller).json()
    ]
    target = contents["repository/tags"][0]["target"]
    contents["commit comments"] = read(f"/repository/commits/{target}/comments")
    contents["statuses"] = read(f"/repository/commits/{target}/statuses")
    return contents


def _hierarchy(api: Api, path: str, caller: User) -> list[Any]:
    """Return the types of all issues and their tasks."""
    sent = {"query": _WORK_ITEMS, "variables": {"path": path}}
    answer = httpx.post(f"{api.url}/api/graphql", json=sent, headers={"PRIVATE-TOKEN": caller.token})
    nodes: list[Any] = answer.json()["data"]["namespace"]["workItems"]["nodes"]
    return nodes


def comparable(value: Any, path: str) -> Any:
    """Return a response without ids and addresses; users are replaced by their usernames."""
    if isinstance(value, list):
        return [comparable(part, path) for part in value]
    if isinstance(value, str):
        value = _PROJECT_URL.sub("URL", value)
        return _LABEL.sub("~LABEL", _UPLOAD.sub("/uploads/SECRET/", value.replace(path, "PROJECT")))
    if not isinstance(value, dict):
        return value
    if "username" in value and "state" in value:
        return value["username"]
    names = {"iid", "head_commit_sha", "commit_id", "short_id"}
    return {
        name: comparable(part, path)
        for name, part in value.items()
        if name in names or name in _USER_KEYS - _DROPPED or (name not in _DROPPED and not _ID.fullmatch(name))
    }


def differences(first: Any, second: Any, place: str = "") -> list[str]:
    """Return the places at which two contents differ, with both values."""
    if isinstance(first, dict) and isinstance(second, dict):
        names = sorted({*first, *second}, key=str)
        return [
            each
            for name in names
            for each in differences(first.get(name, "missing"), second.get(name, "missing"), f"{place}.{name}")
        ]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        return [each for index, (one, other) in pairs for each in differences(one, other, f"{place}[{index}]")]
    return [] if first == second else [f"{place}: {first!r} != {second!r}"]
