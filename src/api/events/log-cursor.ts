import { parseRunId } from "../../core/ids.ts";
import { EVENT_LOG_START, type EventLogPosition } from "../../core/runs/event-log.ts";

/** The cursor before the first event. */
export const START_CURSOR = "start";

/** Encodes a position in the log of all runs as an opaque cursor that is valid in every process. */
export function encodeCursor({ position, runId, seq }: EventLogPosition): string {
  return Buffer.from(`${position}.${runId}.${seq}`).toString("base64url");
}

const POSITION = /^(-?\d{1,18})\.([0-9a-f-]{36})\.(\d{1,10})$/;

/** Returns undefined if the text is not a valid cursor. */
export function decodeCursor(cursor: string): EventLogPosition | undefined {
  if (cursor === START_CURSOR) {
    return EVENT_LOG_START;
  }
  const [, position = "", runId = "", seq = ""] =
    POSITION.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  const id = parseRunId(runId);
  return id === undefined || Number(seq) >= 2 ** 31
    ? undefined
    : { position: BigInt(position), runId: id, seq: Number(seq) };
}
