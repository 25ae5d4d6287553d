"""Comparison with a peer: its configuration, the requests, the figures and the client, without its program."""

import json
import socket
import threading
from configparser import ConfigParser
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

from bench.chart import ratio_chart
from bench.compare_data import FilledServer
from bench.load import get, send_streams
from bench.peer.__main__ import Rate, median_rate, table_row
from bench.peer.calls import common_calls
from bench.peer.data import FilledPeer
from bench.peer.server import PeerServer, configuration
from bench.process import RunningServer

_PEER = PeerServer(RunningServer(1, 3000, 0.5), "secret", "peer 1.0")
_OWN = FilledServer("/api/v4/projects/1", "/root/tides", 5, 2, "0" * 40, "session=1", "")


def test_the_configuration_is_a_valid_file(tmp_path: Path) -> None:
    parser = ConfigParser(interpolation=None, default_section="-")
    parser.read_string("[main]\n" + configuration(tmp_path, 3000))
    assert parser["server"]["http_port"] == "3000"
    assert parser["database"]["db_type"] == "sqlite3"
    assert len(parser["security"]["secret_key"]) == 64


def test_each_call_has_requests_for_both() -> None:
    filled = FilledPeer(7, 9, "f" * 40)
    written = set()
    for call in common_calls():
        own, peer = list(islice(call.own_requests(_OWN), 2)), list(islice(call.peer(_PEER, filled), 2))
        assert all(b"session=1" not in request for request in own), "Pages are read without a session."
        for request in peer:
            head, _, body = request.partition(b"\r\n\r\n")
            assert b"{" not in head, head
            assert (b"Authorization: token secret" in head) is not call.own.name.startswith("page: ")
            if head.startswith(b"POST"):
                assert json.loads(body)
                written.add(request)
    assert len(written) == 2 * 3


def test_figures_are_medians_and_ratios_to_the_peer() -> None:
    own = median_rate([Rate(100, 1), Rate(300, 3), Rate(200, 2)])
    assert own == Rate(200, 2)
    assert table_row("one issue", own, Rate(50, 4)).split()[2:] == ["200", "50", "4.00", "2.00", "4.00", "0.50"]


def test_the_client_reads_chunked_responses() -> None:
    """Gitea sends long ones in chunks."""
    pieces = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nabcde\r\n", b"0\r\n\r\n"]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65536):
                    for piece in pieces:
                        connection.sendall(piece)

        thread = threading.Thread(target=serve)
        thread.start()
        result = send_streams(listener.getsockname()[1], [islice(iter([get("/")] * 3), 3)])
        thread.join()
    assert len(result.seconds) == 3


def test_the_chart_is_valid_and_names_each_call() -> None:
    chart = ratio_chart("Time & <cost>", "note", [("one issue", 0.5), ("slow", 3.0)])
    root = ElementTree.fromstring(chart)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Time & <cost>", "one issue", "0.50", "slow", "3.00"} <= {*texts}
