"""What a text refers to: issues, merge requests, people and the like, by the signs that people write for them."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from ingot.core.markup.literal_spans import mask_non_prose

MAX_REFERENCES = 1000
"""So many references of a text count; the rest is prose."""
MAX_PATH_LENGTH = 1024
MAX_URL_LENGTH = 2048
_MAX_NUMBER = 2**31 - 1

ReferenceKind = Literal[
    "issue", "external_issue", "merge_request", "snippet", "label", "milestone", "user", "commit", "commit_range"
]


class Reference(msgspec.Struct, frozen=True):
    """One place of a text that names something; whether that exists is for others to say."""

    kind: ReferenceKind
    project: str | None
    """As it is written: with its groups, or alone where it lies beside the text's own project."""
    name: str
    start: int
    end: int
    url: str | None = None
    """The address, where the text holds one instead of a sign."""

    @property
    def number(self) -> int | None:
        """The name as a number, where it is one."""
        return (
            int(self.name) if self.name.isascii() and self.name.isdecimal() and int(self.name) <= _MAX_NUMBER else None
        )


class PlainUrl(msgspec.Struct, frozen=True):
    """A web address in a text, which says nothing that we know."""

    url: str
    start: int
    end: int


_SEGMENT = "[A-Za-z0-9_.][A-Za-z0-9_.-]*+"
_PATH = rf"{_SEGMENT}(?:/{_SEGMENT})*+"
_SHA = "[0-9a-f]{7,40}+"
_RANGE = rf"{_SHA}\.{{2,3}}+{_SHA}"
_END = "(?![A-Za-z0-9_])"

# A path is only tried where none runs already and is never given back, so no character is read more than a few times.
_MARK = re.compile(
    rf"""
    (?<![A-Za-z0-9_])(?P<url>https?://[^\s<>"`\[\]\x00]++)
    |(?:(?<![A-Za-z0-9_./-])(?P<project>{_PATH}))?+
     (?:
      (?<!&)\#(?P<issue>[0-9]++){_END}
     |!(?P<merge_request>[0-9]++){_END}
     |\$(?P<snippet>[0-9]++){_END}
     |(?<!~)~(?:"(?P<quoted_label>[^"\n\x00]++)"|(?P<label>[A-Za-z0-9_.?&-]++))
     |%(?:"(?P<quoted_milestone>[^"\n\x00]++)"|(?P<milestone>[^\s"%<>\x00]++))
     |(?<=[A-Za-z0-9_-])@(?P<there>{_RANGE}|{_SHA}){_END}
     )
    |(?<![A-Za-z0-9_])@(?P<user>{_PATH})
    |(?<![A-Za-z0-9_./-])(?P<here>{_RANGE}|{_SHA}){_END}
    |(?<![A-Za-z0-9_./-])(?P<external>[A-Z][A-Z0-9_]{{1,63}}+-[0-9]{{1,19}}+){_END}
    """,
    re.VERBOSE,
)
_NUMBERED: tuple[ReferenceKind, ...] = ("issue", "merge_request", "snippet")

_ADDRESSED: dict[str, ReferenceKind] = {
    "issues": "issue",
    "merge_requests": "merge_request",
    "snippets": "snippet",
    "milestones": "milestone",
    "commit": "commit",
    "compare": "commit_range",
}
_ADDRESS = re.compile(
    rf"/(?P<project>{_SEGMENT}(?:/{_SEGMENT})+?)(?:/-)?/(?P<what>{'|'.join(_ADDRESSED)})/(?P<name>[0-9a-f.]+)"
    r"(?:[/?#].*)?"
)

_CLOSING = re.compile(
    r"(?<![A-Za-z0-9_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)"
    r"|[Ii]mplement(?:s|ed|ing)?):?[ \t]++"
)
_NOUN = re.compile(r"(?:issues?[ \t]++)?+")
_BETWEEN = re.compile(r",[ \t]*+(?:(?:and|or)[ \t]++)?+|[ \t]++(?:(?:and|or)[ \t]++)?+")


_SUBJECTS = re.compile(r"[#!][0-9]|/(?:issues|merge_requests)/[0-9]")


def can_mention_subjects(text: str) -> bool:
    """Whether it is worth while to look for issues and merge requests in a text."""
    return _SUBJECTS.search(text) is not None


def can_mention_issues(text: str) -> bool:
    """Whether it is worth while to look for any in a text: none goes without one of these signs."""
    return "#" in text or "/issues/" in text


