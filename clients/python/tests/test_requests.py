"""Retries, timeouts, errors, options and responses, through a proxy that breaks connections."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from faulty_proxy import Fault, FaultyProxy, faulty_proxy

from errand import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AsyncErrand,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    Errand,
    ErrandError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    UnprocessableEntityError,
    models,
)
from errand._request import pause_before_retry

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def proxy(address: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(address) as started:
        yield started


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of the clients, which take no time, and without chance."""
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)

    monkeypatch.setattr("errand._sync.api_client.time.sleep", taken.append)
    monkeypatch.setattr("errand._async.api_client.anyio.sleep", sleep)
    monkeypatch.setattr("errand._request.random.random", lambda: 0.0)
    return taken


@pytest.fixture
def faulty(proxy: FaultyProxy) -> Iterator[Errand]:
    with Errand(base_url=proxy.url) as client:
        yield client


@pytest.mark.parametrize(
    "fault",
    [
        Fault("drop"),
        Fault("drop_response"),
        Fault("truncate"),
        Fault("shorten"),
        *(Fault("answer", status) for status in (408, 409, 429, 500, 502, 503, 504)),
    ],
    ids=lambda fault: f"{fault.kind} {fault.status}",
)
def test_a_write_that_fails_in_passing_is_repeated_with_the_same_key_and_happens_once(
    client: Errand, faulty: Errand, proxy: FaultyProxy, pauses: list[float], fault: Fault
) -> None:
    before = len(list(client.runs.list(name="once", limit=500)))
    proxy.faults += [fault, fault]

    faulty.runs.create(prompt="say once", config={"name": "once"})

    assert pauses == [0.5, 1.0]
    assert len({headers["idempotency-key"] for _, _, headers in proxy.seen}) == 1
    assert len(proxy.seen) == 3
    assert len(list(client.runs.list(name="once", limit=500))) == before + 1


@pytest.mark.anyio
async def test_the_asynchronous_client_repeats_in_the_same_way(proxy: FaultyProxy, pauses: list[float]) -> None:
    proxy.faults += [Fault("drop_response"), Fault("answer", 503)]

    async with AsyncErrand(base_url=proxy.url) as client:
        await client.runs.create(prompt="say async")

    assert pauses == [0.5, 1.0]
    assert len({headers["idempotency-key"] for _, _, headers in proxy.seen}) == 1


def test_pauses_double_up_to_eight_seconds_and_the_words_of_the_server_win(
    faulty: Errand, proxy: FaultyProxy, pauses: list[float]
) -> None:
    proxy.faults += [Fault("drop")] * 6
    faulty.with_options(max_retries=6).whoami()
    assert pauses == [0.5, 1, 2, 4, 8, 8]

    pauses.clear()
    proxy.faults += [
        Fault("answer", 429, {"retry-after-ms": "1500"}),
        Fault("answer", 503, {"retry-after": "3"}),
        Fault("answer", 400, {"x-should-retry": "true", "retry-after": "2"}),
    ]
    faulty.whoami(max_retries=3)
    assert pauses == [1.5, 3, 2]

    pauses.clear()
    for fault in (Fault("answer", 503, {"x-should-retry": "false"}), Fault("answer", 429, {"retry-after": "61"})):
        proxy.faults.append(fault)
        with pytest.raises(APIError):
            faulty.whoami()
    assert pauses == []


def test_pauses_are_shortened_by_up_to_a_quarter_at_random() -> None:
    pauses = [pause_before_retry(APIConnectionError("broken"), 0) or 0.0 for _ in range(200)]

    assert 0.375 <= min(pauses) < 0.4
    assert 0.475 < max(pauses) <= 0.5


def test_the_number_of_retries_is_chosen_for_a_client_and_for_a_request(
    faulty: Errand, proxy: FaultyProxy, pauses: list[float]
) -> None:
    proxy.faults += [Fault("drop")] * 5
    with pytest.raises(APIConnectionError):
        faulty.whoami(max_retries=0)
    with pytest.raises(APIConnectionError):
        faulty.with_options(max_retries=1).whoami()

    assert len(proxy.seen) == 3


