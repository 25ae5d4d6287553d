"""Which hooks want to hear of what, and what receivers are told that it is."""

import re
from functools import lru_cache

from ingot.core.outgoing.urls import MASK
from ingot.integrations.webhooks.branch_patterns import compile_pattern

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
}
SYSTEM_HEADER = "System Hook"
SYSTEM_EVENTS = "system_events"
"""What every system hook is told, whatever else it asks for."""
_TRIGGERS = {name: header.lower().replace(" ", "_") + "s" for name, header in HEADERS.items()}


def event_header(trigger: str, kind: str) -> str:
    """What the header of a request says that it is about."""
    return SYSTEM_HEADER if kind == "system" else HEADERS.get(trigger, SYSTEM_HEADER)


def trigger_name(trigger: str) -> str:
    """What the log calls it."""
    return _TRIGGERS.get(trigger, "system_hooks")


def redacted_url(url: str, *, credentials: bool) -> str:
    """A hook's URL; where it was given with a user name and password, something stands for them."""
    return url.replace("://", f"://{MASK}:{MASK}@", 1) if credentials else url


def matches_branch(strategy: str, wanted: str | None, branch: str) -> bool:
    """Whether a hook hears of pushes to a branch."""
    if strategy == "all_branches" or not wanted:
        return True
    if strategy == "regex":
        return compile_pattern(wanted).matches(branch)
    return _pattern(wanted).fullmatch(branch) is not None


@lru_cache(256)
def _pattern(wanted: str) -> "re.Pattern[str]":
    """As for protected branches, ``*`` stands for anything."""
    parts = [re.escape(part) for part in re.split(r"\*+", wanted)]
    return re.compile(".*".join(parts), re.DOTALL)
