"""Group of a GitLab with its subgroups and projects as a source of imports."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO, Any
from urllib.parse import quote

from msgspec import Struct

from ingot.import_export.records import GROUP_ATTRIBUTES, GroupRecord
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab import access, resources
from ingot.import_export.sources.gitlab.shapes import (
    GitLabBadge,
    GitLabBoard,
    GitLabGroup,
    GitLabLabel,
    GitLabMilestone,
    GitLabUser,
    GitLabVariable,
)
from ingot.import_export.sources.gitlab.users import GitLabUsers

_PAGE = {"per_page": "100"}


class GitLabListedProject(Struct):
    """Project in the list of a group."""

    id: int
    path_with_namespace: str


class GitLabGroupSource:
    """Source of a group; ``key`` is its id or its full path."""

    def __init__(self, client: SourceClient, key: str) -> None:
        self._client = client
        self._path = f"/api/v4/groups/{quote(key, safe='')}"
        self._users = GitLabUsers(client)

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the group and its subgroups, parents first."""
        root = self._client.get(self._path, GitLabGroup, {"with_projects": "false"})
        below = self._client.entries(f"{self._path}/descendant_groups", GitLabGroup, _PAGE)
        parent = root.full_path.rpartition("/")[0]
        for group in [root, *sorted(below, key=lambda each: each.full_path.count("/"))]:
            path = group.full_path.removeprefix(f"{parent}/") if parent else group.full_path
            yield self._record(group, path)

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the full path of each project below the group; shared projects are not part of it."""
        parameters = {**_PAGE, "include_subgroups": "true", "with_shared": "false", "order_by": "id", "sort": "asc"}
        for page in self._client.pages(f"{self._path}/projects", GitLabListedProject, parameters):
            for project in page:
                yield str(project.id), project.path_with_namespace

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open the avatar of a group."""
        return self._client.open_file(self._client.url(link))

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that were left out since the last call."""
        return self._client.take_problems()

    def skip_failures(self) -> None:
        """Leave out what fails temporarily, too; raise SourceError if all fails."""
        self._client.skip_failures(self._path)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _record(self, group: GitLabGroup, path: str) -> GroupRecord:
        only_own = {"only_group_labels": "true", "include_ancestor_groups": "false"}
        return GroupRecord(
            key=str(group.id),
            full_path=path,
            name=group.name,
            description=group.description,
            visibility=group.visibility,
            avatar=f"/api/v4/groups/{group.id}/avatar" if group.avatar_url else None,
            members=access.member_records(self._users, self._list(group, "members", GitLabUser)),
            labels=resources.label_records(self._list(group, "labels", GitLabLabel, **only_own), of_group=True),
            milestones=resources.milestone_records(self._list(group, "milestones", GitLabMilestone)),
            variables=access.variable_records(self._list(group, "variables", GitLabVariable)),
            badges=access.badge_records(self._list(group, "badges", GitLabBadge), "group"),
            hooks=access.hook_records(self._list(group, "hooks", dict[str, Any])),
            boards=resources.board_records(self._list(group, "boards", GitLabBoard)),
            attributes={name: value for name in GROUP_ATTRIBUTES if (value := getattr(group, name)) is not None},
        )

    def _list(self, group: GitLabGroup, name: str, shape: type[Any], **parameters: str) -> list[Any]:
        """Return a list of the group; empty if the token may not read it."""
        path = f"/api/v4/groups/{group.id}/{name}"
        return self._client.entries_or_none(path, shape, {**_PAGE, **parameters}) or []
