import { z } from "zod";
import { RunState } from "./run-requests.ts";
import { textOfCharacters } from "./text.ts";

const COMMENT_LENGTH = 1_000;
const HASH_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const PermissionAnswerRequest = z
  .object({
    option_id: z.string().min(1).describe("One of the agent's options: `permission.options` of the run."),
  })
  .meta({
    id: "PermissionAnswerRequest",
    description: "The answer to a permission request.",
    examples: [{ option_id: "allow_once" }],
  });

export const ApprovalRequest = z
  .object({
    approve: z
      .boolean()
      .describe(
        "false: the run is refused and cancelled, or the follow-up is withdrawn and the run continues.",
      ),
    inputs_hash: z
      .string()
      .min(1)
      .describe(
        "`approval.inputs_hash` of the run, or of one follow-up. It says what the decision is about.",
      ),
    comment: textOfCharacters(COMMENT_LENGTH).optional().describe("Published together with the decision."),
  })
  .meta({
    id: "ApprovalRequest",
    description: "The decision about a run or a follow-up that waits for approval.",
    examples: [{ approve: false, inputs_hash: HASH_EXAMPLE, comment: "Not on a Friday" }],
  });

export const RunStateResponse = z.object({ state: RunState }).meta({
  id: "RunStateResponse",
  description: "The current state of the run.",
  examples: [{ state: "QUEUED" }],
});
