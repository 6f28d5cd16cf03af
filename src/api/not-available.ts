import { AppError } from "../core/errors.ts";
import type { RunAgentRequest, RunFollowupRequest } from "./schemas/run-requests.ts";

interface NotAvailable<Request> {
  readonly member: string;
  readonly remedy: string;
  isAsked(request: Request): boolean;
}

const MODE_REMEDY = "Leave mode out, and say in the words how the agent shall go about it.";

/**
 * What the contract knows and this version cannot do yet. Refused in plain words, because a run that quietly
 * lacks what it was given would do the wrong work.
 */
const NOT_AVAILABLE: readonly NotAvailable<RunAgentRequest>[] = [
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
  {
    member: "mode",
    remedy: MODE_REMEDY,
    isAsked: isOtherMode,
  },
  {
    member: "config.worker_host",
    remedy: "Leave config.worker_host out: any worker takes the run.",
    isAsked: ({ config }) => config?.worker_host !== undefined,
  },
  {
    member: "config.budget",
    remedy: "Leave config.budget out, watch the run and cancel it when it has had enough.",
    isAsked: ({ config }) => Object.keys(config?.budget ?? {}).length > 0,
  },
];

const NOT_AVAILABLE_LATER: readonly NotAvailable<RunFollowupRequest>[] = [
  {
    member: "mode",
    remedy: MODE_REMEDY,
    isAsked: isOtherMode,
  },
  {
    member: "visibility",
    remedy: "Leave visibility out: a follow-up is seen by whoever sees the run.",
    isAsked: ({ visibility }) => visibility === "private",
  },
];

export function requireAvailable(request: RunAgentRequest): void {
  refuseFirst(NOT_AVAILABLE, request);
  if (request.config?.environment_id === undefined) return;
  throw new AppError("resource_not_found", "There is no such environment.", {
    remedy: "Leave config.environment_id out.",
  });
}

export function requireFollowUpAvailable(request: RunFollowupRequest): void {
  refuseFirst(NOT_AVAILABLE_LATER, request);
}

function refuseFirst<Request>(members: readonly NotAvailable<Request>[], request: Request): void {
  const missing = members.find(({ isAsked }) => isAsked(request));
  if (missing === undefined) return;
  const { member, remedy } = missing;
  throw new AppError("operation_not_supported", `This server cannot do what "${member}" asks for yet.`, {
    remedy,
    issues: [{ path: member, message: "asks for what is not available in this version" }],
  });
}

function isOtherMode({ mode }: Pick<RunAgentRequest, "mode">): boolean {
  return mode !== undefined && mode !== "normal";
}
