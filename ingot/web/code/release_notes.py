"""Release notes of the merge requests that were merged since the previous release, by label."""

from collections.abc import Iterator
from typing import Any

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.releases.views import previous_release_time
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied, NotFound
from ingot.web.projects.context import ProjectContext

_PAGE_SIZE = 100
_MAX_PAGES = 5
_OTHER = "Other changes"


def generated_notes(parent: ProjectContext, until: Timestamp) -> str:
    """Return the notes of the merge requests merged before ``until`` and after the release before it; or nothing."""
    since = parent.visit.database.read(lambda db: previous_release_time(db, parent.project.id, until))
    groups: dict[str, list[str]] = {}
    for request in _merged(parent, since or "", until):
        line = f"- {request.title} (!{request.iid}) by @{request.author.username}"
        groups.setdefault(request.labels[0] if request.labels else _OTHER, []).append(line)
    others = groups.pop(_OTHER, [])
    if not groups:
        return "\n".join(others)
    if others:
        groups[_OTHER] = others
    return "\n\n".join(f"### {label}\n\n" + "\n".join(lines) for label, lines in groups.items())


def _merged(parent: ProjectContext, since: str, until: str) -> Iterator[Any]:
    """Yield the merge requests of a period, the newest first; nothing if the user may not see them."""
    params = {"state": "merged", "order_by": "merged_at", "sort": "desc", "per_page": str(_PAGE_SIZE)}
    for page in range(1, _MAX_PAGES + 1):
        try:
            listing = parent.ask(merge_requests_api.list_project_merge_requests, {**params, "page": str(page)})
        except (Denied, NotFound):
            return
        for request in listing.items:
            if request.merged_at is None or request.merged_at <= since:
                return
            if request.merged_at <= until:
                yield request
        if len(listing.items) < _PAGE_SIZE:
            return
