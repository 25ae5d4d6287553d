"""The pages of this room, for the door."""

from ingot.web.entry import passwords, sign_in, sign_up, unsubscribe

PAGES = (sign_in.pages, sign_up.pages, passwords.pages, unsubscribe.pages)
