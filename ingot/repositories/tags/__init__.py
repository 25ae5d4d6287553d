"""Tags and their releases."""
