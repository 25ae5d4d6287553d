"""What users, groups and projects may be called, so that every path leads to one thing."""

import re

_SEGMENT = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*(?<!\.)|[A-Za-z0-9_]")
_ENDINGS = (".git", ".atom", ".wiki")
FORMAT_MESSAGE = (
    "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."
)
MOST_CHARACTERS = 255

# First segments of our own URLs, and those that clients take for the forge's.
RESERVED_AT_TOP = frozenset(
    """
    - .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin all api apple-touch-icon.png assets
    autocomplete ci dashboard deploy.html explore favicon.ico favicon.png files groups health_check help hooks import
    invites issues jwt koding login member merge_requests metrics new notes notification_settings oauth profile projects
    public repository robots.txt s search sent_notifications services sitemap.xml slash-command-logo.png snippets
    static teams u unicorn_test unsubscribes uploads user users v2
    """.split()  # noqa: SIM905 - A list of eighty words reads better so.
)


def path_trouble(path: str, reserved: frozenset[str] = RESERVED_AT_TOP) -> str | None:
    """Why ``path`` cannot be one segment of an address, or nothing where it can."""
    if not path:
        return "can't be blank"
    if len(path) > MOST_CHARACTERS:
        return f"is too long (maximum is {MOST_CHARACTERS} characters)"
    if not _SEGMENT.fullmatch(path) or path in (".", "..") or path.lower().endswith(_ENDINGS):
        return FORMAT_MESSAGE
    if path.lower() in reserved:
        return "is a reserved name"
    return None
