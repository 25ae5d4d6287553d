"""Event names of webhooks and branch filters."""

import re
from functools import lru_cache

from ingot.core.outgoing.urls import MASK
from ingot.webhooks.branch_patterns import is_found

HEADERS = {
    "push_events": "Push Hook",
    "tag_push_events": "Tag Push Hook",
    "issues_events": "Issue Hook",
    "confidential_issues_events": "Confidential Issue Hook",
    "merge_requests_events": "Merge Request Hook",
    "note_events": "Note Hook",
    "confidential_note_events": "Confidential Note Hook",
    "job_events": "Job Hook",
    "pipeline_events": "Pipeline Hook",
    "wiki_page_events": "Wiki Page Hook",
    "releases_events": "Release Hook",
    "milestone_events": "Milestone Hook",
    "member_events": "Member Hook",
    "subgroup_events": "Subgroup Hook",
    "project_events": "Project Hook",
}
SYSTEM_HEADER = "System Hook"
SYSTEM_EVENTS = "system_events"
"""Sent to every system hook, regardless of its settings."""
_TRIGGERS = {name: header.lower().replace(" ", "_") + "s" for name, header in HEADERS.items()}


def event_header(trigger: str, kind: str) -> str:
    """Return the value of the event header."""
    return SYSTEM_HEADER if kind == "system" else HEADERS.get(trigger, SYSTEM_HEADER)


def trigger_name(trigger: str) -> str:
    """Return the name of a trigger in the delivery log."""
    return _TRIGGERS.get(trigger, "system_hooks")


def redacted_url(url: str, *, credentials: bool) -> str:
    """Return a webhook's URL with masked credentials, if it has any."""
    return url.replace("://", f"://{MASK}:{MASK}@", 1) if credentials else url


def matches_branch(strategy: str, pattern: str | None, branch: str) -> bool:
    """Return whether a webhook's branch filter includes a branch."""
    if strategy == "all_branches" or not pattern:
        return True
    if strategy == "regex":
        return is_found(pattern, branch)
    return _pattern(pattern).fullmatch(branch) is not None


@lru_cache(256)
def _pattern(pattern: str) -> "re.Pattern[str]":
    """Compile a wildcard; as for protected branches, ``*`` matches any characters."""
    parts = [re.escape(part) for part in re.split(r"\*+", pattern)]
    return re.compile(".*".join(parts), re.DOTALL)
