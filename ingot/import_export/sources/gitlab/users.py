"""Users of a GitLab, with their e-mail addresses where the token may see them."""

from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab.shapes import GitLabUser
from ingot.import_export.work_item_records import UserRecord

GHOST = UserRecord(key="ghost", username="ghost", name="Ghost User")
"""Author of objects whose author was deleted."""


class GitLabUsers:
    """Records of users; each user is requested once, because lists contain no e-mail address."""

    def __init__(self, client: SourceClient) -> None:
        self._client = client
        self._records: dict[int, UserRecord] = {}

    def record(self, user: GitLabUser | None) -> UserRecord:
        """Return the record of a user; a deleted one becomes the ghost user."""
        if user is None:
            return GHOST
        found = self._records.get(user.id)
        if found is None:
            found = self._records[user.id] = self._load(user)
        return found

    def record_or_none(self, user: GitLabUser | None) -> UserRecord | None:
        """Return the record of a user, or None without a user."""
        return None if user is None else self.record(user)

    def records(self, users: list[GitLabUser] | None) -> list[UserRecord]:
        """Return the records of users."""
        return [self.record(user) for user in users or []]

    def _load(self, user: GitLabUser) -> UserRecord:
        shown = self._client.get_or_none(f"/api/v4/users/{user.id}", GitLabUser) or user
        return UserRecord(
            key=str(user.id),
            username=user.username or shown.username or f"user-{user.id}",
            name=user.name or shown.name or user.username,
            email=shown.email or shown.public_email or None,
            bot=shown.bot,
        )
