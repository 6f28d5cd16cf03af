import { z } from "zod";
import { USAGE_GROUPS, type UsageRow } from "../../core/usage/usage.ts";
import { RunSourceType } from "./run-item.ts";

const EXAMPLE = {
  day: "2026-03-01",
  source: "API",
  runs: 12,
  succeeded: 10,
  failed: 1,
  run_seconds: 3240.5,
  total_tokens: 1_250_000,
  inference_cost_usd: 3.75,
} as const;

const Groups = z.preprocess(
  (given) => (typeof given === "string" ? [given] : given),
  z.array(z.enum(USAGE_GROUPS)).min(1),
);

export const UsageQuery = z.object({
  from: z.string().optional().describe("The first day, by UTC: `2026-03-01`. Default: 30 days with today."),
  to: z.string().optional().describe("The last day. Default: today. At most 366 days."),
  group_by: Groups.default(["day"]).describe("Repeatable: a row for each combination. Default: by day."),
});

const UsageItem = z
  .object({
    day: z.iso.date().optional().describe("By UTC; of the runs' creation."),
    source: RunSourceType.optional(),
    creator_uid: z.string().optional().describe("Who started the runs."),
    environment_id: z.string().optional().describe("Absent for runs without one."),
    runs: z.int().describe("How many."),
    succeeded: z.int().describe("Of them, how many are SUCCEEDED now."),
    failed: z.int().describe("Of them, how many are FAILED or ERROR now."),
    run_seconds: z.number().describe("The sum of their `run_time`."),
    total_tokens: z.number().describe("The sum of what each run tells in `request_usage`."),
    inference_cost_usd: z.number().describe("The same; runs of unknown cost count as nothing."),
  })
  .meta({ id: "UsageRow", description: "What some runs add up to.", examples: [EXAMPLE] });

export const UsageResponse = z
  .object({ usage: z.array(UsageItem).describe("In the order of what they are grouped by.") })
  .meta({
    id: "UsageResponse",
    description: "What the runs that you see add up to.",
    examples: [{ usage: [EXAMPLE] }],
  });

export function usageItem({ creatorId, environmentId, runSeconds, totalTokens, costUsd, ...row }: UsageRow) {
  return {
    ...row,
    ...(creatorId === undefined ? {} : { creator_uid: creatorId }),
    ...(environmentId === undefined ? {} : { environment_id: environmentId }),
    run_seconds: runSeconds,
    total_tokens: totalTokens,
    inference_cost_usd: costUsd,
  };
}
