"""Names that would harm a page which took them for HTML, and how it shows that one did not."""

import re

HOSTILE = '"><img src=x onerror=alert(1)>'


def is_safe(page: str) -> bool:
    """Whether nothing that somebody wrote became an element."""
    return not re.search("<img.src=x", page) and "<script>alert" not in page
