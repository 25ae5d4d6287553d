"""Real LDAP server for tests in its own process: ``python -m tests.ldap_server port``, LDIF on stdin.

``… port tls file`` uses TLS from the first byte, ``… port start file`` on StartTLS; the file contains
certificate and key.
"""

import io
import sys
from typing import Any


def main() -> None:
    """Serve the LDIF on this port of the loopback address, until killed."""
    from ldaptor.inmemory import fromLDIFFile
    from ldaptor.interfaces import IConnectedLDAPEntry
    from ldaptor.protocols.ldap.ldaperrors import LDAPProtocolError
    from ldaptor.protocols.ldap.ldapserver import LDAPServer
    from ldaptor.protocols.pureldap import LDAPStartTLSRequest, LDAPStartTLSResponse
    from twisted.internet import reactor
    from twisted.internet.protocol import ServerFactory
    from twisted.internet.ssl import DefaultOpenSSLContextFactory
    from twisted.python.components import registerAdapter

    how, file = sys.argv[2:4] if len(sys.argv) > 3 else ("", "")
    context = DefaultOpenSSLContextFactory(file, file) if file else None

    class Protocol(LDAPServer):  # type: ignore[misc] # The library has no types.
        """Protocol with support for StartTLS."""

        def extendedRequest_start_tls(self, _value: Any, reply: Any) -> None:  # noqa: N802 - So the library finds it.
            """Accept StartTLS and switch to TLS."""
            if how != "start":
                raise LDAPProtocolError("There is no certificate")
            reply(LDAPStartTLSResponse(resultCode=0))
            self.transport.startTLS(context)

        extendedRequest_start_tls.__dict__["oid"] = LDAPStartTLSRequest.oid

    class Factory(ServerFactory):
        """Factory whose connections share one tree."""

        protocol = Protocol

        def __init__(self, root: Any) -> None:
            self.root = root

    registerAdapter(lambda factory: factory.root, Factory, IConnectedLDAPEntry)
    listening: Any = reactor

    def serve(root: Any) -> None:
        if how == "tls":
            listening.listenSSL(int(sys.argv[1]), Factory(root), context, interface="127.0.0.1")
        else:
            listening.listenTCP(int(sys.argv[1]), Factory(root), interface="127.0.0.1")
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    fromLDIFFile(io.BytesIO(sys.stdin.buffer.read())).addCallback(serve)
    listening.run()


if __name__ == "__main__":
    main()
