import { AppError } from "../core/errors.ts";
import type { RunAgentRequest } from "./schemas/run-requests.ts";

interface NotAvailable<Request> {
  readonly member: string;
  readonly remedy: string;
  isAsked(request: Request): boolean;
}

/**
 * What the contract knows and this version cannot do yet. Refused in plain words, because a run that quietly
 * lacks what it was given would do the wrong work.
 */
const NOT_AVAILABLE: readonly NotAvailable<RunAgentRequest>[] = [
  {
    member: "config.budget",
    remedy: "Leave config.budget out, watch the run and cancel it when it has had enough.",
    isAsked: ({ config }) => Object.keys(config?.budget ?? {}).length > 0,
  },
];

export function requireAvailable(request: RunAgentRequest): void {
  refuseFirst(NOT_AVAILABLE, request);
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
