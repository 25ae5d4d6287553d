"""Outgoing mail: queued as jobs, sent by SMTP or written to a folder."""
