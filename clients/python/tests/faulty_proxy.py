"""An HTTP proxy before a real server. Its requests meet the faults that were queued, one each, and then none."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Literal

import httpx


@dataclass(frozen=True)
class Fault:
    """What happens to one request.

    `drop`: the connection breaks before the server gets it. `drop_response`: the server gets it, and the connection breaks
    before any response. `truncate`: the connection breaks in the middle of the response. `shorten`: the same with a response
    that has no length, so that its end looks like any other. `hang`: no response ever arrives. `drip`: a response arrives that
    never ends. `answer`: the proxy answers itself.
    """

    kind: Literal["drop", "drop_response", "truncate", "shorten", "hang", "drip", "answer"]
    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class FaultyProxy:
    def __init__(self, target: str) -> None:
        self.faults: list[Fault] = []
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self._released = Event()
        self._connections: set[socket.socket] = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                proxy._connections.add(self.connection)

            def finish(self) -> None:
                proxy._connections.discard(self.connection)

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                proxy.seen.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
                fault = proxy.faults.pop(0) if proxy.faults else None
                if fault is not None and fault.kind == "answer":
                    self.send_response(fault.status)
                    for name, value in {"content-length": "0", **fault.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(fault.body)
                    return
                if fault is not None and fault.kind == "drip":
                    return self._drip()
                if fault is not None and fault.kind == "hang":
                    proxy._released.wait()
                if fault is not None and fault.kind in ("drop", "hang"):
                    return self._break()
                headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "accept-encoding")}
                url = target + self.path
                with httpx.stream(self.command, url, headers=headers, content=body, timeout=None) as response:
                    if fault is not None and fault.kind == "drop_response":
                        response.read()
                        return self._break()
                    shortened = fault is not None and fault.kind == "shorten"
                    removed = {
                        "transfer-encoding",
                        "connection",
                        "keep-alive",
                        *(["content-length"] if shortened else []),
                    }
                    self.send_response(response.status_code)
                    for name, value in response.headers.items():
                        if name not in removed:
                            self.send_header(name, value)
                    if "content-length" not in response.headers or shortened:
                        self.send_header("connection", "close")
                        self.close_connection = True
                    self.end_headers()
                    for chunk in response.iter_raw():
                        self.wfile.write(chunk[: len(chunk) // 2] if fault is not None else chunk)
                        self.wfile.flush()
                        if fault is not None:
                            return self._break()

            def _drip(self) -> None:
                self.send_response(200)
                self.send_header("content-length", "1000000")
                self.end_headers()
                while not proxy._released.wait(0.05):
                    self.wfile.write(b" ")
                self._break()

            def _break(self) -> None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is logged."""

        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler._serve)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def break_all(self) -> None:
        """Breaks all connections, also those of event streams."""
        for connection in list(self._connections):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
