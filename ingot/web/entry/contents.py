"""The pages of this room, for the door."""

from ingot.web.entry import elsewhere, passwords, sign_in, sign_up, unsubscribe

PAGES = (sign_in.pages, elsewhere.pages, sign_up.pages, passwords.pages, unsubscribe.pages)
