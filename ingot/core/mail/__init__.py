"""Mail as jobs, sent by SMTP or kept in a folder."""
