"""Resources: objects that a user attaches to a conversation by their address, read by tools."""

import re
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_VARIABLE = re.compile(r"\{(\+?)(\w+)\}")
_MAX_LENGTH = 5_000


class ResourceTemplate(NamedTuple):
    """Addresses of one kind, and the tool that reads them; the last variable may contain slashes if marked by +."""

    name: str
    title: str
    address: str
    tool: str
    media_type: str = "application/json"

    @property
    def description(self) -> dict[str, str]:
        """Return the template as the protocol defines it."""
        return {"uriTemplate": self.address, "name": self.name, "title": self.title, "mimeType": self.media_type}


TEMPLATES = (
    ResourceTemplate("project", "Project", "ingot://projects/{id}", "get_project"),
    ResourceTemplate("issue", "Issue", "ingot://projects/{id}/issues/{issue_iid}", "get_issue"),
    ResourceTemplate(
        "merge_request",
        "Merge request",
        "ingot://projects/{id}/merge_requests/{merge_request_iid}",
        "get_merge_request",
    ),
    ResourceTemplate(
        "merge_request_diffs",
        "Changes of a merge request",
        "ingot://projects/{id}/merge_requests/{merge_request_iid}/diffs",
        "get_merge_request_diffs",
    ),
    ResourceTemplate("file", "File", "ingot://projects/{id}/files/{ref}/{+file_path}", "get_file", "text/plain"),
    ResourceTemplate("job_log", "End of the log of a job", "ingot://projects/{id}/jobs/{job_id}/log", "get_job_log"),
)


def _pattern(template: ResourceTemplate) -> re.Pattern[str]:
    parts = _VARIABLE.split(template.address)
    groups = (
        f"(?P<{name}>{'.+' if rest else '[^/]+'}){re.escape(text)}"
        for rest, name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    )
    return re.compile(re.escape(parts[0]) + "".join(groups))


_PATTERNS = [(template, _pattern(template)) for template in TEMPLATES]


def match_resource(address: str) -> tuple[ResourceTemplate, dict[str, Any]] | None:
    """Return the template of an address and the arguments of its tool; None for an unknown address."""
    if len(address) > _MAX_LENGTH:
        return None
    for template, pattern in _PATTERNS:
        found = pattern.fullmatch(address)
        if found is not None:
            return template, {name: unquote(value) for name, value in found.groupdict().items()}
    return None


def project_resource(project: dict[str, Any]) -> dict[str, Any]:
    """Return the resource of a project in a list."""
    path = project["path_with_namespace"]
    resource = {"uri": f"ingot://projects/{quote(path, safe='')}", "name": path, "mimeType": "application/json"}
    return resource | ({"description": project["description"]} if project.get("description") else {})
