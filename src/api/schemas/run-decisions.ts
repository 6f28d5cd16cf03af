import { z } from "zod";
import { RunState } from "./run-requests.ts";
import { textOfCharacters } from "./text.ts";

const COMMENT_LENGTH = 1_000;

export const PermissionAnswerRequest = z
  .object({
    option_id: z
      .string()
      .min(1)
      .describe("One of the options that the agent offers: `permission.options` of the run."),
  })
  .meta({
    id: "PermissionAnswerRequest",
    description: "What a run that asks for permission is told.",
    examples: [{ option_id: "allow_once" }],
  });

export const ApprovalRequest = z
  .object({
    approve: z.boolean().describe("false: it is refused, and cancelled."),
    comment: textOfCharacters(COMMENT_LENGTH).optional().describe("Told with the decision."),
  })
  .meta({
    id: "ApprovalRequest",
    description: "Whether a run that waits for approval may begin.",
    examples: [{ approve: false, comment: "Not on a Friday" }],
  });

export const RunStateResponse = z.object({ state: RunState }).meta({
  id: "RunStateResponse",
  description: "The state of the run now.",
  examples: [{ state: "QUEUED" }],
});
