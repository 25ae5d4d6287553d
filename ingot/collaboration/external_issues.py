"""Issues in the external tracker of a project: their ids in references, links to them, and the port to integrations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.markup.references import Reference, closing_references, extract_references


class IssueTracker(msgspec.Struct, frozen=True):
    """External issue tracker of a project."""

    slug: str
    title: str
    project_url: str
    issues_url: str
    """URL in which ``:id`` is replaced by the issue id."""
    new_issue_url: str

    def issue_id_of(self, reference: Reference) -> str | None:
        """Return the tracker's issue id for a reference, or None if the reference is not an issue of the tracker."""
        if reference.project is not None or reference.url is not None:
            return None
        if reference.kind == "external_issue":
            return reference.name if self.slug == "jira" else reference.name.rpartition("-")[2]
        return reference.name if reference.kind == "issue" and self.slug != "jira" else None

    def issue_url(self, issue_id: str) -> str:
        """Return the URL of an issue."""
        return self.issues_url.replace(":id", quote(issue_id, safe=""))

    def closed_by(self, text: str) -> list[str]:
        """Return the distinct ids of the issues that a text closes."""
        return list(self._ids(closing_references(text, external=True)))

    def issues_mentioned_by(self, text: str) -> list[str]:
        """Return the distinct ids of the issues that a text mentions."""
        return list(self._ids(extract_references(text)))

    def _ids(self, references: Iterable[Reference]) -> dict[str, None]:
        candidates = (self.issue_id_of(reference) for reference in references)
        return dict.fromkeys(issue_id for issue_id in candidates if issue_id is not None)


def external_issue_title(issue_id: str) -> str:
    """Return the title of an external issue, of which only the id is known."""
    return f"External Issue {issue_id}"


@dataclass(frozen=True, slots=True)
class ExternalTrackers:
    """Port to integrations."""

    tracker_or_none: Callable[[Connection, int], IssueTracker | None]
    """Returns the external issue tracker of a project, the first of several."""
