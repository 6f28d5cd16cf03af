"""The examples of the README, as they stand."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from conftest import wait_for

from errand import Errand

README = Path(__file__).resolve().parent.parent / "README.md"
EXAMPLES: list[str] = re.findall(r"^```python.*?\n(.*?)^```$", README.read_text(), re.S | re.M)
SERVERS = [source for source in EXAMPLES if "HTTPServer" in source]
PROGRAMS = [source for source in EXAMPLES if source not in SERVERS]


@pytest.mark.parametrize("source", PROGRAMS, ids=range(len(PROGRAMS)))
def test_an_example_runs(source: str) -> None:
    subprocess.run([sys.executable, "-c", source], check=True, timeout=300)


def test_the_webhook_receiver_answers_what_it_cannot_verify_and_then_takes_a_message(
    client: Errand, tmp_path: Path
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    webhook = client.webhooks.create(url=url)
    [source] = SERVERS
    program = [sys.executable, "-c", source.replace("3000", str(port))]
    printed = tmp_path / "printed"
    with printed.open("w") as output:
        environment = {**os.environ, "ERRAND_WEBHOOK_SECRET": webhook.secret}
        process = subprocess.Popen(program, stdout=output, stderr=subprocess.DEVNULL, env=environment)
        try:
            unsigned = wait_for(lambda: post(url, {}), "an answer of the receiver")
            long_time = post(url, {"webhook-id": "1", "webhook-signature": "v1,", "webhook-timestamp": "9" * 5000})
            with socket.create_connection(("127.0.0.1", port)) as half:
                half.sendall(b"POST / HTTP/1.1\r\ncontent-length: 100\r\n\r\n{")
            client.webhooks.test(webhook.id)
            wait_for(lambda: "webhook.test" in printed.read_text() or None, "the message")

            assert (unsigned, long_time, process.poll()) == (400, 400, None)
        finally:
            process.kill()
            process.wait()
            client.webhooks.delete(webhook.id)


def post(url: str, headers: dict[str, str]) -> int | None:
    try:
        return httpx.post(url, content="{}", headers=headers).status_code
    except httpx.ConnectError:
        return None


CALLS = """
from typing_extensions import assert_type

from errand import AsyncErrand, Errand, models

client = Errand()
first: str = client.get("/agent/catalogue")["agents"][0]["name"]
created = client.post("/agent/runs", body={"prompt": "say hello"})
assert_type(client.get("/agent/whoami", cast_to=models.Whoami), models.Whoami)
assert_type(client.put("/x", body={}, cast_to=dict[str, int]), dict[str, int])
client.delete("/x")


async def call(other: AsyncErrand) -> int:
    answer = await other.patch("/x", body={"a": 1})
    assert_type(await other.get("/agent/whoami", cast_to=models.Whoami), models.Whoami)
    return len(answer)
"""


def test_the_examples_and_calls_without_a_method_have_correct_types(tmp_path: Path) -> None:
    for number, source in enumerate([*EXAMPLES, CALLS]):
        (tmp_path / f"example_{number}.py").write_text(source)

    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path)], check=False, capture_output=True, text=True
    )

    assert result.stdout.startswith("Success"), result.stdout
