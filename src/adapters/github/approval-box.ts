import { parseId, type RunId } from "../../core/basics/ids.ts";
import type { RunCard } from "../../core/model/threads/notice.ts";
import type { ButtonAction } from "../../core/ports/thread-adapter.ts";
import type { IncomingMessage } from "./incoming-message.ts";

/** Quoted words of others have a mark in front, so no line of theirs is a box. */
const TICKED = /^- \[[xX]\] Approve <!-- errand:approve=([\da-f-]{36})\/([\da-f]{64}) -->$/m;

/**
 * The box with which people approve what a card shows. GitHub has no buttons, but everyone who can push may tick a box in
 * a comment, and the event of that edit says who did it.
 */
export function approvalBox({ approval, runId }: RunCard): string {
  const hash = approval?.inputsHash;
  return hash === undefined ? "" : `- [ ] Approve <!-- errand:approve=${runId}/${hash} -->`;
}

/** What a person approved by ticking the box in a comment of the bot. */
export function tickedBox({ action, before, body, sender }: IncomingMessage): ButtonAction | undefined {
  const [, run, inputsHash] = TICKED.exec(body.replaceAll("\r\n", "\n")) ?? [];
  const wasTicked = before?.body === undefined || TICKED.test(before.body.replaceAll("\r\n", "\n"));
  const runId = parseId<RunId>(run ?? "");
  if (action !== "edited" || wasTicked || sender?.type !== "User" || runId === undefined) {
    return undefined;
  }
  return inputsHash === undefined ? undefined : { kind: "approve", runId, inputsHash, approve: true };
}
