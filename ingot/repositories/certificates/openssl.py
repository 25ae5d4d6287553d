"""The program openssl, which trusts the certificate authorities of the system."""

import os
import subprocess

_TRUST_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def run_openssl(folder: str, *arguments: str, seconds: int) -> subprocess.CompletedProcess[bytes]:
    """Run openssl in a folder."""
    environment = {name: os.environ[name] for name in _TRUST_VARIABLES if name in os.environ}
    return subprocess.run(
        ["openssl", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", **environment},
    )
