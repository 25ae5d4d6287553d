"""Name server on loopback: TXT records that tests set, and 127.0.0.1 as the address of every name."""

import socket
import struct
import threading
from types import TracebackType

_TXT, _ADDRESS = 16, 1


class NameServer:
    """A server for UDP and TCP in two threads."""

    def __init__(self) -> None:
        self.records: dict[str, list[str]] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        self._streams = socket.create_server(("127.0.0.1", port))
        self._threads = [threading.Thread(target=self._serve), threading.Thread(target=self._serve_streams)]

    def __enter__(self) -> "NameServer":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stopper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stopper.sendto(b"", self._socket.getsockname())
        stopper.close()
        socket.create_connection(self._streams.getsockname()).close()
        for thread in self._threads:
            thread.join()
        self._socket.close()
        self._streams.close()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            if not query:
                return
            self._socket.sendto(self._answer(query), client)

    def _serve_streams(self) -> None:
        while True:
            connection, _ = self._streams.accept()
            with connection, connection.makefile("rb") as file:
                head = file.read(2)
                if len(head) < 2:
                    return
                answer = self._answer(file.read(struct.unpack("!H", head)[0]))
                connection.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, query: bytes) -> bytes:
        labels, position = [], 12
        while length := query[position]:
            labels.append(query[position + 1 : position + 1 + length].decode())
            position += 1 + length
        name, question = ".".join(labels).lower(), query[12 : position + 5]
        kind = struct.unpack_from("!H", query, position + 1)[0]
        contents = []
        if kind == _TXT:
            contents = [bytes([len(text)]) + text.encode() for text in self.records.get(name, ())]
        elif kind == _ADDRESS:
            contents = [bytes([127, 0, 0, 1])]
        answers = b"".join(
            b"\xc0\x0c" + struct.pack("!2HLH", kind, 1, 60, len(content)) + content for content in contents
        )
        return query[:2] + struct.pack("!5H", 0x8180, 1, len(contents), 0, 0) + question + answers
