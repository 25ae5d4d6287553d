"""Node of an instance: ``ingot serve`` with a directory of its own for the files of the machine."""

from pathlib import Path

from tests.server.process import Server

FAKETIME = [
    *Path("/usr/lib").glob("*/faketime/libfaketime.so.1"),
    *Path("/usr/local/lib").glob("faketime/libfaketime.so.1"),
]


class Node(Server):
    """Server that shares its data directory with other nodes."""

    def __init__(self, data: Path, database_url: str, folder: Path, name: str) -> None:
        super().__init__(data, database_url)
        self.name = name
        self.run_folder = folder / name
        self._log, self._out = folder / f"{name}.log", folder / f"{name}.out"

    def serve(self, clock: str = "", **more: str) -> "Node":
        """Start; ``clock`` is the difference of its clock, such as ``+60s``, which needs libfaketime."""
        chosen = {
            **more,
            "INGOT_RUN_DIR": str(self.run_folder),
            "INGOT_NODE_NAME": self.name,
            "INGOT_ALLOW_LOCAL_REQUESTS": "1",
        }
        if clock:
            chosen |= {"LD_PRELOAD": str(FAKETIME[0]), "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            chosen["PYTHONPATH"] = str(Path(__file__).with_name("faked_clock"))
        self.start_by_interpreter(wait=True, nofile=0, **chosen)
        return self
