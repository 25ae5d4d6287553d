"""Cache of query results, valid until a row changes that they depend on; one for each reading connection."""

import re
from collections.abc import Container, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from ingot.core.cache import BoundedCache, declare_cache

ANY_COMMIT = "*"
"""Subject of every commit, for results of which nothing else is known."""
RECORDED_TABLES: Mapping[str, str | None] = {
    "access_tokens": "id",
    "ci_settings": "project_id",
    "group_shares": None,
    "identities": "user_id",
    "instance_settings": None,
    "memberships": "user_id",
    "merge_request_assignees": "merge_request_id",
    "merge_request_reviewers": "merge_request_id",
    "merge_request_versions": "merge_request_id",
    "merge_requests": "id",
    "namespace_tree": None,
    "namespaces": None,
    "path_redirects": None,
    "project_redirects": None,
    "project_shares": "project_id",
    "project_topics": "project_id",
    "projects": "id",
    "sessions": "id",
    "users": "id",
}
"""Tables whose changes are recorded (see ``row_changes``), and the column that names the changed row."""
_MAX_KEYS = 2_000
_KEY_BYTES = 250
"""Memory of a key, and of its entry in the set of keys of its connection."""
_SUBJECT_BYTES = 100
_WORD = re.compile(r"\w+")


def subjects_of_statement(text: str, tables: Container[str]) -> frozenset[str]:
    """Return the tables that a statement reads, or ``ANY_COMMIT`` if changes of one of them are not recorded.

    A column with the name of a table counts as the table, which is safe.
    """
    names = {word for word in _WORD.findall(text) if word in tables}
    return frozenset(names if names <= RECORDED_TABLES.keys() else {ANY_COMMIT})


def subjects_of_result(read: set[str], rows: Mapping[str, int | None]) -> frozenset[str]:
    """Return the subjects of a result from those that were read and from tables of which one row or all matter."""
    subjects = read.union(rows)
    if ANY_COMMIT in subjects or not subjects:
        return frozenset({ANY_COMMIT})
    return frozenset(name if rows.get(name) is None else f"{name}/{rows[name]}" for name in subjects)


class CachedResult(NamedTuple):
    """Result of a query."""

    value: Any
    subjects: frozenset[str]
    """Tables and rows that it depends on."""


class ChangeLog(Protocol):
    """Part of an engine that reports commits."""

    def changes_since(self, raw: Any, position: Any) -> tuple[Any, Iterable[str] | None]:
        """Return the current position in the log of commits, and the subjects of those after ``position``.

        Every commit has the subject ``ANY_COMMIT``. None stands for all subjects.
        """


_read_cache: BoundedCache[tuple[object, Hashable], CachedResult] = declare_cache("database-reads", share=4)


class ReadCache:
    """Query results of one connection, exactly as a new query would return them.

    Before each unit of work the engine reports the changes that were committed since. In SQLite that takes 3 µs if
    there are none, whereas identifying the caller takes 15 µs and finding a project 40 µs; nearly every request does
    both. On PostgreSQL it is one query instead of two or more.
    """

    def __init__(self, raw: Any, log: ChangeLog) -> None:
        self._raw = raw
        self._log = log
        self._position: Any = None
        # The results of other connections may be newer or older, so each connection has its own keys.
        self._owner = object()
        self._keys: set[tuple[object, Hashable]] = set()
        self._dependents: dict[str, set[tuple[object, Hashable]]] = {}

    def refresh(self) -> None:
        """Remove the results that depend on what was committed since the last call."""
        self._position, subjects = self._log.changes_since(self._raw, self._position)
        if subjects is None:
            self.clear()
            return
        for subject in subjects:
            table, _, key = subject.partition("/")
            for name in (subject, table) if key else (table,):
                outdated = self._dependents.pop(name, None)
                if outdated:
                    _read_cache.discard(outdated)
                    # Further subjects may still name these keys, unless they depend on every commit.
                    if name == ANY_COMMIT:
                        self._keys -= outdated

    def get(self, key: Hashable) -> CachedResult | None:
        """Return the result stored under a key."""
        return _read_cache.get((self._owner, key))

    def put(self, key: Hashable, result: CachedResult, size: int) -> None:
        """Store a result of ``size`` bytes."""
        if len(self._keys) >= _MAX_KEYS:  # Evicted keys are not reported, so the sets would grow without limit.
            self.clear()
        own_key = self._owner, key
        self._keys.add(own_key)
        for subject in result.subjects:
            self._dependents.setdefault(subject, set()).add(own_key)
        _read_cache.put(own_key, result, size + _KEY_BYTES + _SUBJECT_BYTES * len(result.subjects))

    def clear(self) -> None:
        """Remove all results of this connection."""
        if self._keys:
            _read_cache.discard(self._keys)
            self._keys.clear()
            self._dependents.clear()
