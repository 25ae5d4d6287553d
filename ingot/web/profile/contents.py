"""The pages of this room, for the door."""

from ingot.web.profile import account, details, emails, keys, sessions, signposts, two_factor, wishes

PAGES = (
    account.pages,
    details.pages,
    emails.pages,
    keys.pages,
    wishes.pages,
    two_factor.pages,
    sessions.pages,
    signposts.pages,
)
