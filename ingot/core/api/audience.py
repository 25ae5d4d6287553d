"""Vocabulary of who is affected by a setting, declared beside it and shown with its default."""

from enum import StrEnum
from typing import Any, get_args


class Affected(StrEnum):
    """Metadata of the type of a setting; where a type has several, the last one counts."""

    EVERYONE = "everyone"
    SIGNED_OUT = "visitors who are not signed in"
    USERS = "all users"
    ADMINISTRATORS = "administrators"
    NEW_USERS = "new users"
    SIGN_UPS = "everyone who signs up"
    SIGN_INS = "everyone who signs in"
    PASSWORDS = "everyone who has a password"
    TOKENS = "everyone who creates access tokens"
    SSH_KEYS = "everyone who uses SSH keys"
    APPLICATIONS = "everyone who uses OAuth applications"
    INACTIVE_USERS = "users without activity"
    UNCONFIRMED_USERS = "users who have not confirmed their address"
    REQUESTS = "everyone who sends such requests"
    LISTED_USERS = "the users in the list"
    RUNNERS = "everyone who adds runners"
    MAILS = "everyone who gets mails"
    NEW_PROJECTS = "new projects"
    NEW_GROUPS = "new groups"
    SNIPPETS = "everyone who creates snippets"
    PROJECTS = "all projects"
    PROJECTS_AND_GROUPS = "all projects and groups"
    INACTIVE_PROJECTS = "projects without activity"
    IMPORTS = "everyone who imports projects or groups"
    EXPORTS = "everyone who exports projects or groups"
    PIPELINES = "the pipelines of all projects"
    PACKAGES = "everyone who uploads packages"
    OUTGOING_REQUESTS = "webhooks, integrations, mirrors and imports"
    SYSTEM_HOOKS = "system hooks"
    SITES = "maintainers and visitors of all sites"
    UPLOADS = "everyone who uploads files"
    WIKIS = "everyone who edits wikis"
    DIFFS = "everyone who reads diffs"
    PROJECT_VISITORS = "everyone who can see the project"
    PROJECT_MEMBERS = "members of the project"
    NON_MEMBERS = "users who are not members"
    PUSHES = "everyone who pushes"
    MERGES = "everyone who merges"
    APPROVALS = "everyone who approves merge requests"
    MERGE_REQUESTS = "everyone who creates merge requests"
    ISSUES = "everyone who creates issues"
    PROJECT_PIPELINES = "pipelines of the project"
    IMAGES = "everyone who uses container images of the project"
    MIRROR_USERS = "everyone who uses the other repository"
    PROJECT_MIRROR = "everyone who reads the project or pushes to it"
    SITE_VISITORS = "visitors of the site"
    GROUP_OWNERS = "owners of groups"
    GROUP_VISITORS = "everyone who can see the group"
    GROUP_MEMBERS = "members of the group and its subgroups"
    GROUP_PROJECTS = "projects of the group and its subgroups"
    NEW_GROUP_PROJECTS = "new projects of the group and its subgroups"


def affected_by(hint: Any) -> Affected | None:
    """Return who is affected by a setting of a type, or of the types of a union; None if it does not say."""
    parts = (*get_args(hint), *getattr(hint, "__metadata__", ()))
    found = [part if isinstance(part, Affected) else affected_by(part) for part in parts]
    return next((each for each in reversed(found) if each is not None), None)
