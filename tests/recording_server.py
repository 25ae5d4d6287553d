"""``ingot`` that records what its transactions import and wait for, in the file ``FINDINGS_FILE``."""

import os
import sys
from pathlib import Path
from typing import Any

from ingot.cli.main import main
from tests.transactions import RECORDER

FINDINGS_FILE = "TEST_FINDINGS_FILE"


class ImportFinder:
    """Finder that records imports of all modules that are not imported yet, also those of libraries."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Record the import, and leave the search to the other finders."""
        RECORDER.note(f"imports {name}")


def _record(finding: str) -> None:
    with Path(os.environ[FINDINGS_FILE]).open("a") as file:
        file.write(f"{finding}\n")


if __name__ == "__main__":
    RECORDER.report = _record
    RECORDER.install()
    sys.meta_path.insert(0, ImportFinder())
    main()
