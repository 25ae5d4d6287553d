"""Error of a database whose schema this code cannot use."""


class SchemaError(Exception):
    """Database that cannot be used with this code; the text says why and what to do."""
