"""Objects that have no address of their own for GET, such as members of lists; a deletion looks them up elsewhere."""

import re
from typing import Any, NamedTuple
from urllib.parse import unquote


class ListedObject(NamedTuple):
    """Place where an object that a path names is listed."""

    kind: str
    """Name of the object in the message that it does not exist."""
    path: str
    """Path of the document that contains the list."""
    field: str
    """Field of the document with the list; empty if the document is the list."""
    key: str
    """Field of the elements that the value identifies."""
    value: str

    def is_missing_in(self, document: Any) -> bool:
        """Return whether the list is there, without the object; a caller may not see some lists."""
        listed = document.get(self.field) if self.field else document
        return isinstance(listed, list) and all(str(each.get(self.key)) != self.value for each in listed)

    @property
    def message(self) -> str:
        """The message that the object does not exist."""
        return f"404 {self.kind} Not Found" if self.kind else "404 Not Found"


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    field: str
    key: str


_RULES = (
    _Rule("Identity", re.compile(r"(/users/[^/]+)/identities/([^/]+)"), "identities", "provider"),
    _Rule("Application", re.compile(r"(/applications)/([^/]+)"), "", "id"),
    _Rule("Group Link", re.compile(r"(/(?:projects|groups)/[^/]+)/share/([^/]+)"), "shared_with_groups", "group_id"),
    _Rule("", re.compile(r"(/(?:projects|groups)/[^/]+/access_requests)/([^/]+)"), "", "id"),
    _Rule(
        "Pipeline Schedule Variable",
        re.compile(r"(/projects/[^/]+/pipeline_schedules/[^/]+)/variables/([^/]+)"),
        "variables",
        "key",
    ),
    _Rule("Runner", re.compile(r"(/projects/[^/]+/runners)/([^/]+)"), "", "id"),
    _Rule("URL variable", re.compile(r"(.*/hooks/[^/]+)/url_variables/([^/]+)"), "url_variables", "key"),
    _Rule("Custom header", re.compile(r"(.*/hooks/[^/]+)/custom_headers/([^/]+)"), "custom_headers", "key"),
)


def listed_object(path: str) -> ListedObject | None:
    """Return where the object of a path of the API is listed; None if it can be read at its path."""
    for rule in _RULES:
        match = rule.pattern.fullmatch(path)
        if match is not None:
            return ListedObject(rule.kind, match[1], rule.field, rule.key, unquote(match[2]))
    return None
