"""References in a text: issues, merge requests, users and other records, by symbol or URL."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from ingot.core.markup.literal_spans import mask_non_prose
from ingot.core.markup.text_scans import text_scan

MAX_REFERENCES = 1000
"""Limit of references per text; the rest is treated as prose."""
MAX_PATH_LENGTH = 1024
MAX_URL_LENGTH = 2048
_MAX_NUMBER = 2**31 - 1

ReferenceKind = Literal[
    "issue", "external_issue", "merge_request", "snippet", "label", "milestone", "user", "commit", "commit_range"
]


class Reference(msgspec.Struct, frozen=True):
    """A reference at a position in a text; the record may not exist."""

    kind: ReferenceKind
    project: str | None
    """The project as written: a full path, or a path relative to the group of the text's project."""
    name: str
    start: int
    end: int
    url: str | None = None
    """The URL, if the reference is written as one."""

    @property
    def number(self) -> int | None:
        """The name as a number, or None."""
        # Python refuses to convert thousands of digits.
        number = int(self.name) if self.name.isascii() and self.name.isdecimal() and len(self.name) < 20 else None
        return number if number is not None and number <= _MAX_NUMBER else None


class PlainUrl(msgspec.Struct, frozen=True):
    """A URL in a text that is not a reference."""

    url: str
    start: int
    end: int


_SEGMENT = "[A-Za-z0-9_.][A-Za-z0-9_.-]*+"
_PATH = rf"{_SEGMENT}(?:/{_SEGMENT})*+"
_SHA = "[0-9a-f]{7,40}+"
_RANGE = rf"{_SHA}\.{{2,3}}+{_SHA}"
_END = "(?![A-Za-z0-9_])"

# Paths are matched possessively and only at their start, so no character is scanned more than a few times.
_REFERENCE = re.compile(
    rf"""
    (?<![A-Za-z0-9_])(?P<url>https?://[^\s<>"`\[\]\x00]++)
    |(?:(?<![A-Za-z0-9_./-])(?P<project>{_PATH}))?+
     (?:
      (?<!&)\#(?P<issue>[0-9]++){_END}
     |!(?P<merge_request>[0-9]++){_END}
     |\$(?P<snippet>[0-9]++){_END}
     |(?<!~)~(?:"(?P<quoted_label>[^"\n\x00]++)"|(?P<label>[A-Za-z0-9_.?&-]++))
     |%(?:"(?P<quoted_milestone>[^"\n\x00]++)"|(?P<milestone>[^\s"%<>\x00]++))
     |(?<=[A-Za-z0-9_-])@(?P<project_sha>{_RANGE}|{_SHA}){_END}
     )
    |(?<![A-Za-z0-9_])@(?P<user>{_PATH})
    |(?<![A-Za-z0-9_./-])(?P<sha>{_RANGE}|{_SHA}){_END}
    |(?<![A-Za-z0-9_./-])(?P<external>[A-Z][A-Z0-9_]{{1,63}}+-[0-9]{{1,19}}+){_END}
    """,
    re.VERBOSE,
)
_NUMBERED: tuple[ReferenceKind, ...] = ("issue", "merge_request", "snippet")

_KIND_BY_SEGMENT: dict[str, ReferenceKind] = {
    "issues": "issue",
    "merge_requests": "merge_request",
    "snippets": "snippet",
    "milestones": "milestone",
    "commit": "commit",
    "compare": "commit_range",
}
_RECORD_URL = re.compile(
    rf"/(?P<project>{_SEGMENT}(?:/{_SEGMENT})+?)(?:/-)?/(?P<segment>{'|'.join(_KIND_BY_SEGMENT)})/(?P<name>[0-9a-f.]+)"
    r"(?:[/?#].*)?"
)

_CLOSING = re.compile(
    r"(?<![A-Za-z0-9_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)"
    r"|[Ii]mplement(?:s|ed|ing)?):?[ \t]++"
)
_NOUN = re.compile(r"(?:issues?[ \t]++)?+")
_BETWEEN = re.compile(r",[ \t]*+(?:(?:and|or)[ \t]++)?+|[ \t]++(?:(?:and|or)[ \t]++)?+")


_SUBJECTS = re.compile(r"[#!][0-9]|/(?:issues|merge_requests)/[0-9]")


@text_scan
def can_mention_subjects(text: str) -> bool:
    """Return quickly whether a text may contain references to issues or merge requests."""
    return _SUBJECTS.search(text) is not None


def can_mention_issues(text: str) -> bool:
    """Return quickly whether a text may contain references to issues."""
    return "#" in text or "/issues/" in text


@text_scan
def extract_references(text: str, base_url: str | None = None) -> list[Reference]:
    """List the first references of a markdown text; ``base_url`` is the external URL of this server."""
    return _first_references(mask_non_prose(text), base_url)


def _first_references(prose: str, base_url: str | None) -> list[Reference]:
    references: list[Reference] = []
    for match in scan_references(prose, base_url):
        if isinstance(match, Reference):
            references.append(match)
            if len(references) == MAX_REFERENCES:
                break
    return references


