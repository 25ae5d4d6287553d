"""Headers of mails that must not contain encoded words (RFC 2047, section 5): ids and URLs in angle brackets."""

from email.headerregistry import BaseHeader, HeaderRegistry
from email.message import EmailMessage
from email.policy import EmailPolicy, Policy
from typing import Any
from urllib.parse import quote

_NAMES = ("message-id", "in-reply-to", "references", "list-id", "list-unsubscribe", "list-unsubscribe-post")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_MAX_LINE_LENGTH = 78


class PlainHeader(BaseHeader):
    """A header of words that stay as they are, however long; lines are broken only between them."""

    max_count = 1

    @classmethod
    def parse(cls, string: str, kwds: dict[str, Any]) -> None:
        """Set the value; characters beyond ASCII, which only a URL can have, are percent-encoded."""
        kwds["decoded"] = " ".join(quote(word, safe=_ASCII) for word in string.split())
        kwds["parse_tree"] = None

    def fold(self, *, policy: Policy) -> str:
        """Return the header with its name; the first word is in the line of the name, as all programs expect."""
        first, *words = str(self).split() or [""]
        lines = [f"{self.name}: {first}"]
        for word in words:
            if len(lines[-1]) + 1 + len(word) > _MAX_LINE_LENGTH:
                lines.append("")
            lines[-1] += f" {word}"
        return policy.linesep.join(lines) + policy.linesep


def mail_policy() -> "EmailPolicy[EmailMessage]":
    """Return the policy of outgoing mails."""
    registry = HeaderRegistry()
    for name in _NAMES:
        registry.map_to_type(name, PlainHeader)
    return EmailPolicy(header_factory=registry)
