"""Default messages of the commits that a merge creates, by the templates of the project if it has some."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, Signature, read_commits
from ingot.git.history.log import commits_between
from ingot.projects.projects.tables import Project

_DEFAULT_TEMPLATE = """Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}"""
_VARIABLE = re.compile(r"%\{(\w{1,50})\}")
_LINE_OF_VARIABLE = re.compile(r"\s*%\{(\w{1,50})\}\s*")
_MAX_COMMITS = 100
"""Number of the newest commits that a message may contain."""
_MAX_WALK = 10_000
_MAX_MESSAGE_BYTES = 100 * 1024
_SKIPPED_BODY = "-- Skipped commit body exceeding 100KiB in size."


class MessageContext(NamedTuple):
    """Values that the variables of a template stand for."""

    project: Project
    merge_request: MergeRequest
    closes: Sequence[Issue]
    url: str
    """Address of the page of the merge request."""
    author: Signature
    merged_by: Signature
    approved_by: Sequence[Signature]
    reviewed_by: Sequence[Signature]
    repository: Repository
    tip: str | None
    """Commit of the target branch."""


def merge_message(context: MessageContext) -> str:
    """Return the default message of a merge commit; a template without any text for this one is not used."""
    template = context.project.options.merge_commit_template
    return (_fill(template, context) if template else "") or _fill(_DEFAULT_TEMPLATE, context)


def squash_message(context: MessageContext) -> str:
    """Return the default message of a squashed commit; a template without any text for this one is not used."""
    template = context.project.options.squash_commit_template
    return (_fill(template, context) if template else "") or context.merge_request.title


def templates_use(project: Project, *variables: str) -> bool:
    """Return whether a template of a project contains one of the variables."""
    templates = (project.options.merge_commit_template, project.options.squash_commit_template)
    return any(f"%{{{name}}}" in template for template in templates if template for name in variables)


def _issues(context: MessageContext) -> str:
    project, merge_request = context.project, context.merge_request
    references = [f"#{issue.iid}" for issue in context.closes if issue.project_id == project.id]
    closing = merge_request.target_branch == project.default_branch and project.options.autoclose_referenced_issues
    return f"Closes {_enumerate(references)}" if references and closing else ""


def _oids(context: MessageContext) -> list[str]:
    """Return the commits of the merge request, oldest first."""
    return commits_between(context.repository, context.tip, context.merge_request.head_oid, _MAX_WALK)


def _newest_commits(context: MessageContext) -> list[Commit]:
    """Return the newest commits that merge no other, newest first."""
    oids = _oids(context)[-_MAX_COMMITS:]
    return [commit for commit in reversed(read_commits(context.repository, oids)) if len(commit.parents) < 2]


def _first_commit(context: MessageContext) -> str:
    return "".join(commit.message.strip() for commit in read_commits(context.repository, _oids(context)[:1]))


def _first_multiline_commit(context: MessageContext) -> Commit | None:
    commits = read_commits(context.repository, _oids(context)[:_MAX_COMMITS])
    single = (commit for commit in commits if len(commit.parents) < 2)
    return next((commit for commit in single if "\n" in commit.message.strip()), None)


def _first_multiline_message(context: MessageContext) -> str:
    commit = _first_multiline_commit(context)
    return context.merge_request.title if commit is None else commit.message.strip()


def _first_multiline_description(context: MessageContext) -> str:
    commit = _first_multiline_commit(context)
    return "" if commit is None else commit.message.strip().partition("\n")[2].strip()


def _all_commits(context: MessageContext) -> str:
    return "\n\n".join(f"* {_limited_message(commit)}" for commit in _newest_commits(context))


def _limited_message(commit: Commit) -> str:
    if len(commit.message.encode(errors="replace")) > _MAX_MESSAGE_BYTES:
        return f"{commit.title}\n\n{_SKIPPED_BODY}"
    return commit.message.strip()


def _co_authors(context: MessageContext) -> str:
    """Return a trailer for each author of a commit other than the author of the merge request."""
    authors = {commit.author.email: commit.author.name for commit in _newest_commits(context)}
    authors.pop(context.author.email, None)
    return "\n".join(f"Co-authored-by: {name} <{email}>" for email, name in authors.items())


def _person(person: Signature) -> str:
    return f"{person.name} <{person.email}>"


def _trailers(name: str, people: Sequence[Signature]) -> str:
    return "\n".join(f"{name}: {_person(person)}" for person in people)


# Each is evaluated only if a template contains it, because some read commits.
_VALUES: dict[str, Callable[[MessageContext], str]] = {
    "source_branch": lambda context: context.merge_request.source_branch,
    "target_branch": lambda context: context.merge_request.target_branch,
    "title": lambda context: context.merge_request.title,
    "description": lambda context: context.merge_request.description or "",
    "issues": _issues,
    "reference": lambda context: f"{context.project.full_path}!{context.merge_request.iid}",
    "local_reference": lambda context: f"!{context.merge_request.iid}",
    "source_project_id": lambda context: str(context.merge_request.source_project_id or ""),
    "url": lambda context: context.url,
    "first_commit": _first_commit,
    "first_multiline_commit": _first_multiline_message,
    "first_multiline_commit_description": _first_multiline_description,
    "all_commits": _all_commits,
    "co_authored_by": _co_authors,
    "merge_request_author": lambda context: _person(context.author),
    "merged_by": lambda context: _person(context.merged_by),
    "approved_by": lambda context: _trailers("Approved-by", context.approved_by),
    "reviewed_by": lambda context: _trailers("Reviewed-by", context.reviewed_by),
}


def _fill(template: str, context: MessageContext) -> str:
    """Replace the variables of a template; a line with nothing but an empty variable is left out."""
    names = {*_VARIABLE.findall(template)} & _VALUES.keys()
    variables = {name: _VALUES[name](context) for name in names}
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
