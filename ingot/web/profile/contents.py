"""The pages of this room, for the door."""

from ingot.web.profile import account

PAGES = (account.pages,)
