"""Issue trackers elsewhere: which of a text's references lead there, and where to."""

from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from ingot.core.markup.references import Reference, closing_references, extract_references
from ingot.projects.services.registry import REGISTRY
from ingot.projects.services.tables import Service


class IssueTracker(msgspec.Struct, frozen=True):
    """Where a project keeps its issues."""

    slug: str
    title: str
    project_url: str
    issues_url: str
    """``:id`` in it stands for the issue."""
    new_issue_url: str

    def issue_id_of(self, reference: Reference) -> str | None:
        """What the tracker calls what a reference names; nothing where that is none of its issues."""
        if reference.project is not None or reference.url is not None:
            return None
        if reference.kind == "external_issue":
            return reference.name if self.slug == "jira" else reference.name.rpartition("-")[2]
        return reference.name if reference.kind == "issue" and self.slug != "jira" else None

    def issue_url(self, issue_id: str) -> str:
        """Where people see an issue."""
        return self.issues_url.replace(":id", quote(issue_id, safe=""))

    def closed_by(self, text: str) -> list[str]:
        """The issues that a text says it closes, each once."""
        return list(self._ids(closing_references(text, external=True)))

    def issues_mentioned_by(self, text: str) -> list[str]:
        """The issues that a text mentions, each once."""
        return list(self._ids(extract_references(text)))

    def _ids(self, references: Iterable[Reference]) -> dict[str, None]:
        found = (self.issue_id_of(reference) for reference in references)
        return dict.fromkeys(issue_id for issue_id in found if issue_id is not None)


def external_issue_title(issue_id: str) -> str:
    """What an issue that we know nothing else of is called."""
    return f"External Issue {issue_id}"


def tracker_from_service(service: Service) -> IssueTracker:
    """The tracker that a service is."""
    known = msgspec.json.decode(service.properties)
    title = known.get("title") or REGISTRY[service.slug].title
    if service.slug != "jira":
        return IssueTracker(service.slug, title, known["project_url"], known["issues_url"], known["new_issue_url"])
    base = known["url"].rstrip("/")
    project_url = f"{base}/issues/?jql=project={quote(known['project_key'])}" if known.get("project_key") else base
    return IssueTracker(service.slug, title, project_url, f"{base}/browse/:id", f"{base}/secure/CreateIssue.jspa")
