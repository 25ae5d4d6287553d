"""What a text refers to in its own project, said so that it is found from another one."""

from collections.abc import Callable, Iterable
from itertools import chain, islice

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.issues.naming import named_issues
from ingot.markup.references import MOST, Reference, full_project_path, references
from ingot.projects.tables import Project

_WHOLE_OID = 40


def renamed(db: Connection, actor: Actor, home: Project, texts: Iterable[str]) -> Callable[[str], str]:
    """How to say what ``texts`` of a project say, elsewhere.

    Merge requests, whole commits, and those issues that are there for who moves the text get the project's path in
    front of them; what only looks like one stays as it is.
    """
    own = home.full_path
    issues = (one for one in chain.from_iterable(map(references, texts)) if one.kind == "issue" and _is_short(one))
    found = named_issues(db, actor, own, islice(issues, MOST), MOST)
    there = {(one.project.full_path.lower(), one.issue.iid) for one in found}

    def is_meant(one: Reference) -> bool:
        if not _is_short(one):
            return False
        if one.kind == "issue":
            return (full_project_path(one, own).lower(), one.number) in there
        return one.kind == "merge_request" or (one.kind == "commit" and len(one.name) == _WHOLE_OID)

    def rename(text: str) -> str:
        pieces, done = [], 0
        for one in references(text):
            if is_meant(one):
                sign = "@" if one.kind == "commit" and one.project is None else ""
                pieces += [text[done : one.start], full_project_path(one, own), sign]
                done = one.start + len(one.project or "")
        return "".join(pieces) + text[done:]

    return rename


def _is_short(one: Reference) -> bool:
    """Whether it says less than the whole path of a project."""
    return one.url is None and (one.project is None or "/" not in one.project)
