"""The events of a run as they are read from a stream, without a server."""

from __future__ import annotations

from typing import Any

from errand import RunStream, models
from errand._sse import Message, MessageReader


def test_listeners_of_a_tool_call_get_all_of_its_output() -> None:
    common = {"kind": "agent.tool_call", "turn": 1, "at": "2026-03-01T00:00:00Z", "tool_call_id": "one"}
    pieces: list[dict[str, Any]] = [
        {"title": "Run", "output": "a"},
        {"output": "b"},
        {"status": "completed"},
        {"content": [], "output": "c"},
    ]
    events = [
        models.AgentToolCallEvent.model_validate({**common, "seq": seq, **piece}) for seq, piece in enumerate(pieces)
    ]
    outputs: list[tuple[str | None, str | None]] = []

    def retrieve() -> Any:
        return None

    RunStream(iter(events), retrieve).on(
        "tool", lambda call, event: outputs.append((call.title, call.output))
    ).finished()

    assert outputs == [("Run", "a"), ("Run", "ab"), ("Run", "ab"), ("Run", "abc")]


def test_a_stream_tells_its_position_before_its_first_event() -> None:
    reader = MessageReader()

    messages = list(reader.messages(b"retry: 1000\n\nid: first\n\n: comment\n\ndata: {}\n\n"))

    assert messages == [Message("first", ""), Message("first", "{}")]
