import type { RunEvent } from "../../core/runs/events.ts";
import type { EventJson } from "../schemas/run-event.ts";

/** An event as callers see it, in the stream and in the page. */
export function eventJson({ seq, turn, at, body }: RunEvent): EventJson {
  return { ...body, seq, turn, at: at.toISOString() };
}

/** An event of a `text/event-stream`; JSON has no line breaks, so one data line holds it. */
export function eventText(event: RunEvent): string {
  return `id: ${event.seq}\nevent: ${event.body.kind}\ndata: ${JSON.stringify(eventJson(event))}\n\n`;
}
