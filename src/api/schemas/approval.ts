import { z } from "zod";
import type { Approval, ApprovalInput } from "../../core/runs/run.ts";
import { Timestamp } from "./text.ts";

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const EXAMPLE = {
  id: "0195b2a6-0000-7d3e-8f40-516273849506",
  policy_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70",
  reason: "Runs in production are approved by the platform team.",
  inputs_hash: HASH,
  inputs: [{ text: "Deploy the new parser", attachments: [] }],
};

const RunApprovalAttachment = z
  .object({
    name: z.string().describe("The name that the caller gave."),
    sha256: z.string().describe("The SHA-256 of the content, in hexadecimal digits."),
  })
  .meta({
    id: "RunApprovalAttachment",
    description: "A file of the request.",
    examples: [{ name: "notes.txt", sha256: HASH }],
  });

const RunApprovalItem = z
  .object({
    followup_id: z.uuid().optional().describe("The follow-up. Absent for a part of the request of the run."),
    text: z.string().describe("The words as the agent gets them."),
    attachments: z.array(RunApprovalAttachment).describe("The files. Only the request of a run has any."),
  })
  .meta({
    id: "RunApprovalItem",
    description:
      "Words for the agent. The request of a run has its prompt first, then the text around it, the base prompt and the " +
      "instructions of its skills, as far as it has them.",
    examples: [EXAMPLE.inputs[0]],
  });

export const RunApproval = z
  .object({
    id: z.uuid().describe("The id of the approval. It stays the same while nobody has decided."),
    policy_id: z.uuid().describe("The policy that requires the approval."),
    reason: z.string().describe("Why the approval is required."),
    inputs_hash: z
      .string()
      .describe("Identifies the inputs. A decision names it. It changes whenever the inputs change."),
    inputs: z.array(RunApprovalItem).describe("Everything that is approved, in the order of delivery."),
    decided: z
      .enum(["approved", "refused"])
      .optional()
      .describe("The decision. Absent while the approval is open."),
    decided_by: z.uuid().optional().describe("The uid of the principal that decided."),
    decided_at: Timestamp.optional().describe("When it was decided."),
  })
  .meta({
    id: "RunApproval",
    description: "An approval that a policy requires before an agent gets these words.",
    examples: [EXAMPLE],
  });
type RunApproval = z.output<typeof RunApproval>;

/** The member of a run or of a follow-up. */
export function approvalMember(approval: Approval | undefined): { approval?: RunApproval } {
  if (approval === undefined) {
    return {};
  }
  const { approved, decidedAt, decidedBy, id, inputs, inputsHash, policyId, reason } = approval;
  return {
    approval: {
      id,
      policy_id: policyId,
      reason,
      inputs_hash: inputsHash,
      inputs: inputs.map(inputItem),
      ...(approved === undefined ? {} : { decided: approved ? "approved" : "refused" }),
      ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
      ...(decidedAt === undefined ? {} : { decided_at: decidedAt.toISOString() }),
    },
  };
}

function inputItem({ attachments, followUpId, text }: ApprovalInput): RunApproval["inputs"][number] {
  const files = attachments.map(({ name, sha256 }) => ({ name, sha256 }));
  return { ...(followUpId === undefined ? {} : { followup_id: followUpId }), text, attachments: files };
}
