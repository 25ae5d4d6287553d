"""External issue trackers that a project's integration configures."""

from urllib.parse import quote

import msgspec

from ingot.collaboration.external_issues import IssueTracker
from ingot.integrations.registry import REGISTRY
from ingot.integrations.tables import Service


def tracker_from_service(service: Service) -> IssueTracker:
    """Return the issue tracker that a service configures."""
    properties = msgspec.json.decode(service.properties)
    title = properties.get("title") or REGISTRY[service.slug].title
    if service.slug != "jira":
        return IssueTracker(
            service.slug, title, properties["project_url"], properties["issues_url"], properties["new_issue_url"]
        )
    base = properties["url"].rstrip("/")
    project_url = (
        f"{base}/issues/?jql=project={quote(properties['project_key'])}" if properties.get("project_key") else base
    )
    return IssueTracker(service.slug, title, project_url, f"{base}/browse/:id", f"{base}/secure/CreateIssue.jspa")
