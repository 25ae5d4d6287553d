"""State changes of push rules."""

import msgspec

from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound
from ingot.projects.namespaces.group_options import edited_group_options
from ingot.projects.namespaces.push_rule import PATTERNS, PushRule
from ingot.projects.namespaces.tables import Namespace, namespaces
from ingot.projects.projects.options import edited_options
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.push_rules.params import EditPushRule
from ingot.repositories.push_rules.patterns import compile_pattern

MISSING = "Push Rule"


def save_push_rule(db: Connection, owner: Project | Namespace, params: EditPushRule, *, creates: bool) -> PushRule:
    """Create or change the rule of a project or group; raise Invalid for an expression that is not valid."""
    current = owner.options.push_rule
    if creates and current is not None:
        raise Invalid("Push rule is already defined")
    if not creates and current is None:
        raise NotFound(MISSING)
    given = given_fields(params)
    for name in PATTERNS:
        if given.get(name):
            try:
                compile_pattern(given[name])
            except Invalid as error:
                raise Invalid(**{name: ["is not a valid regular expression"]}) from error
    changed = msgspec.structs.replace(current or PushRule(created_at=db.now), **given)
    _store(db, owner, changed)
    return changed


def delete_push_rule(db: Connection, owner: Project | Namespace) -> None:
    """Delete the rule of a project or group; raise NotFound if it has none."""
    if owner.options.push_rule is None:
        raise NotFound(MISSING)
    _store(db, owner, None)


def _store(db: Connection, owner: Project | Namespace, rule: PushRule | None) -> None:
    if isinstance(owner, Project):
        document = edited_options(owner.options_document, {"push_rule": rule})
        db.update(projects, owner.id, options_document=document)
    else:
        document = edited_group_options(owner.options_document, {"push_rule": rule})
        db.update(namespaces, owner.id, options_document=document)
