"""Users of an archive, to whom its rows refer by their ids."""

from collections.abc import Iterable

from ingot.import_export.sources.archive.tree import TreeMember, TreeUser, TreeUserLink
from ingot.import_export.work_item_records import UserRecord

UNKNOWN = UserRecord(key="0", username="unknown", name="Unknown user")
"""Author of rows whose user was deleted."""


class People:
    """Users by their ids at the source."""

    def __init__(self, users: Iterable[TreeUser], members: Iterable[TreeMember]) -> None:
        self._users: dict[int, UserRecord] = {}
        for user in users:
            self._add(user)
        for member in members:
            if member.user is not None:
                self._add(member.user)

    def _add(self, user: TreeUser) -> None:
        if user.id is None or user.id in self._users:
            return
        username = user.username or f"user_{user.id}"
        self._users[user.id] = UserRecord(
            key=str(user.id),
            username=username,
            name=user.name or username,
            email=user.email or user.public_email or None,
            bot=user.bot,
        )

    def find(self, number: int | None, name: str | None = None) -> UserRecord:
        """Return a user; one whom the archive does not describe has the given name."""
        if number is None:
            return UNKNOWN
        user = self._users.get(number)
        if user is None:
            described = UserRecord(key=str(number), username=f"user_{number}", name=name or f"User {number}")
            user = self._users[number] = described
        return user

    def find_or_none(self, number: int | None) -> UserRecord | None:
        """Return a user, or None if there is none."""
        return None if number is None else self.find(number)

    def find_all(self, links: Iterable[TreeUserLink]) -> list[UserRecord]:
        """Return the users of assignments, each once."""
        return [self.find(number) for number in dict.fromkeys(link.user_id for link in links) if number is not None]
