"""Links in mails."""

import re

from tests.conftest import Instance


def mailed_link(instance: Instance, address: str, start: str) -> str:
    """Return the link in the newest mail to an address; ``start`` is its path and the name of its parameter."""
    mail = [mail for mail in instance.mails() if f"To: {address}" in mail][-1].replace("=\n", "").replace("=3D", "=")
    found = re.search(re.escape(start) + r"=[\w-]+", mail)
    assert found, mail
    return found[0]
