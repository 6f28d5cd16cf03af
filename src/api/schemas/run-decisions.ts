import { z } from "zod";
import { RunState } from "./run-requests.ts";
import { textOfCharacters } from "./text.ts";

const COMMENT_LENGTH = 1_000;

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
    approve: z.boolean().describe("false: the run is refused and cancelled."),
    comment: textOfCharacters(COMMENT_LENGTH).optional().describe("Published together with the decision."),
  })
  .meta({
    id: "ApprovalRequest",
    description: "The decision about a run that waits for approval.",
    examples: [{ approve: false, comment: "Not on a Friday" }],
  });

export const RunStateResponse = z.object({ state: RunState }).meta({
  id: "RunStateResponse",
  description: "The current state of the run.",
  examples: [{ state: "QUEUED" }],
});
