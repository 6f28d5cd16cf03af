import type { RunEvent } from "../../core/model/runs/events.ts";
import type { LoggedEvent } from "../../core/ports/stores/event-log.ts";
import { membersWithApiNames } from "../schemas/event-names.ts";
import type { EventJson, LoggedEventJson } from "../schemas/run-event.ts";
import type { LogCursors } from "./log-cursor.ts";

/** Converts an event to the format of the API. */
export function eventJson({ seq, turn, at, body }: RunEvent): EventJson {
  return { ...membersWithApiNames(body), seq, turn, at: at.toISOString(), kind: body.kind };
}

export function eventText(event: RunEvent): string {
  return textOf(event.seq, event.body.kind, eventJson(event));
}

/** Converts an event in the log of all runs to the format of the API. */
export function loggedEventJson(
  { event, position }: LoggedEvent,
  cursors: Pick<LogCursors, "encode">,
): LoggedEventJson {
  return { ...eventJson(event), run_id: event.runId, cursor: cursors.encode(position) };
}

export function loggedEventText(logged: LoggedEvent, cursors: Pick<LogCursors, "encode">): string {
  const json = loggedEventJson(logged, cursors);
  return textOf(json.cursor, logged.event.body.kind, json);
}

/** Tells the reader that its position is unknown and that the stream continues behind `id`. */
export function resetText(id: number | string): string {
  return textOf(id, "reset", { kind: "reset", reason: "The stream cannot go on where you were." });
}

/** Tells the reader its position, without an event, so that it can resume before the first event has arrived. */
export function positionText(id: number | string): string {
  return `id: ${id}\n\n`;
}

/** Formats an event of a `text/event-stream`. JSON has no line breaks, so one data line is enough. */
function textOf(id: number | string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