def test_a_silent_server_is_a_timeout(faulty: Errand, proxy: FaultyProxy, pauses: list[float]) -> None:
    proxy.faults += [Fault("hang")]

    with pytest.raises(APITimeoutError):
        faulty.whoami(timeout=0.2, max_retries=0)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (409, ConflictError),
        (422, UnprocessableEntityError),
        (429, RateLimitError),
        (500, InternalServerError),
        (503, InternalServerError),
        (418, APIError),
    ],
)
def test_each_status_has_its_error(faulty: Errand, proxy: FaultyProxy, status: int, kind: type[APIError]) -> None:
    proxy.faults.append(Fault("answer", status))

    with pytest.raises(APIError) as error:
        faulty.whoami(max_retries=0)

    assert type(error.value) is kind
    assert (error.value.status, error.value.code) == (status, None)


def test_errors_of_the_server_name_code_and_request(client: Errand, address: str) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.runs.retrieve(UNKNOWN)
    with pytest.raises(AuthenticationError) as unknown, Errand(base_url=address, api_key="wrong") as wrong:
        wrong.whoami()

    assert missing.value.code == "resource_not_found"
    assert missing.value.request_id == missing.value.problem["trace_id"]
    assert unknown.value.code == "authentication_required"


def test_a_key_and_a_valid_address_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERRAND_API_KEY")
    with pytest.raises(ErrandError, match="An API key is missing"):
        Errand()
    with pytest.raises(ErrandError, match="not a URL"):
        Errand(base_url="errand", api_key="x")
    with pytest.raises(ErrandError, match="An id must be a text"):
        Errand(api_key="x").runs.retrieve("..")


def test_a_header_that_cannot_be_sent_is_an_error_that_does_not_show_its_value(client: Errand) -> None:
    with pytest.raises(ErrandError, match=r"^The API key has characters that cannot be sent.$") as caught:
        Errand(api_key="secret\nkey").whoami()
    with pytest.raises(ErrandError, match=r"^The header x-proxy-token has characters that cannot be sent.$"):
        Errand(default_headers={"X-Proxy-Token": "secret Ω"}).whoami()

    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    # Files of keys end with a line break.
    assert Errand(api_key=f"{os.environ['ERRAND_API_KEY']}\n").whoami() == client.whoami()


def test_ids_are_one_segment_of_a_path(client: Errand) -> None:
    with pytest.raises(NotFoundError):
        client.runs.retrieve("../../whoami?x=#")


def test_responses_are_available_with_status_headers_and_body(client: Errand) -> None:
    response = client.with_raw_response.whoami()
    runs = client.runs.with_raw_response.list(limit=1)
    with client.runs.with_streaming_response.list(limit=1) as streamed:
        body = b"".join(streamed.iter_bytes())

    assert (response.status_code, response.request_id) == (200, response.headers["x-request-id"])
    assert isinstance(response.parse(), models.Whoami)
    assert isinstance(runs.parse(), models.ListRunsResponse)
    # Runs may have changed between the two requests.
    assert json.loads(body).keys() == json.loads(runs.read()).keys()


def test_endpoints_without_a_method_extra_headers_queries_and_bodies_are_sent(
    faulty: Errand, proxy: FaultyProxy
) -> None:
    result: Any = faulty.get(
        "/agent/runs", extra_query={"limit": 1, "state": ["FAILED", "ERROR"], "metadata": {"a": "b"}}
    )
    faulty.post("/agent/runs", body={"prompt": "say x"}, extra_body={"title": "Extra"}, idempotency_key="mine")
    faulty.whoami(extra_headers={"X-Request-Id": "mine", "Authorization": proxy.seen[0][2]["authorization"]})

    assert set(result) == {"runs", "page_info"}
    assert proxy.seen[0][1] == "/api/v1/agent/runs?limit=1&state=FAILED&state=ERROR&metadata%5Ba%5D=b"
    assert proxy.seen[1][2]["idempotency-key"] == "mine"
    assert proxy.seen[2][2]["x-request-id"] == "mine"


def test_a_list_is_one_page_or_all_entries(client: Errand) -> None:
    name = f"paged-{uuid4()}"
    for _ in range(3):
        client.runs.create(prompt="say paged", config={"name": name})

    page = client.runs.list(name=name, limit=2).first_page()

    assert (len(page.runs), page.page_info.has_next_page) == (2, True)
    ids = [run.run_id for run in client.runs.list(name=name, limit=2, sort_by="created_at")]
    assert (len(ids), len(set(ids))) == (3, 3)


