import { timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../core/basics/crypto.ts";
import { parseRunId } from "../../core/basics/ids.ts";
import { EVENT_LOG_START, type EventLogPosition } from "../../core/ports/stores/event-log.ts";
import { Signer } from "../http/signer.ts";

/** The cursor before the first event. */
export const START_CURSOR = "start";

/** The owner of sealed cursors. */
const OWNER = "cursor of the event log";
const POSITION = /^(-?\d{1,18})\.([0-9a-f-]{36})\.(\d{1,10})$/;
const SIGNATURE_LENGTH = 16;

interface LogCursorsDeps {
  readonly secrets: Pick<SecretBox, "open" | "seal">;
  readonly sessionSecret: string;
}

/** Encodes positions in the log of all runs as opaque cursors, which are valid in every process. */
export class LogCursors {
  readonly #secrets: LogCursorsDeps["secrets"];
  readonly #signer: Signer;

  constructor({ secrets, sessionSecret }: LogCursorsDeps) {
    this.#secrets = secrets;
    this.#signer = new Signer(sessionSecret, "cursor");
  }

  /**
   * The cursor of an event that the caller sees. It is signed, because the pages behind made-up ones would tell where
   * the log has runs of others. Streams encode one for each event, so it costs as little as possible.
   */
  encode(position: EventLogPosition): string {
    const text = textOf(position);
    return `${Buffer.from(text).toString("base64url")}~${this.#signer.sign(text).slice(0, SIGNATURE_LENGTH)}`;
  }

  /** The cursor of a position that may be that of an event of a run that the caller must not see. */
  seal(position: EventLogPosition): string {
    return this.#secrets.seal(Buffer.from(textOf(position)).toString("base64url"), OWNER);
  }

  /** Returns undefined if the text is not a cursor of this server. */
  decode(cursor: string): EventLogPosition | undefined {
    if (cursor === START_CURSOR) {
      return EVENT_LOG_START;
    }
    if (cursor.includes(".")) {
      return positionIn(this.#opened(cursor));
    }
    const position = positionIn(cursor.split("~")[0] ?? "");
    return position !== undefined && isSame(cursor, this.encode(position)) ? position : undefined;
  }

  #opened(cursor: string): string {
    try {
      return this.#secrets.open(cursor, OWNER);
    } catch {
      return "";
    }
  }
}

function textOf({ position, runId, seq }: EventLogPosition): string {
  return `${position}.${runId}.${seq}`;
}

function positionIn(encoded: string): EventLogPosition | undefined {
  const [, position = "", runId = "", seq = ""] =
    POSITION.exec(Buffer.from(encoded, "base64url").toString()) ?? [];
  const id = parseRunId(runId);
  return id === undefined || Number(seq) >= 2 ** 31
    ? undefined
    : { position: BigInt(position), runId: id, seq: Number(seq) };
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
