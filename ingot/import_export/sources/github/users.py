"""Users of GitHub, with the names and e-mail addresses that they publish."""

from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.github.shapes import GitHubUser
from ingot.import_export.work_item_records import UserRecord

GHOST = UserRecord(key="ghost", username="ghost", name="Deleted user")


class GitHubUsers:
    """Records of users; each user is requested once for the name."""

    def __init__(self, client: SourceClient) -> None:
        self._client = client
        self._records: dict[int, UserRecord] = {}

    def record(self, user: GitHubUser | None) -> UserRecord:
        """Return the record of a user; a deleted one becomes the ghost user."""
        if user is None:
            return GHOST
        found = self._records.get(user.id)
        if found is None:
            found = self._records[user.id] = self._load(user)
        return found

    def record_or_none(self, user: GitHubUser | None) -> UserRecord | None:
        """Return the record of a user, or None without a user."""
        return None if user is None else self.record(user)

    def _load(self, user: GitHubUser) -> UserRecord:
        bot = user.type == "Bot" or user.login.endswith("[bot]")
        shown = None if bot else self._client.get_or_none(f"/users/{user.login}", GitHubUser)
        return UserRecord(
            key=str(user.id),
            username=user.login,
            name=(shown.name if shown else None) or user.login,
            email=shown.email if shown else None,
            bot=bot,
        )
