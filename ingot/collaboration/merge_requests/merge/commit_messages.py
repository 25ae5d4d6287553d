"""What the commits say that a merge makes."""

from collections.abc import Sequence

from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.projects.projects.tables import Project


def merge_message(project: Project, merge_request: MergeRequest, closes: Sequence[Issue]) -> str:
    """What a merge commit says unless somebody has other words."""
    parts = [
        f"Merge branch '{merge_request.source_branch}' into '{merge_request.target_branch}'",
        merge_request.title,
    ]
    named = [f"#{issue.iid}" for issue in closes if issue.project_id == project.id]
    if named and merge_request.target_branch == project.default_branch:
        parts.append(f"Closes {_sentence(named)}")
    parts.append(f"See merge request {project.full_path}!{merge_request.iid}")
    return "\n\n".join(parts)


def squash_message(merge_request: MergeRequest) -> str:
    """What the one commit says that many have become."""
    return merge_request.title


def _sentence(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