@text_scan
def closing_references(text: str, base_url: str | None = None, *, external: bool = False) -> list[Reference]:
    """List the issues that a text closes, each once, in order.

    With ``external``, issues of external trackers are included.
    """
    prose = mask_non_prose(text)
    kinds = ("issue", "external_issue") if external else ("issue",)
    issue_at = {
        reference.start: reference for reference in _first_references(prose, base_url) if reference.kind in kinds
    }
    closed: dict[tuple[str | None, str], Reference] = {}
    position = 0
    while issue_at and (verb := _CLOSING.search(prose, position)) is not None:
        position = verb.end()
        while (issue := issue_at.get(_end_of(_NOUN, prose, position))) is not None:
            closed.setdefault((issue.project, issue.name), issue)
            position = issue.end
            between = _BETWEEN.match(prose, position)
            if between is None:
                break
            position = between.end()
    return list(closed.values())


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def full_project_path(reference: Reference, own: str) -> str:
    """Return the full path of the referenced project, for a text of the project ``own``."""
    if reference.project is None:
        return own
    if "/" in reference.project or "/" not in own:
        return reference.project
    return f"{own.rpartition('/')[0]}/{reference.project}"


def scan_references(prose: str, base_url: str | None = None) -> Iterator[Reference | PlainUrl]:
    """Yield every reference and URL of a text without code or HTML, from left to right."""
    for match in _REFERENCE.finditer(prose):
        reference = _from_url(match, base_url) if match["url"] else _from_symbol(match)
        if reference is not None:
            yield reference


def _from_symbol(match: re.Match[str]) -> Reference | None:
    project: str | None = match["project"]
    kind: ReferenceKind
    if match["project_sha"] and project is None:
        return None
    if match["external"]:
        kind, name = "external_issue", match["external"]
    elif match["user"]:
        kind, name = "user", match["user"].rstrip(".")
    elif match["project_sha"] or match["sha"]:
        name = match["project_sha"] or match["sha"]
        kind = "commit_range" if ".." in name else "commit"
    elif match["label"] or match["quoted_label"]:
        kind, name = "label", match["quoted_label"] or match["label"].rstrip(".?")
    elif match["milestone"] or match["quoted_milestone"]:
        kind, name = "milestone", match["quoted_milestone"] or _up_to_last_word(match["milestone"])
    else:
        kind = next(candidate for candidate in _NUMBERED if match[candidate])
        name = match[kind].lstrip("0")
        if not name or len(name) > 10 or int(name) > _MAX_NUMBER:
            return None
    if not _can_be_name(name) or (project is not None and not _can_be_path(project)):
        return None
    # The symbol and the quotes belong to the reference; trailing punctuation that was cut off does not.
    start = match.start()
    end = match.end()
    untrimmed = match["user"] or match["label"] or match["milestone"]
    if untrimmed:
        end -= len(untrimmed) - len(name)
    return Reference(kind, project, name, start, end)


def _up_to_last_word(name: str) -> str:
    end = len(name)
    while end and not (name[end - 1].isalnum() or name[end - 1] == "_"):
        end -= 1
    return name[:end]


def _can_be_name(name: str) -> bool:
    return 0 < len(name) <= MAX_PATH_LENGTH and name.strip() != ""


def _can_be_path(path: str) -> bool:
    return len(path) <= MAX_PATH_LENGTH and not path.endswith(".") and "./" not in path


def _from_url(match: re.Match[str], base_url: str | None) -> Reference | PlainUrl | None:
    url = trim_url(match["url"])
    start, end = match.start(), match.start() + len(url)
    if url.endswith("://"):
        return None
    return reference_from_url(url, base_url, start, end) or PlainUrl(url, start, end)


def reference_from_url(url: str, base_url: str | None, start: int = 0, end: int = 0) -> Reference | None:
    """Return the reference that a URL of this server names, or None."""
    if base_url is None or len(url) > MAX_URL_LENGTH or not url.startswith(base_url.rstrip("/") + "/"):
        return None
    match = _RECORD_URL.fullmatch(url, len(base_url.rstrip("/")))
    if match is None:
        return None
    kind, name = _KIND_BY_SEGMENT[match["segment"]], match["name"]
    shape = {"commit": _SHA, "commit_range": _RANGE}.get(kind, "[1-9][0-9]{0,9}")
    if not re.fullmatch(shape, name) or not _can_be_path(match["project"]):
        return None
    if kind not in ("commit", "commit_range") and int(name) > _MAX_NUMBER:
        return None
    return Reference(kind, match["project"], name, start, end, url)


def trim_url(url: str) -> str:
    """Remove trailing punctuation that belongs to the sentence around a URL."""
    opened, closed = url.count("("), url.count(")")
    end = len(url)
    while end:
        last = url[end - 1]
        if last == ")" and closed > opened:
            closed -= 1
        elif last not in ".,:;!?'*_~":
            break
        end -= 1
    return url[:end]
