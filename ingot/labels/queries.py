"""How labels are found."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import bindparam, or_, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.groups.namespaces.tables import namespace_tree
from ingot.labels.tables import Label, label_links, labels
from ingot.projects.tables import Project

# A project's own labels, and those of every group around it.
_AROUND = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
USABLE = select(labels).where(
    or_(labels.c.project_id == bindparam("project"), labels.c.group_id.in_(_AROUND.scalar_subquery()))
)
_BY_TITLES = USABLE.where(any_of(labels.c.title, "titles"))
_BY_IDS = USABLE.where(any_of(labels.c.id, "ids"))
_OF_SUBJECTS = (
    select(label_links.c.subject_id, *labels.c)
    .join(labels, labels.c.id == label_links.c.label_id)
    .where(label_links.c.subject_kind == bindparam("kind"), any_of(label_links.c.subject_id, "subjects"))
    .order_by(labels.c.title_key, labels.c.id)
)


def usable_labels(db: Connection, project: Project, titles: Sequence[str]) -> dict[str, Label]:
    """The labels that things in a project may carry, by title; its own ones count before those of groups."""
    found = db.all(Label, _BY_TITLES, project=project.id, namespace=project.namespace_id, titles=list(titles))
    return {label.title: label for label in sorted(found, key=lambda label: label.project_id is not None)}


def usable_by_ids(db: Connection, project: Project, ids: Sequence[int]) -> list[Label]:
    """The same by number; those of other projects are as good as none."""
    return db.all(Label, _BY_IDS, project=project.id, namespace=project.namespace_id, ids=list(ids))


def labels_of(db: Connection, kind: str, subject_ids: Sequence[int]) -> dict[int, list[Label]]:
    """What each of these carries, by title; one statement for all."""
    carried: defaultdict[int, list[Label]] = defaultdict(list)
    for subject_id, *columns in db.rows(_OF_SUBJECTS, kind=kind, subjects=list(subject_ids)):
        carried[subject_id].append(Label(*columns))
    return carried
