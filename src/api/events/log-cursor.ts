import { parseRunId } from "../../core/ids.ts";
import { EVENT_LOG_START, type EventLogPosition } from "../../core/runs/event-log.ts";
import type { SecretBox } from "../../core/secrets/secret-box.ts";

/** The cursor before the first event. */
export const START_CURSOR = "start";

/** The owner of sealed cursors. */
const OWNER = "cursor of the event log";

/**
 * Encodes the position of an event that the caller sees, as an opaque cursor that is valid in every process. Streams
 * encode one for each event, so it costs as little as possible.
 */
export function encodeCursor({ position, runId, seq }: EventLogPosition): string {
  return Buffer.from(`${position}.${runId}.${seq}`).toString("base64url");
}

/** Encodes a position that may be that of an event of a run that the caller must not see. */
export function sealCursor(position: EventLogPosition, box: Pick<SecretBox, "seal">): string {
  return box.seal(encodeCursor(position), OWNER);
}

const POSITION = /^(-?\d{1,18})\.([0-9a-f-]{36})\.(\d{1,10})$/;

/** Returns undefined if the text is not a valid cursor. */
export function decodeCursor(cursor: string, box: Pick<SecretBox, "open">): EventLogPosition | undefined {
  if (cursor === START_CURSOR) {
    return EVENT_LOG_START;
  }
  const encoded = cursor.includes(".") ? opened(cursor, box) : cursor;
  const [, position = "", runId = "", seq = ""] =
    POSITION.exec(Buffer.from(encoded, "base64url").toString()) ?? [];
  const id = parseRunId(runId);
  return id === undefined || Number(seq) >= 2 ** 31
    ? undefined
    : { position: BigInt(position), runId: id, seq: Number(seq) };
}

/** Returns an empty text if the cursor is not one of this server. */
function opened(cursor: string, box: Pick<SecretBox, "open">): string {
  try {
    return box.open(cursor, OWNER);
  } catch {
    return "";
  }
}
