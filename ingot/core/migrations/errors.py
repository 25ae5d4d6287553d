"""Error of a database whose schema this code cannot use."""


class SchemaError(Exception):
    """The database cannot be used with this version; the text says why and what to do."""
