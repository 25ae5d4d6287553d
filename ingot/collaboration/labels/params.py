"""Request parameters of labels."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params

Priority = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ListLabels(Params):
    """Filters of the list of labels."""

    with_counts: bool = True
    include_ancestor_groups: bool = True
    search: str | None = None


class ListGroupLabels(ListLabels):
    """Filters of the list of a group's labels."""

    include_descendant_groups: bool = False
    only_group_labels: bool = True


class GetLabel(Params):
    """Search options for a single label."""

    include_ancestor_groups: bool = True


class CreateGroupLabel(Params):
    """A new label."""

    name: str
    color: str
    description: str | None = None


class CreateLabel(CreateGroupLabel):
    """A new label of a project."""

    priority: Priority | None = None


class EditGroupLabel(Params):
    """Changes of a label."""

    new_name: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET


class EditLabel(EditGroupLabel):
    """Changes of a label of a project."""

    priority: Priority | UnsetType | None = UNSET


class EditNamedGroupLabel(EditGroupLabel):
    """Changes of a group label identified by name or id instead of the path."""

    name: str | None = None
    label_id: int | None = None


class EditNamedLabel(EditLabel):
    """Changes of a project label identified by name or id instead of the path."""

    name: str | None = None
    label_id: int | None = None


class NamedLabel(Params):
    """A label identified by name or id instead of the path."""

    name: str | None = None
    label_id: int | None = None
