"""The tests need a running server: ERRAND_URL and ERRAND_API_KEY name it. `python-client.test.ts` starts one."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TypeVar

import httpx
import pytest

from errand import Errand

T = TypeVar("T")

#: Every request of the fixture `client`, as `GET /agent/runs`.
REQUESTS: list[str] = []


def record(request: httpx.Request) -> None:
    REQUESTS.append(f"{request.method} {re.sub('^/api/v1', '', request.url.path)}")


@pytest.fixture(scope="session")
def client() -> Iterator[Errand]:
    with httpx.Client(event_hooks={"request": [record]}) as http_client, Errand(http_client=http_client) as errand:
        yield errand


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def wait_for(check: Callable[[], T | None], what: str) -> T:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        value = check()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"Waited in vain for {what}.")


class Receiver:
    """An HTTP server that keeps what is posted to it."""

    def __init__(self) -> None:
        self.posts: list[tuple[dict[str, str], str]] = []
        posts = self.posts

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                posts.append((dict(self.headers), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    yield started
    started.close()


@pytest.fixture(scope="session")
def address() -> str:
    return os.environ["ERRAND_URL"]
