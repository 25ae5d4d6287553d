"""Pages and actions that the search field suggests by their label."""

from collections.abc import Iterator
from typing import NamedTuple

from ingot.repositories.protection import api as protection_api
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, new_pages_of, tabs_of
from ingot.web.tabs import TAB_ICONS

_OPEN = (("/explore", "Explore", "compass"), ("/help", "Help", "help"), ("/api/v4/docs", "API", "code"))
_OF_USER = (
    ("/dashboard/issues", "Your issues", "issue-opened"),
    ("/dashboard/merge_requests", "Your merge requests", "merge-request"),
    ("/dashboard/todos", "To-do list", "todo"),
    ("/dashboard/projects", "Your projects", "folder"),
    ("/projects/new", "New project", "plus"),
    ("/groups/new", "New group", "plus"),
    ("/snippets/new", "New snippet", "plus"),
    ("/explore/groups", "Groups", "users"),
    ("/snippets", "Snippets", "snippet"),
    ("/profile", "Profile", "user"),
    ("/profile/account", "Account", "settings"),
    ("/profile/preferences", "Preferences", "settings"),
    ("/profile/notifications", "Notifications", "bell"),
    ("/profile/emails", "Emails", "mail"),
    ("/profile/keys", "SSH keys", "key"),
    ("/profile/gpg_keys", "GPG keys", "key"),
    ("/profile/personal_access_tokens", "Access tokens", "key"),
    ("/profile/two_factor_auth", "Two-factor authentication", "shield"),
    ("/profile/active_sessions", "Sessions", "device"),
    ("/profile/applications", "Applications", "plug"),
)
_OF_ADMIN = (
    ("/admin", "Administration", "shield"),
    ("/admin/users", "Users", "users"),
    ("/admin/projects", "Projects", "folder"),
    ("/admin/groups", "Groups", "users"),
    ("/admin/application_settings", "Settings", "settings"),
    ("/admin/jobs", "Background jobs", "clock"),
    ("/admin/audit_events", "Audit events", "history"),
)
_OF_MEMBER = (
    ("branches", "Branches", "branch"),
    ("tags", "Tags", "tag"),
    ("find_file", "Find file", "file"),
    ("releases", "Releases", "package"),
    ("compare", "Compare", "compare"),
)
_OF_PLANNING = (
    ("boards", "Boards", "board"),
    ("labels", "Labels", "tag"),
    ("milestones", "Milestones", "milestone"),
)
_OF_SETTINGS = (
    ("project_members", "Members"),
    ("settings/repository", "Repository"),
    ("settings/mirrors", "Mirrors"),
    ("settings/approval_rules", "Approval rules"),
    ("settings/integrations", "Integrations"),
    ("hooks", "Webhooks"),
    ("settings/ci_cd", "CI/CD"),
    ("runners", "Runners"),
)


class Jump(NamedTuple):
    """Page or action with its English label, and where it belongs."""

    url: str
    label: str
    icon: str
    place: str = ""

    @property
    def folded(self) -> str:
        """Return the label for comparisons."""
        return self.label.casefold()


def jumps_of_project(parent: ProjectContext) -> Iterator[Jump]:
    """Yield the pages of a project that the user may open, and the forms that the user may submit."""
    place = parent.project.path_with_namespace
    for url, label in new_pages_of(parent):
        yield Jump(url, f"New {label[:1].lower()}{label[1:]}", "plus", place)
    tabs = tabs_of(parent)
    for key, url, label, _ in tabs:
        yield Jump(url, label, TAB_ICONS[key], place)
    shown = {key for key, *_ in tabs}
    if "code" in shown:
        yield from (Jump(f"{parent.url}/-/{page}", label, icon, place) for page, label, icon in _OF_MEMBER)
    if "issues" in shown:
        yield from (Jump(f"{parent.url}/-/{page}", label, icon, place) for page, label, icon in _OF_PLANNING)
    if parent.may(protection_api.list_protected_branches):
        yield from (Jump(f"{parent.url}/-/{page}", label, "settings", place) for page, label in _OF_SETTINGS)


def jumps_of_user(visit: Visit) -> Iterator[Jump]:
    """Yield the pages and actions outside of projects that the user may open."""
    user = visit.viewer.user
    if user is not None:
        yield from (Jump(*each) for each in _OF_USER)
    yield from (Jump(*each) for each in _OPEN)
    if user is not None and user.admin:
        yield from (Jump(*each, "/admin") for each in _OF_ADMIN)
