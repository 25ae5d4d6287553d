"""Import of libgit2."""

import os
import subprocess
import sys

_IMPORT = """
import os
from ingot.git.core.library import pygit2_module
assert pygit2_module().settings.ssl_cert_file is None
print(os.environ["SSL_CERT_FILE"], "SSL_CERT_DIR" in os.environ)
"""


def test_it_needs_no_root_certificates() -> None:
    """A container may have none; there, an import of pygit2 alone fails."""
    environment = {**os.environ, "SSL_CERT_FILE": "/nonexistent"}
    environment.pop("SSL_CERT_DIR", None)
    run = subprocess.run([sys.executable, "-c", _IMPORT], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "/nonexistent False\n", run.stderr
