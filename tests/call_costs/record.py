"""Write ``call_costs.txt``."""

import tempfile
from pathlib import Path

from tests.call_costs.measurement import measured_costs, write_table

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write_table(measured_costs(Path(folder)))
