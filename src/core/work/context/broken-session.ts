import { AppError } from "../../basics/errors.ts";
import type { StopReason } from "../../model/runs/agent-update.ts";
import type { AgentSession } from "../../ports/agent-runner.ts";

/** How model servers and agents say that a conversation is longer than the model can read, whatever the status. */
const TOO_LONG = [
  /\bcontext[ _-]?(?:length|window|size|limit)/i,
  /\b(?:prompt|input|request|conversation|messages?)\b.{0,40}\btoo (?:long|large)/i,
  /\btoken count\b.{0,40}\bexceeds/i,
  /\btoo many (?:input )?tokens\b/i,
];

/**
 * Whether the next turn would fail as well if it resumed the session: the conversation is too long, the model refuses
 * what it contains, or the agent fails with it.
 */
export function isSessionBroken(error: unknown, { resumed }: Pick<AgentSession, "resumed">): boolean {
  if (!(error instanceof AppError)) {
    return false;
  }
  const { reason } = error.options;
  // An agent that dies is resumed once, because anything may have ended its process.
  return (
    error.code === "invalid_request" ||
    reason === "agent_error" ||
    (reason === "agent_process_failed" && resumed) ||
    TOO_LONG.some((pattern) => pattern.test(error.message))
  );
}

/** After these ends the session contains what the model refused, or is as long as the model can read. */
export function leavesSessionBroken(stopReason: StopReason): boolean {
  return stopReason === "max_tokens" || stopReason === "refusal";
}
