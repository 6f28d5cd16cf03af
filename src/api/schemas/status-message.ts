import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { ERROR_CODES, FAILURE_REASONS } from "../../core/basics/errors.ts";
import type { ListedRun } from "../../core/model/runs/run.ts";
import { Timestamp } from "./text.ts";

/** Not an enumeration, because later versions may know more. */
export const FAILURE_REASON = `A finer cause than the code, such as ${FAILURE_REASONS.map((reason) => `\`${reason}\``).join(", ")}.`;

export const RunStatusMessage = z
  .object({
    message: z.string().describe("A text for people."),
    error_code: z.enum(ERROR_CODES).optional().describe("A code for programs: one of the codes of `Error`."),
    retryable: z.boolean().optional().describe("Whether a repeat of the same run may succeed."),
    reason: z.string().optional().describe(FAILURE_REASON),
    remedy: z.string().optional().describe("What you can do about it."),
    session_debug_until: Timestamp.optional().describe(
      "Until when the failed run keeps its agent and workspace. A follow-up continues there. Present only until then.",
    ),
  })
  .meta({
    id: "RunStatusMessage",
    description: "Why the run ended, or what it waits for.",
    examples: [
      {
        message: "The agent's process ended with exit code 1.",
        error_code: "internal_error",
        retryable: true,
        reason: "agent_process_failed",
      },
    ],
  });

type Kept = Pick<ListedRun, "debugUntil" | "state" | "statusMessage">;

export function statusOf(run: Kept, now: Date): z.output<typeof RunStatusMessage> | undefined {
  const { statusMessage } = run;
  if (statusMessage === undefined) {
    return undefined;
  }
  const { message, errorCode, reason, remedy, retryable } = statusMessage;
  const session_debug_until = debugUntilOf(run, now)?.toISOString();
  return defined({ message, error_code: errorCode, retryable, reason, remedy, session_debug_until });
}

/** Whether a follow-up starts an agent in the workspace of a failed setup. */
export function isSetupKept(run: Kept, now: Date): boolean {
  const isOfSetup = run.statusMessage?.errorCode === "environment_setup_failed";
  return isOfSetup && debugUntilOf(run, now) !== undefined;
}

function debugUntilOf({ debugUntil, state }: Kept, now: Date): Date | undefined {
  return state === "FAILED" && debugUntil !== undefined && debugUntil > now ? debugUntil : undefined;
}