def test_the_events_of_a_run_are_yielded_once_and_in_order_although_the_connection_breaks(
    client: Errand, faulty: Errand, proxy: FaultyProxy, pauses: list[float]
) -> None:
    run_id = client.runs.create(prompt="say one; ask; say two; ask; say three", interactive=True).run_id
    positions = []

    for event in faulty.runs.events(run_id):
        assert not isinstance(event, models.StreamReset)
        positions.append(event.seq)
        if isinstance(event, models.PermissionRequestedEvent):
            # The agent waits for the answer, so the stream is not complete.
            proxy.break_all()
            client.runs.answer(run_id, event.request.permission_id, option_id=event.request.options[0].option_id)

    assert positions == list(range(1, len(positions) + 1))
    assert len({headers["last-event-id"] for _, _, headers in proxy.seen if "last-event-id" in headers}) == 2


@pytest.mark.anyio
async def test_the_asynchronous_client_reads_lists_events_and_results(address: str) -> None:
    async with AsyncErrand(base_url=address) as client:
        run = await client.runs.create(prompt="say async; write artifacts/a.txt x", config={"name": "async"})
        kinds = [event.kind async for event in client.runs.events(run.run_id)]
        texts: list[str] = []
        ended = await client.runs.stream(run.run_id).on("text", lambda text, event: texts.append(text)).finished()
        found = [one.run_id async for one in client.runs.list(name="async", limit=1)]
        raw = await client.runs.with_raw_response.retrieve(run.run_id)
        async with client.runs.with_streaming_response.retrieve(run.run_id) as streamed:
            body = await streamed.read()
        async with client.runs.transcript(run.run_id) as transcript:
            lines = [line async for line in transcript.aiter_lines()]

    assert kinds[0] == "run.created"
    assert (ended.state, "async" in "".join(texts)) == ("SUCCEEDED", True)
    assert run.run_id in found
    assert (raw.status_code, (await raw.parse()).run_id) == (200, run.run_id)
    # The run may have changed between the two requests.
    assert json.loads(body)["run_id"] == json.loads(await raw.read())["run_id"]
    assert len(lines) > 3


def test_members_values_and_kinds_of_a_newer_server_are_accepted() -> None:
    answer = models.RunAgentResponse.model_validate({"run_id": "r", "task_id": "r", "state": "DREAMING", "future": [1]})
    block = models.ConversationMessage.model_validate({"role": "robot", "content": [{"type": "hologram", "size": 3}]})
    page = models.RunEventPage.model_validate(
        {
            "events": [{"kind": "agent.dream", "seq": 1, "turn": 1, "at": "2026-03-01T00:00:00Z", "x": 1}],
            "next_after": 1,
        }
    )

    assert (answer.state, answer.model_extra) == ("DREAMING", {"future": [1]})
    assert block.content[0].model_extra == {"type": "hologram", "size": 3}
    assert isinstance(page.events[0], models.UnknownRunEvent)


def test_a_run_and_a_list_have_only_the_fields_that_are_asked_for(client: Errand) -> None:
    run_id = client.runs.create(prompt="say partly").run_id

    run = client.runs.retrieve(run_id, fields="run_id,created_at")
    [listed] = client.runs.list(fields="run_id,creator", q=run_id)

    assert (run.run_id, run.created_at.year > 2000, hasattr(run, "title")) == (run_id, True, False)
    assert (listed.run_id, listed.creator.uid != "", hasattr(listed, "state")) == (run_id, True, False)


def test_a_response_of_something_else_is_an_error_of_the_client(faulty: Errand, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault("answer", 200, {"content-type": "text/html", "content-length": "2"}, b"<p"))

    with pytest.raises(ErrandError, match=r"does not understand \(GET /api/v1/agent/whoami\)\. Invalid JSON"):
        faulty.whoami()


def test_a_response_without_a_member_names_the_member_and_the_request(faulty: Errand, proxy: FaultyProxy) -> None:
    body = b'{"runs": [{}], "page_info": {}}'
    headers = {"content-type": "application/json", "content-length": str(len(body)), "x-request-id": "r-1"}
    proxy.faults.append(Fault("answer", 200, headers, body))

    with pytest.raises(
        ErrandError, match=r"\(GET /api/v1/agent/runs, request r-1\)\. runs\.0\.[a-z_]+: Field required"
    ):
        faulty.runs.list().first_page()

    proxy.faults.append(Fault("answer", 200, {**headers, "content-length": "2"}, b"{}"))
    with pytest.raises(ErrandError, match=r"\(POST /api/v1/agent/keys/k/rotate, request r-1\)\. id: Field required"):
        faulty.keys.rotate("k")


