"""Names with HTML, and a check that a page escapes them."""

import re

HOSTILE = '"><img src=x onerror=alert(1)>'


def is_safe(page: str) -> bool:
    """Return whether no text of a user became an element."""
    return not re.search("<img.src=x", page) and "<script>alert" not in page
