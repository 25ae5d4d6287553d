"""Rules of the file ``_redirects``: redirects and rewrites with splats and placeholders, as GitLab documents them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MAX_BYTES = 64 * 1024
MAX_RULES = 1000
MAX_PATH_SEGMENTS = 25
_STATUSES = {"301": 301, "302": 302, "200": 200}
_PLACEHOLDER = re.compile(r":([A-Za-z]+)")
_PARTS = re.compile(r"(/\*|\*|:[A-Za-z]+)")


class RedirectRule(NamedTuple):
    """A rule; an invalid one has an error and never matches."""

    pattern: Any
    """Matches the path, or the whole URL if the rule begins with a host."""
    with_host: bool
    target: str
    status: int
    error: str = ""


class RedirectTarget(NamedTuple):
    """Result of a rule: another URL, or another path of the site with the status 200."""

    location: str
    status: int


@lru_cache(32)
def parse_redirects(text: str) -> tuple[RedirectRule, ...]:
    """Return the rules of a file; the library for expressions is loaded by the first one."""
    return tuple(_rules(text))


def _rules(text: str) -> Iterator[RedirectRule]:
    count = 0
    for line in text.splitlines():
        words = line.split("#")[0].split() if line.lstrip().startswith("#") else line.split()
        if "#" in words:
            words = words[: words.index("#")]
        if not words:
            continue
        count += 1
        if count > MAX_RULES:
            return
        yield _rule(words)


def _rule(words: list[str]) -> RedirectRule:
    if len(words) < 2:
        return _invalid("a rule has a path and a target")
    source, target = words[0], words[1]
    status = _STATUSES.get(words[2]) if len(words) > 2 else 301
    if len(words) > 3 or "=" in target.split("?")[0]:
        return _invalid("conditions and query parameters are not supported")
    if status is None:
        return _invalid("the status must be 200, 301 or 302")
    error = _path_error(source) or _path_error(target)
    if error:
        return _invalid(error)
    if _is_url(source) and not _is_url(target):
        return _invalid("a rule that begins with a host needs a target with one")
    if _is_url(target) and status == 200:
        return _invalid("only paths of the site can be rewritten")
    return RedirectRule(_compile(source), _is_url(source), target, status)


def _invalid(error: str) -> RedirectRule:
    return RedirectRule(None, False, "", 0, error)


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _path_error(text: str) -> str:
    path = text
    if _is_url(text):
        try:
            parts = urlsplit(text)
        except ValueError:
            return "the URL is malformed"
        if not parts.hostname:
            return "the URL has no host"
        path = parts.path
    elif not text.startswith("/") or text.startswith("//"):
        return "url path must start with forward slash /"
    if path.count("/") > MAX_PATH_SEGMENTS:
        return f"url path cannot contain more than {MAX_PATH_SEGMENTS} forward slashes"
    return ""


def _compile(source: str) -> Any:
    """Return the expression of a path, which is matched in linear time."""
    import re2

    pattern, names = "(?s)", set[str]()
    for index, part in enumerate(_PARTS.split(source)):
        if index % 2 == 0:
            pattern += re2.escape(part)
            continue
        name, text = ("splat", ".*") if "*" in part else (part[1:], "[^/]+")
        group = f"(?P<{name}>{text})" if name not in names else f"(?:{text})"
        names.add(name)
        # An empty match includes the slash: /old/*/file matches /old/file.
        pattern += f"(?:/{group})?" if part == "/*" else group
    return re2.compile(pattern + "/?")


def find_target(rules: tuple[RedirectRule, ...], scheme: str, host: str, path: str) -> RedirectTarget | None:
    """Return the target of the first rule that matches; rewritten paths may contain no further rules."""
    for rule in rules:
        if rule.pattern is None:
            continue
        match = rule.pattern.fullmatch(f"{scheme}://{host}{path}" if rule.with_host else path)
        if match is not None:
            return RedirectTarget(_filled(rule.target, match), rule.status)
    return None


def _filled(target: str, match: Any) -> str:
    values = match.groupdict()
    # A placeholder without a value becomes empty, but the port of a URL stays.
    return _PLACEHOLDER.sub(lambda found: values.get(found[1]) or "", target)


def describe_rules(rules: tuple[RedirectRule, ...]) -> str:
    """Return the numbered list of rules that is shown instead of the file."""
    lines = [f"{len(rules)} rules"]
    lines += [
        f"rule {number}: error: {rule.error}" if rule.error else f"rule {number}: valid"
        for number, rule in enumerate(rules, 1)
    ]
    return "\n".join(lines) + "\n"
