"""A real LDAP server for the tests, in a process of its own: ``python -m tests.ldap_server port``, LDIF on stdin."""

import io
import sys
from typing import Any


def main() -> None:
    """Serve what stands in the LDIF, on this port of the loopback address, until killed."""
    from ldaptor.inmemory import fromLDIFFile
    from ldaptor.interfaces import IConnectedLDAPEntry
    from ldaptor.protocols.ldap.ldapserver import LDAPServer
    from twisted.internet import reactor
    from twisted.internet.protocol import ServerFactory
    from twisted.python.components import registerAdapter

    class Factory(ServerFactory):  # type: ignore[misc] # The library has no types.
        """Gives every connection the same tree."""

        protocol = LDAPServer

        def __init__(self, root: Any) -> None:
            self.root = root

    registerAdapter(lambda factory: factory.root, Factory, IConnectedLDAPEntry)
    listening: Any = reactor

    def serve(root: Any) -> None:
        listening.listenTCP(int(sys.argv[1]), Factory(root), interface="127.0.0.1")
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    fromLDIFFile(io.BytesIO(sys.stdin.buffer.read())).addCallback(serve)
    listening.run()


if __name__ == "__main__":
    main()
