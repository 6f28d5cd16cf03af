import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { RunEvent } from "../../core/model/runs/events.ts";
import type { Run } from "../../core/model/runs/run.ts";
import { eventPages } from "../../core/runs/event-pages.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";

const EXAMPLE = {
  available: true,
  conversation_id: "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c",
  run_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e",
  age_seconds: 12,
  usage: {
    harness: "CLAUDE_CODE",
    capturedAt: "2026-03-01T09:04:31.250Z",
    captureSequence: 1,
    executionId: 1,
    metricsVersion: 1,
    snapshot: {
      coverage: { tokenStatus: "known", toolStatus: "unavailable" },
      payload: { usage: { input_tokens: 18_211, output_tokens: 902 } },
    },
  },
};

const HarnessUsageResponse = z
  .object({
    available: z.boolean().describe("Whether there is `usage`."),
    conversation_id: z.string().describe("The conversation of the run."),
    run_id: z.uuid().describe("The run's id."),
    age_seconds: z.int().optional().describe("The age of `usage`."),
    usage: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("The sum over the finished turns. Its members have the names of the public client."),
  })
  .meta({
    id: "HarnessUsage",
    description: "The tokens that the program of the agent reported.",
    examples: [EXAMPLE],
  });

const GET = {
  operationId: "getRunHarnessUsage",
  summary: "Get the tokens that Claude Code or Codex reported",
  description:
    "The sum over the finished turns, in the form of the public client. Not available for other agents, and before an " +
    "agent has reported any.",
  tags: ["runs"],
  params: RunParams,
  response: { 200: HarnessUsageResponse, ...problems(401, 404, 503) },
};

/** As the public client reads it. */
interface Usage {
  readonly capturedAt: string;
  readonly [member: string]: unknown;
}
type TurnEnd = Extract<RunEvent["body"], { readonly kind: "turn.ended" }>;

export function harnessUsageRoutes({ clock, runs }: Pick<ApiDeps, "clock" | "runs">): FastifyPluginAsyncZod {
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    app.get("/agent/runs/:runId/harness-usage", { schema: GET, config }, async (request) => {
      const run = await runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const usage = await usageOf(runs, run);
      const ageMs = usage && clock.now().getTime() - Date.parse(usage.capturedAt);
      return defined({
        available: usage !== undefined,
        conversation_id: run.conversationId,
        run_id: run.id,
        age_seconds: ageMs === undefined ? undefined : Math.max(0, Math.round(ageMs / 1_000)),
        usage,
      });
    });
  };
}

async function usageOf(runs: ApiDeps["runs"], run: Run): Promise<Usage | undefined> {
  if (run.agent !== "claude" && run.agent !== "codex") {
    return undefined;
  }
  const ends = await turnEndsOf(runs, run);
  const reported = ends.flatMap(({ body }) => body.usage ?? []);
  const last = ends.at(-1);
  if (last === undefined || reported.length === 0) {
    return undefined;
  }
  const sum = (member: keyof (typeof reported)[number]) =>
    reported.reduce((total, usage) => total + usage[member], 0);
  const isClaude = run.agent === "claude";
  const tokens = { input_tokens: sum("inputTokens"), output_tokens: sum("outputTokens") };
  const tokenStatus = reported.length === ends.length ? "known" : "partial";
  return {
    harness: isClaude ? "CLAUDE_CODE" : "CODEX",
    capturedAt: last.at.toISOString(),
    captureSequence: ends.length,
    executionId: run.attempt,
    metricsVersion: 1,
    snapshot: {
      coverage: { tokenStatus, toolStatus: "unavailable" },
      payload: { usage: isClaude ? tokens : { ...tokens, total_tokens: sum("totalTokens") } },
    },
  };
}

async function turnEndsOf(runs: ApiDeps["runs"], run: Run): Promise<{ at: Date; body: TurnEnd }[]> {
  const ends: { at: Date; body: TurnEnd }[] = [];
  for await (const page of eventPages(runs, { ...run, kinds: ["turn.ended"] })) {
    for (const { at, body } of page) {
      if (body.kind === "turn.ended") {
        ends.push({ at, body });
      }
    }
  }
  return ends;
}
