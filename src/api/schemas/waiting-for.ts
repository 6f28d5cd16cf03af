import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Deciders } from "../../core/requests/deciders.ts";
import { WAIT_REASONS, type WaitingFor } from "../../core/upkeep/waiting-for.ts";
import { creatorInfo, RunCreatorInfo } from "./run-creator.ts";
import { Timestamp } from "./text.ts";

export const RunWaitingFor = z
  .object({
    reason: z
      .enum(WAIT_REASONS)
      .describe(
        "`approval`: a person must approve the run, or a follow-up to a run that has ended. `question`: a person must answer the agent. `worker_host`: no " +
          "worker with the name `worker_host` is connected. `capacity`: no worker is free, or the agent has an answer and waits for a slot of its worker. " +
          "`quota`: the team has as many runs at work as its quota `running_runs` allows. `disk`: the disks of the free workers are nearly full.",
      ),
    message: z.string().describe("A text for people."),
    since: Timestamp.describe("When the run got its present state."),
    position: z
      .int()
      .optional()
      .describe(
        "The place among the queued runs of the same creator, counted from 1. Only of a queued run, and not in lists.",
      ),
    may_decide: z
      .boolean()
      .optional()
      .describe("Whether the policies let the caller answer or approve. Only if a person has to."),
    deciders: z
      .array(RunCreatorInfo)
      .optional()
      .describe("Members who may answer or approve, at most five. Absent if the caller may."),
  })
  .meta({
    id: "RunWaitingFor",
    description: "What the run waits for before it can start or continue.",
    examples: [
      {
        reason: "capacity",
        message: "All workers are busy.",
        since: "2026-03-01T09:00:00.000Z",
        position: 2,
      },
    ],
  });
export type RunWaitingFor = z.output<typeof RunWaitingFor>;

export function waitingForItem({ since, ...waits }: WaitingFor, deciders?: Deciders): RunWaitingFor {
  return { ...waits, since: since.toISOString(), ...decidersMember(deciders) };
}

function decidersMember(deciders: Deciders | undefined): Pick<RunWaitingFor, "deciders" | "may_decide"> {
  if (deciders === undefined) {
    return {};
  }
  const { mayDecide, people } = deciders;
  const named = people.map((member) => creatorInfo(member.id, member));
  return defined({ may_decide: mayDecide, deciders: mayDecide ? undefined : named });
}
