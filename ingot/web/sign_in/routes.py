"""Routes of the sign-in pages."""

from ingot.web.sign_in import login, passkey, passwords, sign_up, single_sign_on, unsubscribe

PAGES = (login.pages, passkey.pages, single_sign_on.pages, sign_up.pages, passwords.pages, unsubscribe.pages)
