# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, overload

from typing_extensions import Self

from .. import models


class RunStream:
    """The events of a run, for listeners. Nothing is read before `finished` is called.

    Example:
        run = client.runs.stream(run_id).on("text", lambda text, event: print(text)).finished()
    """

    def __init__(self, events: Iterator[Any], retrieve: Callable[[], models.RunItem]) -> None:
        self._events = events
        self._retrieve = retrieve
        self._listeners: dict[str, list[Callable[[Any, Any], object]]] = {}
        self._tool_calls: dict[str, models.AgentToolCallEvent] = {}

    @overload
    def on(self, name: Literal["text"], listener: Callable[[str, models.AgentMessageEvent], object]) -> Self: ...

    @overload
    def on(
        self,
        name: Literal["tool"],
        listener: Callable[[models.AgentToolCallEvent, models.AgentToolCallEvent], object],
    ) -> Self: ...

    @overload
    def on(
        self,
        name: Literal["question"],
        listener: Callable[[models.PermissionRequestedEventRequest, models.PermissionRequestedEvent], object],
    ) -> Self: ...

    @overload
    def on(self, name: Literal["state"], listener: Callable[[str, models.RunStateEvent], object]) -> Self: ...

    def on(self, name: str, listener: Callable[[Any, Any], object]) -> Self:
        """Adds a listener. If it raises, the stream ends and `finished` raises its error.

        Args:
            name: `text`: a piece of what the agent writes. `tool`: a tool call began or changed; the first value contains
                all that is known about it by now, the event only what changed. `question`: the agent asks for permission
                and waits; answer with `runs.answer`. `state`: the run has a new state.
            listener: Called with the value and its event.
        """
        self._listeners.setdefault(name, []).append(listener)
        return self

    def finished(self) -> models.RunItem:
        """Reads the events to the end of the run, and returns the run."""
        for event in self._events:
            self._notify(event)
        return self._retrieve()

    def _notify(self, event: Any) -> None:
        if isinstance(event, models.AgentMessageEvent):
            self._call("text", event.text, event)
        elif isinstance(event, models.AgentToolCallEvent):
            self._call("tool", self._merged(event), event)
        elif isinstance(event, models.PermissionRequestedEvent):
            self._call("question", event.request, event)
        elif isinstance(event, models.RunStateEvent):
            self._call("state", event.to, event)

    def _merged(self, event: models.AgentToolCallEvent) -> models.AgentToolCallEvent:
        merged = event
        before = self._tool_calls.get(event.tool_call_id)
        if before is not None:
            members = {name: getattr(event, name) for name in event.model_fields_set}
            # A further part of the output is added. New content replaces the output.
            output = event.output if event.content else "".join(part or "" for part in (before.output, event.output))
            merged = before.model_copy(update={**members, "output": output or None})
        self._tool_calls[event.tool_call_id] = merged
        return merged

    def _call(self, name: str, value: object, event: object) -> None:
        for listener in self._listeners.get(name, []):
            listener(value, event)
