"""Rewriting of texts of a source: attachments, links to the source's project, and mentions of its users."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.core.markup.references import extract_references

MAX_TEXT = 1_000_000
MAX_ATTACHMENTS = 500
"""Number of attachments of one record that are copied."""
_HEX = "[0-9a-f]"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_STOP = r"\s()<>\[\]\"'`\\"
# Addresses of attachments as GitLab, GitHub, Gitea and Forgejo write them, relative or absolute.
_ATTACHMENT = re.compile(
    rf"(?<![^\s(<>\[\"'=])"
    rf"(?:https?://[^{_STOP}?#]{{1,300}}?)?"
    rf"(?:/uploads/{_HEX}{{32}}/[^{_STOP}]{{1,255}}|/attachments/{_UUID}"
    rf"|/user-attachments/(?:assets|files)/[^{_STOP}]{{1,300}}|/assets/[0-9]+/[^{_STOP}]{{1,300}})"
    rf"|https://(?:private-)?user-images\.githubusercontent\.com/[^{_STOP}]{{1,2000}}"
)
# Parts of addresses of other forges, and the corresponding ones here.
_SEGMENTS = {
    "pull": "merge_requests",
    "pulls": "merge_requests",
    "merge_requests": "merge_requests",
    "issues": "issues",
    "commit": "commit",
    "commits": "commits",
    "tree": "tree",
    "blob": "blob",
    "compare": "compare",
    "milestone": "milestones",
    "milestones": "milestones",
    "releases": "releases",
    "wikis": "wikis",
    "snippets": "snippets",
}
_PAGE = re.compile(rf"(?:/-)?/({'|'.join(_SEGMENTS)})(?=[/?#\s).,;:!\]\"'>]|$)")


class MentionedUser(NamedTuple):
    """User of this instance who stands for a mentioned user of the source."""

    id: int
    # None for a placeholder, whose mentions keep the name of the source.
    username: str | None


def clean(text: str) -> str:
    """Return the text without characters that the database cannot store."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def limited(text: str, length: int) -> str:
    """Return a single line of at most ``length`` characters."""
    return clean(text).strip()[:length].strip()


def attachment_links(texts: Iterable[str]) -> list[str]:
    """Return the addresses of attachments in texts, each once and in order."""
    links: dict[str, None] = {}
    for text in texts:
        if "/uploads/" in text or "attachments/" in text or "/assets/" in text or "user-images" in text:
            links.update((match[0].rstrip(".,;:!"), None) for match in _ATTACHMENT.finditer(text))
    return list(links)[:MAX_ATTACHMENTS]


def mentioned_names(texts: Iterable[str]) -> set[str]:
    """Return the names in texts that can be mentions of users, in lower case."""
    return {
        reference.name.lower()
        for text in texts
        if "@" in text
        for reference in extract_references(text)
        if reference.kind == "user"
    }


class RewrittenText(NamedTuple):
    """Text as it is stored, and the ids of the users whom it mentions."""

    text: str
    mentioned: tuple[int, ...] = ()


class TextRewriter:
    """Rewriting of the texts of one batch."""

    def __init__(
        self,
        source_url: str | None,
        project_url: str,
        attachments: Mapping[str, str],
        users: Mapping[str, MentionedUser],
    ) -> None:
        self._project_url = project_url
        self._source_url = source_url.rstrip("/").removesuffix(".git") if source_url else None
        self._attachments = attachments
        self._users = users
        self._source_host = urlsplit(source_url).hostname if source_url else None

    def rewrite(self, text: str | None) -> RewrittenText:
        """Return a text with the references of this instance; code keeps its mentions."""
        if not text:
            return RewrittenText("")
        text = clean(text)[:MAX_TEXT]
        if self._attachments and "/" in text:
            text = _ATTACHMENT.sub(self._attachment, text)
        if self._source_url and self._source_url in text:
            text = self._relink(text)
        return self._mention(text) if "@" in text and self._users else RewrittenText(text)

    def _attachment(self, match: re.Match[str]) -> str:
        link = match[0].rstrip(".,;:!")
        local = self._attachments.get(link)
        return match[0] if local is None else local + match[0][len(link) :]

    def _relink(self, text: str) -> str:
        """Replace addresses of pages of the source's project; other addresses of the source are left as they are."""
        pieces: list[str] = []
        position = 0
        address = self._source_url or ""
        while (start := text.find(address, position)) >= 0:
            page = _PAGE.match(text, start + len(address))
            pieces.append(text[position:start])
            if page is None:
                pieces.append(address)
                position = start + len(address)
            else:
                pieces.append(f"{self._project_url}/-/{_SEGMENTS[page[1]]}")
                position = page.end()
        pieces.append(text[position:])
        return "".join(pieces)

    def _mention(self, text: str) -> RewrittenText:
        pieces: list[str] = []
        mentioned: dict[int, None] = {}
        position = 0
        for reference in extract_references(text):
            user = self._users.get(reference.name.lower()) if reference.kind == "user" else None
            if user is None:
                continue
            mentioned[user.id] = None
            if user.username is not None and user.username != reference.name:
                pieces.append(text[position : reference.start] + f"@{user.username}")
                position = reference.end
        pieces.append(text[position:])
        return RewrittenText("".join(pieces), tuple(mentioned))
