"""What the client says about itself: its logs, its version and its name."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from faulty_proxy import Fault, faulty_proxy

import errand

PROGRAM = """
import sys
from errand import Errand, ErrandError

client = Errand(base_url=sys.argv[1])
client.runs.create(prompt="say a-secret-body", extra_query={"secret-query": "x"}, extra_headers={"x-own": "secret-header"})
try:
    client.get("/agent/unknown")
except ErrandError:
    pass
"""


def logged(address: str, level: str) -> str:
    environment = {**os.environ, "ERRAND_LOG": level}
    command = [sys.executable, "-c", PROGRAM, address]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=120).stderr


@pytest.mark.parametrize("level", ["debug", "info", "INFO", "off", ""])
def test_requests_and_retries_are_logged_without_keys_and_bodies(address: str, level: str) -> None:
    with faulty_proxy(address) as proxy:
        proxy.faults += [Fault("answer", 503, {"retry-after-ms": "1"}), Fault("drop")]
        lines = logged(proxy.url, level)

    writes = "errand INFO] POST /api/v1/agent/runs"
    assert (f"{writes}: status 503, request none" in lines) == (level.lower() in ("debug", "info"))
    assert (f"{writes} failed: InternalServerError, retry in 0.00 s" in lines) == (level.lower() in ("debug", "info"))
    assert (f"{writes} failed: APIConnectionError, retry in " in lines) == (level.lower() in ("debug", "info"))
    assert ("errand DEBUG] POST /api/v1/agent/runs (retry 2)" in lines) == (level == "debug")
    assert (lines == "") == (level in ("off", ""))
    assert "secret" not in lines
    assert os.environ["ERRAND_API_KEY"] not in lines


def test_requests_name_the_client_and_its_version(address: str) -> None:
    with faulty_proxy(address) as proxy, errand.Errand(base_url=proxy.url) as client:
        client.whoami()
        client.whoami(extra_headers={"User-Agent": "mine/1"})
        agents = [headers["user-agent"] for _, _, headers in proxy.seen]

    assert errand.__version__ == version("errand-client")
    assert agents[0].startswith(f"errand-python/{errand.__version__} python/3.")
    assert agents[1] == "mine/1"
