"""Prompts: beginnings of frequent tasks, which clients offer as commands."""

from typing import Any, NamedTuple


class Prompt(NamedTuple):
    """A task, its arguments, and the tool that it starts with; without that tool it is not offered."""

    name: str
    title: str
    takes: tuple[str, ...]
    tool: str
    text: str

    @property
    def description(self) -> dict[str, Any]:
        """Return the prompt as the protocol defines it."""
        arguments = [{"name": name, "description": _ARGUMENTS[name], "required": True} for name in self.takes]
        return {"name": self.name, "title": self.title, "description": self.title, "arguments": arguments}

    def message(self, arguments: dict[str, str]) -> dict[str, Any]:
        """Return the message of the user."""
        return {"role": "user", "content": {"type": "text", "text": self.text.format_map(arguments)}}


_ARGUMENTS = {
    "id": "Number or full path of the project",
    "issue_iid": "Number of the issue",
    "merge_request_iid": "Number of the merge request",
    "pipeline_id": "Id of the pipeline",
}
PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "work_on_issue",
            "Work on an issue and open a merge request",
            ("id", "issue_iid"),
            "get_issue",
            "Work on issue {issue_iid} of the project {id}. Read it with get_issue and get_issue_notes, and the files "
            "that it concerns with list_tree, search_project and get_file. Explain your plan. Then commit the change "
            "to a new branch with create_commit, and open a merge request whose description closes the issue.",
        ),
        Prompt(
            "review_merge_request",
            "Review a merge request",
            ("id", "merge_request_iid"),
            "get_merge_request",
            "Review merge request {merge_request_iid} of the project {id}. Read it with get_merge_request, "
            "get_merge_request_diffs and get_merge_request_notes, and what surrounds the changes with get_file. "
            "Look for mistakes, missing tests and unclear names. Report the findings by severity with file and line, "
            "and ask before you write a comment.",
        ),
        Prompt(
            "explain_failed_pipeline",
            "Find out why a pipeline failed",
            ("id", "pipeline_id"),
            "get_pipeline_jobs",
            "Find out why pipeline {pipeline_id} of the project {id} failed. List its jobs with get_pipeline_jobs, "
            "read the log of each failed job with get_job_log, and compare with recent changes (list_commits). "
            "Explain the cause, quote the lines of the log that show it, and propose a correction.",
        ),
    )
}
