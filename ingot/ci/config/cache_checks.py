"""Checks of ``cache``."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

from ingot.ci.config.checks import (
    Problem,
    at_most,
    attribute,
    boolean,
    each,
    either,
    every,
    expect,
    mapping,
    one_of,
    string,
    strings,
)

MAX_CACHES = 4
MAX_FALLBACK_KEYS = 5
MAX_KEY_FILES = 2
_CACHE_POLICY = re.compile(r"pull-push|push|pull|\$\w{1,255}|\$\{\w{1,255}\}", re.ASCII)


def _key_text(value: Any) -> Iterator[Problem]:
    """Check a text that becomes a part of the name of a file."""
    if not isinstance(value, str):
        yield "", "config should be a string or symbol"
        return
    name = unquote_plus(value)
    if "/" in name:
        yield "", 'config cannot contain the "/" character'
    elif name in (".", ".."):
        yield "", 'config cannot be "." or ".."'


_key_files = every(
    strings,
    expect(lambda value: value != [], "requires at least 1 item"),
    at_most(MAX_KEY_FILES, f"has too many items (maximum is {MAX_KEY_FILES})"),
)


def _cache_key_files(value: dict[str, Any]) -> Iterator[Problem]:
    required = () if "files_commits" in value else ("files",)
    entries = {"files": _key_files, "files_commits": _key_files, "prefix": _key_text}
    yield from mapping(entries=entries, required=required)(value)


_cache_key = either("should be a hash, a string or a symbol", (str, _key_text), (dict, _cache_key_files))


def _cache_policy(value: Any) -> Iterator[Problem]:
    yield from string(value)
    if value != "" and not (isinstance(value, str) and _CACHE_POLICY.fullmatch(value)):
        yield "", "config should be a variable or one of: pull-push, push, pull"


_fallback_keys = at_most(MAX_FALLBACK_KEYS, f"has to many entries (maximum {MAX_FALLBACK_KEYS})")


def _cache_entry(value: Any) -> Iterator[Problem]:
    problems = [*_cache_mapping(value)]
    yield from problems
    if not problems and value.get("fallback_keys") is not None:
        yield from attribute("fallback_keys", _fallback_keys, value["fallback_keys"])


_cache_mapping = mapping(
    {"policy": _cache_policy, "when": one_of("on_success", "on_failure", "always")},
    {"key": _cache_key, "unprotect": boolean, "untracked": boolean, "paths": strings, "fallback_keys": strings},
)


def cache(value: Any) -> Iterator[Problem]:
    """Check one cache or a list of them; messages about the list name ``caches``."""
    if not isinstance(value, dict | list):
        yield "s", "config can only be a hash or an array"
    elif isinstance(value, list) and len(value) > MAX_CACHES:
        yield "s", f"config no more than {MAX_CACHES} caches can be created"
    else:
        yield from each("", _cache_entry)(value if isinstance(value, list) else [value])