def extract_references(text: str, base_url: str | None = None) -> list[Reference]:
    """The first references of a markdown text; ``base_url`` is where addresses of this house begin."""
    return _first(mask_non_prose(text), base_url)


def _first(prose: str, base_url: str | None) -> list[Reference]:
    found: list[Reference] = []
    for mark in scan_references(prose, base_url):
        if isinstance(mark, Reference):
            found.append(mark)
            if len(found) == MAX_REFERENCES:
                break
    return found


def closing_references(text: str, base_url: str | None = None, *, external: bool = False) -> list[Reference]:
    """The issues that a text says it closes, each once, in their order; with ``external`` also those kept elsewhere."""
    prose = mask_non_prose(text)
    kinds = ("issue", "external_issue") if external else ("issue",)
    at = {one.start: one for one in _first(prose, base_url) if one.kind in kinds}
    closed: dict[tuple[str | None, str], Reference] = {}
    position = 0
    while at and (verb := _CLOSING.search(prose, position)) is not None:
        position = verb.end()
        while (issue := at.get(_end_of(_NOUN, prose, position))) is not None:
            closed.setdefault((issue.project, issue.name), issue)
            position = issue.end
            between = _BETWEEN.match(prose, position)
            if between is None:
                break
            position = between.end()
    return list(closed.values())


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


def full_project_path(reference: Reference, own: str) -> str:
    """Which project is meant by a reference in a text of the project ``own``."""
    if reference.project is None:
        return own
    if "/" in reference.project or "/" not in own:
        return reference.project
    return f"{own.rpartition('/')[0]}/{reference.project}"


def scan_references(prose: str, base_url: str | None = None) -> Iterator[Reference | PlainUrl]:
    """Every reference and web address of a text that is prose throughout, from left to right."""
    for found in _MARK.finditer(prose):
        mark = _from_url(found, base_url) if found["url"] else _from_symbol(found)
        if mark is not None:
            yield mark


def _from_symbol(found: re.Match[str]) -> Reference | None:
    project: str | None = found["project"]
    kind: ReferenceKind
    if found["there"] and project is None:
        return None
    if found["external"]:
        kind, name = "external_issue", found["external"]
    elif found["user"]:
        kind, name = "user", found["user"].rstrip(".")
    elif found["there"] or found["here"]:
        name = found["there"] or found["here"]
        kind = "commit_range" if ".." in name else "commit"
    elif found["label"] or found["quoted_label"]:
        kind, name = "label", found["quoted_label"] or found["label"].rstrip(".?")
    elif found["milestone"] or found["quoted_milestone"]:
        kind, name = "milestone", found["quoted_milestone"] or _up_to_last_word(found["milestone"])
    else:
        kind = next(one for one in _NUMBERED if found[one])
        name = found[kind].lstrip("0")
        if not name or len(name) > 10 or int(name) > _MAX_NUMBER:
            return None
    if not _can_be_name(name) or (project is not None and not _can_be_path(project)):
        return None
    # The sign before a name and a closing quote belong to the reference; what was cut off its end does not.
    start = found.start()
    end = found.end()
    cut = found["user"] or found["label"] or found["milestone"]
    if cut:
        end -= len(cut) - len(name)
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


def _from_url(found: re.Match[str], base_url: str | None) -> Reference | PlainUrl | None:
    url = trim_url(found["url"])
    start, end = found.start(), found.start() + len(url)
    if url.endswith("://"):
        return None
    return reference_from_url(url, base_url, start, end) or PlainUrl(url, start, end)


def reference_from_url(url: str, base_url: str | None, start: int = 0, end: int = 0) -> Reference | None:
    """What an address of this house names, or nothing."""
    if base_url is None or len(url) > MAX_URL_LENGTH or not url.startswith(base_url.rstrip("/") + "/"):
        return None
    address = _ADDRESS.fullmatch(url, len(base_url.rstrip("/")))
    if address is None:
        return None
    kind, name = _ADDRESSED[address["what"]], address["name"]
    shape = {"commit": _SHA, "commit_range": _RANGE}.get(kind, "[1-9][0-9]{0,9}")
    if not re.fullmatch(shape, name) or not _can_be_path(address["project"]):
        return None
    if kind not in ("commit", "commit_range") and int(name) > _MAX_NUMBER:
        return None
    return Reference(kind, address["project"], name, start, end, url)


def trim_url(url: str) -> str:
    """An address without what rather ends the sentence that it stands in."""
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
