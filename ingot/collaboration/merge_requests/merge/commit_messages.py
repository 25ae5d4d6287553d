"""Default messages of the commits that a merge creates, by the templates of the project if it has some."""

import re
from collections.abc import Sequence

from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.projects.projects.tables import Project

_DEFAULT_TEMPLATE = """Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}"""
_VARIABLE = re.compile(r"%\{(\w{1,50})\}")
_LINE_OF_VARIABLE = re.compile(r"\s*%\{(\w{1,50})\}\s*")


def merge_message(project: Project, merge_request: MergeRequest, closes: Sequence[Issue]) -> str:
    """Return the default message of a merge commit."""
    template = project.options.merge_commit_template or _DEFAULT_TEMPLATE
    return _fill(template, _variables(project, merge_request, closes))


def squash_message(project: Project, merge_request: MergeRequest, closes: Sequence[Issue]) -> str:
    """Return the default message of a squashed commit."""
    template = project.options.squash_commit_template
    return _fill(template, _variables(project, merge_request, closes)) if template else merge_request.title


def _variables(project: Project, merge_request: MergeRequest, closes: Sequence[Issue]) -> dict[str, str]:
    references = [f"#{issue.iid}" for issue in closes if issue.project_id == project.id]
    closing = merge_request.target_branch == project.default_branch and project.options.autoclose_referenced_issues
    return {
        "source_branch": merge_request.source_branch,
        "target_branch": merge_request.target_branch,
        "title": merge_request.title,
        "description": merge_request.description or "",
        "issues": f"Closes {_enumerate(references)}" if references and closing else "",
        "reference": f"{project.full_path}!{merge_request.iid}",
        "local_reference": f"!{merge_request.iid}",
        "source_project_id": str(merge_request.source_project_id or ""),
    }


def _fill(template: str, variables: dict[str, str]) -> str:
    """Replace the variables of a template; a line with nothing but an empty variable is left out."""
    lines = []
    for line in template.splitlines():
        alone = _LINE_OF_VARIABLE.fullmatch(line)
        if alone is None or variables.get(alone[1]) != "":
            lines.append(_VARIABLE.sub(lambda match: variables.get(match[1], match[0]), line))
        elif lines and not lines[-1]:
            lines.pop()
    return "\n".join(lines).strip()


def _enumerate(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
