"""Default messages of the commits that a merge creates."""

from collections.abc import Sequence

from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.projects.projects.tables import Project


def merge_message(project: Project, merge_request: MergeRequest, closes: Sequence[Issue]) -> str:
    """Return the default message of a merge commit."""
    parts = [
        f"Merge branch '{merge_request.source_branch}' into '{merge_request.target_branch}'",
        merge_request.title,
    ]
    references = [f"#{issue.iid}" for issue in closes if issue.project_id == project.id]
    if references and merge_request.target_branch == project.default_branch:
        parts.append(f"Closes {_enumerate(references)}")
    parts.append(f"See merge request {project.full_path}!{merge_request.iid}")
    return "\n\n".join(parts)


def squash_message(merge_request: MergeRequest) -> str:
    """Return the default message of a squashed commit."""
    return merge_request.title


def _enumerate(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
