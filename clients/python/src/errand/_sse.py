"""Reads the messages of an event stream."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message of a response of the type `text/event-stream`."""

    id: str | None
    """The position to continue behind. None if no message has had one so far."""
    data: str
    """Empty if the message only tells the position."""


class MessageReader:
    """Cuts a stream into messages. An incomplete one at the end is left out: the server sends it again to the next
    connection."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # The pieces of an incomplete line. Joining them only once keeps long lines fast.
        self._pieces: list[str] = []
        self._data: list[str] = []
        self._id: str | None = None
        self._is_new_id = False

    def messages(self, chunk: bytes) -> Iterator[Message]:
        """Yields the messages that this chunk completes."""
        for line in self._lines(chunk):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "id":
                self._id = value
                self._is_new_id = True
            elif name == "data":
                self._data.append(value)
            elif line == "" and (self._data or self._is_new_id):
                yield Message(self._id, "\n".join(self._data))
                self._data = []
                self._is_new_id = False

    def _lines(self, chunk: bytes) -> Iterator[str]:
        first, *others = self._decoder.decode(chunk).split("\n")
        self._pieces.append(first)
        for piece in others:
            yield "".join(self._pieces).removesuffix("\r")
            self._pieces = [piece]
