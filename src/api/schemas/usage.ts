import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { USAGE_GROUPS, type UsageRow } from "../../core/model/usage/usage.ts";
import { RunSourceType } from "./run-item.ts";

const EXAMPLE = {
  day: "2026-03-01",
  source: "API",
  runs: 12,
  succeeded: 10,
  failed: 1,
  success_rate: 0.909,
  median_seconds_to_result: 210.4,
  p95_seconds_to_result: 840.2,
  run_seconds: 3240.5,
  total_tokens: 1_250_000,
  inference_cost_usd: 3.75,
} as const;

const UsageGroup = z
  .enum(USAGE_GROUPS)
  .meta({ id: "UsageGroup", description: "What the runs of a row have in common.", examples: ["day"] });
const Groups = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z.array(UsageGroup).min(1),
);

export const UsageQuery = z.object({
  from: z
    .string()
    .optional()
    .describe(
      "The first day in UTC, such as `2026-03-01`. Default: 29 days ago, which gives 30 days with today.",
    ),
  to: z.string().optional().describe("The last day in UTC. Default: today. At most 366 days."),
  group_by: Groups.default(["day"]).describe("Can be repeated: one row per combination. Default: by day."),
});

const UsageItem = z
  .object({
    day: z.iso.date().optional().describe("The day in UTC on which the runs were created."),
    source: RunSourceType.optional(),
    creator_uid: z.string().optional().describe("The uid of the principal that started the runs."),
    environment_id: z.string().optional().describe("The environment. Absent for runs without one."),
    repository: z
      .string()
      .optional()
      .describe("`owner/name` of `config.repository`, in lower case. Absent for runs without one."),
    agent: z.string().optional().describe("The agent that did the runs."),
    model_id: z
      .string()
      .optional()
      .describe("The model that the configuration names. Absent for runs that name none."),
    runs: z.int().describe("The number of runs, without tests of environments."),
    succeeded: z.int().describe("The number of runs that are SUCCEEDED now."),
    failed: z.int().describe("The number of runs that are FAILED or ERROR now."),
    success_rate: z
      .number()
      .optional()
      .describe("`succeeded` divided by `succeeded` and `failed` together. Absent if both are 0."),
    median_seconds_to_result: z
      .number()
      .optional()
      .describe(
        "The median time from the creation to the end of the runs that are SUCCEEDED. Absent if there is none.",
      ),
    p95_seconds_to_result: z
      .number()
      .optional()
      .describe("The time within which 95 % of these runs ended. Absent if there is none."),
    run_seconds: z.number().describe("The sum of `run_time` of the runs."),
    total_tokens: z.number().describe("The sum of `request_usage` of the runs."),
    inference_cost_usd: z
      .number()
      .describe("The sum of the known costs. Runs of unknown cost count as zero."),
  })
  .meta({ id: "UsageRow", description: "The totals of a group of runs.", examples: [EXAMPLE] });

export const UsageResponse = z
  .object({ usage: z.array(UsageItem).describe("Ordered by the members of `group_by`.") })
  .meta({
    id: "UsageResponse",
    description: "The totals of the runs that you can see.",
    examples: [{ usage: [EXAMPLE] }],
  });

export function usageItem(row: UsageRow): z.output<typeof UsageItem> {
  const { creatorId, environmentId, model, successRate, medianSecondsToResult, p95SecondsToResult } = row;
  const { day, source, repository, agent, runs, succeeded, failed, runSeconds, totalTokens, costUsd } = row;
  return {
    ...defined({
      day,
      source,
      creator_uid: creatorId,
      environment_id: environmentId,
      repository,
      agent,
      model_id: model,
    }),
    runs,
    succeeded,
    failed,
    ...defined({
      success_rate: successRate,
      median_seconds_to_result: medianSecondsToResult,
      p95_seconds_to_result: p95SecondsToResult,
    }),
    run_seconds: runSeconds,
    total_tokens: totalTokens,
    inference_cost_usd: costUsd,
  };
}
