"""Errors leave the process in which they were raised: in pools, in queues and in caches."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import httpx
import pytest

from errand import APIError, Errand, ErrandError, NotFoundError
from errand.errors import error_of_response

KEY = "a key that no copy may contain"
UNKNOWN = "00000000-0000-7000-8000-000000000000"
BODIES: list[tuple[str, bytes]] = [
    ("application/problem+json", b'{"error":"No","code":"conflict","issues":[{"path":"a","message":"b"}]}'),
    ("text/html", "<p>Grüße</p>".encode()),
    ("application/json", b"[1]"),
    ("application/json", b"{"),
    ("", b""),
]


def classes_below(kind: type[ErrandError]) -> Iterator[type[ErrandError]]:
    yield kind
    for lower in kind.__subclasses__():
        yield from classes_below(lower)


def responses() -> Iterator[httpx.Response]:
    request = httpx.Request("GET", "http://127.0.0.1/api/v1/agent/runs", headers={"authorization": f"Bearer {KEY}"})
    for kind, body in BODIES:
        headers = {"content-type": kind, "x-request-id": "r-1"}
        yield httpx.Response(409, headers=headers, content=body, request=request)
        yield httpx.Response(502, headers=headers, content=body)
        yield httpx.Response(404, content=body, request=request, history=[httpx.Response(302, request=request)])


def examples() -> Iterator[ErrandError]:
    for kind in classes_below(ErrandError):
        if issubclass(kind, APIError):
            yield from (kind(response) for response in responses())
        else:
            yield kind("The connection is gone.")


@pytest.mark.parametrize("error", list(examples()), ids=lambda error: type(error).__name__)
def test_every_error_is_pickled_and_copied_without_the_key(error: ErrandError) -> None:
    error.tries = 3  # type: ignore[attr-defined]
    error.__cause__ = ValueError("below")
    pickled = [pickle.dumps(error, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]

    for duplicate in [*map(pickle.loads, pickled), copy.copy(error), copy.deepcopy(error)]:
        assert (type(duplicate), str(duplicate), duplicate.args[1:], duplicate.tries) == (
            type(error),
            str(error),
            (),
            3,
        )
        if isinstance(error, APIError):
            assert (duplicate.status, duplicate.body, duplicate.code, duplicate.issues) == (
                error.status,
                error.body,
                error.code,
                error.issues,
            )
            assert (duplicate.request_id, duplicate.response.content) == (error.request_id, error.response.content)
            assert KEY not in repr(
                [vars(part) for part in (duplicate.response, duplicate.response._request) if part is not None]
            )
    assert not any(KEY.encode() in data for data in pickled)


def retrieve(run_id: str) -> str:
    with Errand() as client:
        return client.runs.retrieve(run_id).state


def test_a_process_pool_returns_the_error_of_a_call_and_goes_on_working(client: Errand) -> None:
    known = client.runs.create(prompt="say pool").run_id
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(NotFoundError) as error:
            pool.submit(retrieve, UNKNOWN).result(timeout=60)

        assert pool.submit(retrieve, known).result(timeout=60)
    assert error.value.code == "resource_not_found"


@pytest.mark.parametrize("body", [b"", b"<h1>413 Request Entity Too Large</h1>", b'{"message":"too large"}'])
def test_a_413_that_is_no_problem_is_of_a_proxy(body: bytes) -> None:
    error = error_of_response(httpx.Response(413, content=body))

    assert str(error) == "A proxy before the server refuses bodies of this size."
    assert "let the proxy pass bodies of 30 MiB" in (error.remedy or "")


def test_a_413_of_the_server_says_its_limit() -> None:
    body = {"error": "Invalid request: The body is larger.", "remedy": "Send less data at once."}
    error = error_of_response(httpx.Response(413, json=body))

    assert (str(error), error.remedy) == (body["error"], body["remedy"])
