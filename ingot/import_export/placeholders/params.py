"""Request parameters of placeholder users."""

from typing import Literal

from ingot.core.api.params import Params, Upload


class ListPlaceholders(Params):
    """Status of the placeholder users to list."""

    status: Literal["pending_reassignment", "awaiting_approval", "rejected", "completed"] | None = None


class AssignPlaceholder(Params):
    """User who gets the contributions of a placeholder, by id or username."""

    user_id: int | None = None
    username: str | None = None


class AssignPlaceholders(Params):
    """Table in the format of the download, with usernames of this instance."""

    file: Upload
