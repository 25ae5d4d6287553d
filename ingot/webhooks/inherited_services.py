"""Services that projects and groups inherit from their ancestor groups, as queries of ids."""

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, column, exists, not_, select, table

from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

# The table is declared in a higher package, ``ingot.integrations``.
_services = table("services", *(column(name) for name in ("id", "project_id", "group_id", "slug", "active")))
_nearer = _services.alias("nearer_services")
_groups_between = namespace_tree.alias("groups_between")

ANCESTORS_OF_PROJECT = (
    select(namespace_tree.c.ancestor_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
    .where(projects.c.id == bindparam("project"))
)
_ANCESTORS_OF_GROUP = select(namespace_tree.c.ancestor_id).where(
    namespace_tree.c.descendant_id == bindparam("group"), namespace_tree.c.ancestor_id != bindparam("group")
)


def _inherited(ancestors: Select[Any], is_own: ColumnElement[bool]) -> Select[Any]:
    """Return the ids of the active services of the nearest ancestors, except those that an own service overrides.

    The service of a nearer group overrides those of the groups above it, even if it is inactive.
    """
    between = (
        select(_groups_between.c.descendant_id)
        .where(
            _groups_between.c.ancestor_id == _services.c.group_id,
            _groups_between.c.descendant_id != _services.c.group_id,
            _groups_between.c.descendant_id.in_(ancestors),
        )
        .correlate(_services)
    )
    # Two conditions, since no index serves both at once.
    overrides = [
        exists().where(_nearer.c.slug == _services.c.slug, condition).correlate(_services)
        for condition in (is_own, _nearer.c.group_id.in_(between))
    ]
    inherited = select(_services.c.id).where(_services.c.active, _services.c.group_id.in_(ancestors))
    return inherited.where(*(not_(each) for each in overrides))


INHERITED_BY_PROJECT = _inherited(ANCESTORS_OF_PROJECT, _nearer.c.project_id == bindparam("project"))
INHERITED_BY_GROUP = _inherited(_ANCESTORS_OF_GROUP, _nearer.c.group_id == bindparam("group"))
