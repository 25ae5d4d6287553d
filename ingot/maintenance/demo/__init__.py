"""Demo data: fictional users and their work of a year on five projects."""
