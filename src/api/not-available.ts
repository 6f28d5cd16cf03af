import { AppError } from "../core/errors.ts";
import type { RunAgentRequest } from "./schemas/run-requests.ts";

interface NotAvailable {
  readonly member: string;
  readonly remedy: string;
  isAsked(request: RunAgentRequest): boolean;
}

/**
 * What the contract knows and this version cannot do yet. Refused in plain words, because a run that quietly
 * lacks what it was given would do the wrong work.
 */
const NOT_AVAILABLE: readonly NotAvailable[] = [
  {
    member: "images",
    remedy: "Put the images where the agent can fetch them and name the address in the prompt.",
    isAsked: ({ images }) => images !== undefined && images.length > 0,
  },
  {
    member: "attachments",
    remedy: "Put the text of the files into the prompt.",
    isAsked: ({ attachments }) => attachments !== undefined && attachments.length > 0,
  },
  {
    member: "skill",
    remedy: "Put the skill's instructions into config.base_prompt.",
    isAsked: ({ skill }) => skill !== undefined,
  },
  {
    member: "config.skill_spec",
    remedy: "Put the skill's instructions into config.base_prompt.",
    isAsked: ({ config }) => config?.skill_spec !== undefined,
  },
  {
    member: "conversation_id",
    remedy: "Send a follow-up to the run whose conversation is to go on.",
    isAsked: ({ conversation_id }) => conversation_id !== undefined,
  },
];

export function requireAvailable(request: RunAgentRequest): void {
  const missing = NOT_AVAILABLE.find(({ isAsked }) => isAsked(request));
  if (missing !== undefined) {
    const { member, remedy } = missing;
    throw new AppError("operation_not_supported", `This server cannot handle "${member}" yet.`, {
      remedy,
      issues: [{ path: member, message: "is not available in this version" }],
    });
  }
  if (request.config?.environment_id === undefined) return;
  throw new AppError("resource_not_found", "There is no such environment.", {
    remedy: "Leave config.environment_id out.",
  });
}
