"""Rules for the names and paths of users, groups and projects, which make every path unambiguous."""

import re

from ingot.core.errors import too_long_message

_SEGMENT = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*(?<!\.)|[A-Za-z0-9_]")
_RESERVED_SUFFIXES = (".git", ".atom", ".wiki")
FORMAT_MESSAGE = (
    "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
)
MAX_LENGTH = 255

NAMESPACES = "namespaces"
"""Name of the lock for changes of namespace paths, of visibility and of the last owner of a group."""

# Letters of any script, and emoji with their joiners. Compiling such wide sets takes 7 ms each, so they are compiled
# at their first use.
_NAME_CHARACTERS = r"\w\u00a9-\U0001faff"
_PROJECT_NAME = rf"[{_NAME_CHARACTERS}][{_NAME_CHARACTERS}\u2010-\u2015 .+-]*"
_GROUP_NAME = rf"[{_NAME_CHARACTERS}][{_NAME_CHARACTERS}\u2010-\u2015 .+()-]*"
_PROJECT_NAME_MESSAGE = (
    "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."
)
_GROUP_NAME_MESSAGE = (
    "can contain only letters, digits, emojis, '_', '.', dash, space, parenthesis. "
    "It must start with letter, digit, emoji or '_'."
)

# First segments of the URLs of this server, and those that clients expect to be routes of a forge.
RESERVED_AT_TOP = frozenset(
    """
    - .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin all api apple-touch-icon.png assets
    autocomplete ci dashboard deploy.html explore favicon.ico favicon.png files groups health_check help hooks import
    invites issues jwt koding login member merge_requests new notes notification_settings oauth profile projects
    public repository robots.txt s search sent_notifications services sitemap.xml slash-command-logo.png snippets
    teams u unicorn_test unsubscribes uploads users v2
    """.split()  # noqa: SIM905 - A list of eighty words reads better so.
)

# Segments that follow a namespace or project in the URLs of this server.
RESERVED_BELOW = frozenset(
    """
    - activity analytics audit_events avatar badges blame blob builds commits create create_dir edit files find_file
    group_members hooks issues labels ldap ldap_group_links merge_requests milestones new notification_setting
    pipeline_quota preview projects raw refs subgroups tree update wikis
    """.split()  # noqa: SIM905 - A list of forty words reads better so.
)
RESERVED_PROJECTS = frozenset(
    """
    - badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis
    """.split()  # noqa: SIM905 - A list of many words reads better so.
)


def path_error(path: str, reserved: frozenset[str] = RESERVED_AT_TOP) -> str | None:
    """Return why ``path`` cannot be a path segment of a URL, or None if it can."""
    if not path:
        return "can't be blank"
    if len(path) > MAX_LENGTH:
        return too_long_message(MAX_LENGTH)
    if not _SEGMENT.fullmatch(path) or path in (".", "..") or path.lower().endswith(_RESERVED_SUFFIXES):
        return FORMAT_MESSAGE
    if path.lower() in reserved:
        return "is a reserved name"
    return None


def project_name_error(name: str) -> str | None:
    """Return why a project cannot have this name, or None if it can."""
    return _name_error(name, _PROJECT_NAME, _PROJECT_NAME_MESSAGE)


def group_name_error(name: str) -> str | None:
    """Return why a group cannot have this name, or None if it can."""
    return _name_error(name, _GROUP_NAME, _GROUP_NAME_MESSAGE)


def _name_error(name: str, allowed: str, message: str) -> str | None:
    if not name:
        return "can't be blank"
    if len(name) > MAX_LENGTH:
        return too_long_message(MAX_LENGTH)
    return None if re.fullmatch(allowed, name) else message
