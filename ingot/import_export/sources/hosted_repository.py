"""Parts that the sources of GitHub and Gitea share: counts, refusals, repositories, labels, milestones and keys."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import IO, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

from ingot.import_export.records import (
    DeployKeyRecord,
    GroupRecord,
    Kind,
    LabelRecord,
    MilestoneRecord,
    ProjectRecord,
)
from ingot.import_export.source import Batch, Inventory, KindCount, RepositoryLocation, SourceError
from ingot.import_export.sources.client import SourceClient, StatusError
from ingot.import_export.sources.pull_request_numbers import PullRequestNumbers

PULL_REQUEST_REFS = "refs/pull/*/head"
_T = TypeVar("_T")


class RepositoryIdentity(NamedTuple):
    """Names of a repository at its source, and which of its parts exist."""

    name: str
    full_name: str
    empty: bool
    has_wiki: bool


class Conventions(NamedTuple):
    """Differences between the servers: names, page sizes, counted lists, and data that cannot be imported."""

    git_username: str
    page: Mapping[str, str]
    page_size: int
    # Path below the repository and parameters of the list of each kind.
    counted: Sequence[tuple[Kind, str, Mapping[str, str]]]
    requests_per_item: Mapping[Kind, int]
    omitted: Sequence[str]


class HostedLabel(Protocol):
    """Label of either server."""

    id: int
    name: str
    color: str


class HostedRepositorySource(ABC):
    """Source of one repository of GitHub or Gitea."""

    conventions: Conventions

    def __init__(self, client: SourceClient, url: str, token: str) -> None:
        self.client = client
        self.url = url.rstrip("/")
        self.token = token

    @property
    @abstractmethod
    def path(self) -> str:
        """The path of the repository below the URL of the API."""

    @abstractmethod
    def identity(self) -> RepositoryIdentity:
        """Return the names of the repository."""

    @abstractmethod
    def readers(self) -> Mapping[Kind, Callable[[], Sequence[ProjectRecord]]]:
        """Return the functions that read the kinds whose lists are short."""

    @abstractmethod
    def item_batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch] | None:
        """Return the batches of a kind that is read page by page, or None for another kind."""

    @abstractmethod
    def pull_request_numbers(self) -> Iterator[int]:
        """Yield the numbers of all pull requests, with as few requests as possible."""

    @abstractmethod
    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an attachment, avatar or release file by its link at the source; None if it is not there."""

    @cached_property
    def numbers(self) -> PullRequestNumbers:
        """Numbers of the pull requests, by which references in texts are told apart."""
        return PullRequestNumbers(self.identity().full_name, self.pull_request_numbers)

    def inventory(self) -> Inventory:
        """Count the repository's data."""
        identity, conventions = self.identity(), self.conventions
        counts, omitted = [KindCount("settings", 1)], list(conventions.omitted)
        requests = 1
        for kind, name, parameters in conventions.counted:
            try:
                total = self.client.total(f"{self.path}/{name}", parameters)
            except SourceError as error:
                omitted.append(self.client.omission_of(kind.replace("_", " ").capitalize(), error))
                continue
            number = self.counted(kind, total or 0, counts)
            counts.append(KindCount(kind, number, exact=total is not None))
            per_item = conventions.requests_per_item.get(kind, 0)
            requests += max(1, -(-number // conventions.page_size)) + number * per_item
        return Inventory(
            name=identity.name,
            path=identity.name,
            full_path=identity.full_name,
            counts=counts,
            omitted=omitted,
            requests=requests,
        )

    def counted(self, kind: Kind, total: int, counts: Sequence[KindCount]) -> int:  # noqa: ARG002 - Used by subclasses.
        """Return the number of records of a kind by the length of its list; ``counts`` are those of earlier kinds."""
        return total

    def repository(self) -> RepositoryLocation | None:
        """Return the URL of the repository on the server that the user named, with the token as password."""
        if self.identity().empty:
            return None
        return RepositoryLocation(
            url=f"{self.url}/{self.identity().full_name}.git",
            username=self.conventions.git_username if self.token else None,
            password=self.token or None,
            merge_request_refs=PULL_REQUEST_REFS,
            lfs=True,
        )

    def wiki(self) -> RepositoryLocation | None:
        """Return the URL of the wiki's repository if wikis are enabled; without a page there is no repository."""
        if not self.identity().has_wiki:
            return None
        return RepositoryLocation(
            url=f"{self.url}/{self.identity().full_name}.wiki.git",
            username=self.conventions.git_username if self.token else None,
            password=self.token or None,
        )

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the records of a kind."""
        try:
            batches = self.item_batches(kind, cursor, since)
            if batches is not None:
                yield from batches
            elif cursor is None:
                readers = self.readers()
                yield Batch(readers[kind]() if kind in readers else [], "done")
        except StatusError as error:
            # The feature is disabled or needs a higher role; the inventory says so. A refused token is an error.
            if error.status == 401 and not self.token:
                return
            if error.status not in (403, 404, 410):
                raise

    def entries(self, name: str, shape: type[_T], **parameters: str) -> list[_T]:
        """Return a whole list of the repository."""
        return self.client.entries(f"{self.path}/{name}", shape, {**self.conventions.page, **parameters})

    def entries_or_empty(self, name: str, shape: type[_T], **parameters: str) -> list[_T]:
        """Return a whole list that the reading of another kind needs; empty if it cannot be read."""
        path = f"{self.path}/{name}"
        return self.client.entries_or_none(path, shape, {**self.conventions.page, **parameters}) or []

    def request_count(self) -> int:
        """Return the number of requests sent."""
        return self.client.requests

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that were left out since the last call."""
        return self.client.take_problems()

    def skip_failures(self) -> None:
        """Leave out what fails temporarily, too; raise SourceError if all fails."""
        self.client.skip_failures(self.path)

    def close(self) -> None:
        """Close connections."""
        self.client.close()


class HostedOrganizationSource:
    """Source of the repositories of an organization or a user; ``root`` is the path of the API."""

    def __init__(self, client: SourceClient, key: str, root: str, page: Mapping[str, str]) -> None:
        self._client = client
        self._key = key
        self._root = root
        self._page = page

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the organization."""
        yield GroupRecord(key=self._key, full_path=self._key, name=self._key)

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the full name of each repository."""
        name = quote(self._key)
        kind = "orgs" if self._client.get_or_none(f"{self._root}/orgs/{name}", dict) is not None else "users"
        for page in self._client.pages(f"{self._root}/{kind}/{name}/repos", dict[str, Any], self._page):
            for repository in page:
                full_name = str(repository.get("full_name") or "")
                yield full_name, full_name

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:  # noqa: ARG002 - Of the protocol.
        """Return None: organizations are imported without files."""
        return None

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that were left out since the last call."""
        return self._client.take_problems()

    def skip_failures(self) -> None:
        """Leave out what fails temporarily, too; raise SourceError if all fails."""
        self._client.skip_failures(f"{self._root}/users/{quote(self._key)}")

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def label_record(label: Any, *, of_group: bool = False) -> LabelRecord:
    """Build the record of a label, whose colour may lack the sign."""
    return LabelRecord(
        key=str(label.id),
        title=label.name,
        color=f"#{label.color.lstrip('#')}",
        description=label.description or None,
        of_group=of_group,
    )


def milestone_record(milestone: Any, key: int, iid: int) -> MilestoneRecord:
    """Build the record of a milestone."""
    return MilestoneRecord(
        key=str(key),
        iid=iid,
        title=milestone.title,
        description=milestone.description or None,
        state="active" if milestone.state == "open" else "closed",
        due_date=(milestone.due_on or "")[:10] or None,
        created_at=milestone.created_at,
        updated_at=milestone.updated_at,
    )


def deploy_key_records(keys: Sequence[Any]) -> list[DeployKeyRecord]:
    """Build the records of deploy keys."""
    return [
        DeployKeyRecord(key=str(key.id), title=key.title, public_key=key.key, can_push=not key.read_only)
        for key in keys
    ]