def test_a_write_that_is_redirected_is_an_error_that_names_the_other_address(
    faulty: Errand, proxy: FaultyProxy, address: str
) -> None:
    location = {"location": f"{address}/api/v1/agent/runs", "content-length": "0"}
    proxy.faults += [Fault("answer", 301, location), Fault("answer", 301, location)]

    with pytest.raises(ErrandError, match=f"Use {address}$"):
        faulty.runs.create(prompt="say redirected")
    with pytest.raises(ErrandError, match=f"Use {address}$"):
        list(faulty.runs.list())


def test_a_streamed_response_that_breaks_is_a_connection_error(faulty: Errand, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault("truncate"))

    with faulty.runs.with_streaming_response.list() as streamed, pytest.raises(APIConnectionError):
        streamed.read()


def test_an_argument_that_a_method_does_not_have_is_refused(client: Errand) -> None:
    with pytest.raises(TypeError, match="Unknown arguments: titel"):
        client.runs.create(prompt="say typo", titel="A title")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Unknown arguments: timeout"):
        next(client.runs.events(UNKNOWN, timeout=5))  # type: ignore[call-arg]


def test_a_wait_that_is_limited_raises_and_the_run_continues(client: Errand) -> None:
    run_id = client.runs.create(prompt="sleep 600").run_id

    with pytest.raises(APITimeoutError, match=r"not ended within 0\.5 seconds"):
        client.runs.wait_for_completion(run_id, max_wait=0.5)

    assert client.runs.retrieve(run_id).state not in ("SUCCEEDED", "FAILED", "ERROR", "CANCELLED")
    client.runs.cancel(run_id)


@pytest.mark.anyio
async def test_a_wait_of_the_asynchronous_client_is_limited_in_the_same_way(client: Errand) -> None:
    async with AsyncErrand() as other:
        run_id = (await other.runs.create(prompt="sleep 600")).run_id

        with pytest.raises(APITimeoutError, match=r"not ended within 0\.5 seconds"):
            await other.runs.wait_for_completion(run_id, max_wait=0.5)

        await other.runs.cancel(run_id)


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    with Errand(api_key="x") as client:
        resources = [name for name in vars(Errand) if not name.startswith("_")]
        others = AsyncErrand(api_key="x")
        for name in resources:
            one, other = type(getattr(client, name)), type(getattr(others, name))
            methods = [method for method in vars(one) if not method.startswith("_")]

            assert methods == [method for method in vars(other) if not method.startswith("_")]
            for method in methods:
                if callable(getattr(one, method)):
                    parameters = list(inspect.signature(getattr(one, method)).parameters)
                    assert parameters == list(inspect.signature(getattr(other, method)).parameters)

    assert len(resources) > 25


def test_an_http_client_of_your_own_is_used_and_not_closed(address: str) -> None:
    seen: list[str] = []
    with httpx.Client(event_hooks={"request": [lambda request: seen.append(str(request.url))]}) as http_client:
        with Errand(base_url=f"{address}/api/v1/", http_client=http_client) as client:
            client.whoami()
            client.with_options(timeout=5).whoami()
        assert not http_client.is_closed

    assert seen == [f"{address}/api/v1/agent/whoami"] * 2


def test_a_server_that_knows_it_is_asked_to_wait_for_the_end_of_a_run(faulty: Errand, proxy: FaultyProxy) -> None:
    run_id = faulty.runs.create(prompt="sleep 2").run_id
    proxy.seen.clear()

    assert faulty.runs.wait_for_completion(run_id).state == "SUCCEEDED"

    assert [path.partition("?")[2] for _, path, _ in proxy.seen] == ["tail=1", "wait=50"]


@pytest.mark.anyio
async def test_a_server_that_does_not_wait_is_asked_once_and_then_followed(client: Errand) -> None:
    asked: list[str] = []

    async def without_wait(request: httpx.Request) -> None:
        asked.append(request.url.query.decode())
        request.url = request.url.copy_remove_param("wait")

    run_id = client.runs.create(prompt="sleep 2").run_id
    async with httpx.AsyncClient(event_hooks={"request": [without_wait]}) as http:
        other = AsyncErrand(http_client=http)
        assert (await other.runs.wait_for_completion(run_id)).state == "SUCCEEDED"

    assert asked[:2] == ["tail=1", "wait=50"]
    assert len(asked) < 10
