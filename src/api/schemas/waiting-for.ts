import { z } from "zod";
import { WAIT_REASONS, type WaitingFor } from "../../core/runs/waiting-for.ts";
import { Timestamp } from "./text.ts";

export const RunWaitingFor = z
  .object({
    reason: z
      .enum(WAIT_REASONS)
      .describe(
        "`approval`: a person must approve the run, or a follow-up to a run that has ended. `question`: a person must answer the agent. `worker_host`: no " +
          "worker with the name `worker_host` is connected. `capacity`: no worker is free. `disk`: the disks of the free workers are nearly full.",
      ),
    message: z.string().describe("A text for people."),
    since: Timestamp.describe("When the run got its present state."),
  })
  .meta({
    id: "RunWaitingFor",
    description: "What the run waits for before it can start or continue.",
    examples: [{ reason: "capacity", message: "All workers are busy.", since: "2026-03-01T09:00:00.000Z" }],
  });
export type RunWaitingFor = z.output<typeof RunWaitingFor>;

export function waitingForItem({ since, ...waits }: WaitingFor): RunWaitingFor {
  return { ...waits, since: since.toISOString() };
}
