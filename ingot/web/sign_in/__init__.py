"""How people get in: signing in and up, lost passwords, and links that mails hold."""
