"""What a text refers to in its own project, said so that it is found from another one."""

from collections.abc import Callable, Iterable
from itertools import chain, islice

from ingot.collaboration.issues.text_references import referenced_issues
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.references import MAX_REFERENCES, Reference, extract_references, full_project_path
from ingot.projects.projects.tables import Project

_WHOLE_OID = 40


def qualify_references(db: Connection, actor: Actor, home: Project, texts: Iterable[str]) -> Callable[[str], str]:
    """How to say what ``texts`` of a project say, elsewhere.

    Merge requests, whole commits, and those issues that are there for who moves the text get the project's path in
    front of them; what only looks like one stays as it is.
    """
    own = home.full_path
    issues = (
        one
        for one in chain.from_iterable(map(extract_references, texts))
        if one.kind == "issue" and _is_unqualified(one)
    )
    found = referenced_issues(db, actor, own, islice(issues, MAX_REFERENCES), MAX_REFERENCES)
    there = {(one.project.full_path.lower(), one.issue.iid) for one in found}

    def is_meant(one: Reference) -> bool:
        if not _is_unqualified(one):
            return False
        if one.kind == "issue":
            return (full_project_path(one, own).lower(), one.number) in there
        return one.kind == "merge_request" or (one.kind == "commit" and len(one.name) == _WHOLE_OID)

    def rename(text: str) -> str:
        pieces, done = [], 0
        for one in extract_references(text):
            if is_meant(one):
                sign = "@" if one.kind == "commit" and one.project is None else ""
                pieces += [text[done : one.start], full_project_path(one, own), sign]
                done = one.start + len(one.project or "")
        return "".join(pieces) + text[done:]

    return rename


def _is_unqualified(one: Reference) -> bool:
    """Whether it says less than the whole path of a project."""
    return one.url is None and (one.project is None or "/" not in one.project)
