"""Entries of an LDAP directory, and a real LDAP server that serves them."""

import subprocess
import sys

from tests.free_ports import free_port

BASE = "ou=people,dc=example,dc=org"
SECRET = "secret of the directory"
BIND_USER = ("cn=looking,dc=example,dc=org", "looks people up")


def entry_of(uid: str, **more: str) -> str:
    """Return the directory entry of a user."""
    held = {"cn": f"{uid.capitalize()} of the directory", "mail": f"{uid}@directory.example", "sn": uid, **more}
    lines = [f"dn: uid={uid},{BASE}", "objectClass: inetOrgPerson", f"uid: {uid}", f"userPassword: {SECRET}"]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in held.items())])


TOP = [
    "dn: dc=org\nobjectClass: dcObject\ndc: org",
    "dn: dc=example,dc=org\nobjectClass: dcObject\ndc: example",
    f"dn: {BASE}\nobjectClass: organizationalUnit\nou: people",
    f"dn: {BIND_USER[0]}\nobjectClass: person\ncn: looking\nsn: x\nuserPassword: {BIND_USER[1]}",
]
ENTRIES = {
    "ann": entry_of("ann"),
    "ben": entry_of("ben"),
    "cat": entry_of("cat"),
    "dan": entry_of("dan", employeeType="guest"),
    "eve": entry_of("eve", userAccountControl="514"),
    "root": entry_of("root"),
}


class LdapServerProcess:
    """LDAP server that can be stopped and restarted with other entries."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, *people: str, tls: tuple[str, ...] = ()) -> None:
        """Serve these entries; ``tls`` is the kind of encryption, and the certificate with its key."""
        self.end()
        command = [sys.executable, "-W", "ignore", "-m", "tests.ldap_server", str(self.port), *tls]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(("\n\n".join([*TOP, *people]) + "\n\n").encode())
        self._process.stdin.close()
        assert self._process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        """Stop the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None
