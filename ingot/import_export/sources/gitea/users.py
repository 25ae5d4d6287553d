"""Users of Gitea as records; its lists contain names, and e-mail addresses where the token may see them."""

from ingot.import_export.sources.gitea.shapes import GiteaUser
from ingot.import_export.work_item_records import UserRecord

GHOST = UserRecord(key="ghost", username="ghost", name="Deleted user")


def user_record(user: GiteaUser | None, original_author: str = "") -> UserRecord:
    """Build the record of a user; an author from an earlier import is known by name only."""
    if original_author:
        return UserRecord(key=f"original:{original_author}", username=original_author, name=original_author)
    if user is None or user.id <= 0:
        return GHOST
    hidden = "@noreply." in user.email
    return UserRecord(
        key=str(user.id),
        username=user.login,
        name=user.full_name or user.login,
        email=None if hidden else user.email or None,
    )


def user_records(users: "list[GiteaUser] | None") -> list[UserRecord]:
    """Build the records of users."""
    return [user_record(user) for user in users or []]
