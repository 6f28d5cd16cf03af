"""How long a call may take with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import pytest
from faulty_proxy import Fault, FaultyProxy, faulty_proxy

from errand import APITimeoutError, AsyncErrand, Errand, InternalServerError

#: Far more than the limit of the tests, and far less than a call without a limit would take.
GENEROUS = 20.0


@pytest.fixture
def proxy(address: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(address) as started:
        yield started


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_call_ends_with_its_total_timeout(proxy: FaultyProxy, kind: str) -> None:
    proxy.faults += [Fault(kind)] * 20  # type: ignore[arg-type]
    start = monotonic()
    with Errand(base_url=proxy.url) as client, pytest.raises(APITimeoutError):
        client.whoami(total_timeout=0.5)

    assert monotonic() - start < GENEROUS


@pytest.mark.anyio
async def test_the_limit_of_a_client_counts_for_the_asynchronous_one_too(proxy: FaultyProxy) -> None:
    proxy.faults += [Fault("drip")] * 20
    async with AsyncErrand(base_url=proxy.url, total_timeout=0.5) as client:
        with pytest.raises(APITimeoutError):
            await client.whoami()
        proxy.faults.clear()
        assert (await client.with_options(total_timeout=None).whoami()).principal.uid


def test_a_pause_that_would_pass_the_limit_is_not_begun(proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault("answer", 503, {"retry-after": "50"}))
    start = monotonic()
    with Errand(base_url=proxy.url, total_timeout=10) as client, pytest.raises(InternalServerError):
        client.whoami()

    assert monotonic() - start < GENEROUS
    assert len(proxy.seen) == 1


def test_live_events_and_waits_are_not_limited_by_it(client: Errand) -> None:
    run_id = client.runs.create(prompt="sleep 2").run_id

    run = client.with_options(total_timeout=1).runs.wait_for_completion(run_id)

    assert run.state == "SUCCEEDED"
