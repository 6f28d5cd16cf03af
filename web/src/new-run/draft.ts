import type { AmbientAgentConfig, RunAgentRequest, RunItem } from "@errand/client";
import { issuesOf, problemAtOf } from "../edit/issues.ts";
import { type Attachment, membersOf } from "../parts/attachments.ts";

/** What the user has chosen. Texts are as typed; an empty one means the default of the team. */
export interface Draft {
  readonly prompt: string;
  /** The uid of an environment, or `IN_REPOSITORY`. */
  readonly place: string;
  readonly repository: string;
  readonly ref: string;
  readonly agent: string;
  readonly model: string;
  readonly asksFirst: boolean;
  readonly plansFirst: boolean;
  readonly pullRequest: boolean;
  readonly priority: "" | NonNullable<AmbientAgentConfig["priority"]>;
  readonly maxCost: string;
  readonly maxMinutes: string;
  readonly maxTurns: string;
}

/** What is wrong with a draft, by its member. The first one gets the focus. */
export type DraftProblems = Partial<Record<keyof Draft, string>>;

export const IN_REPOSITORY = "repository";

const EMPTY: Draft = {
  prompt: "",
  place: "",
  repository: "",
  ref: "",
  agent: "",
  model: "",
  asksFirst: false,
  plansFirst: false,
  pullRequest: true,
  priority: "",
  maxCost: "",
  maxMinutes: "",
  maxTurns: "",
};

/** A draft with the choices of an earlier run, or an empty one. */
export function draftOf(run: RunItem | undefined): Draft {
  if (run === undefined) {
    return EMPTY;
  }
  const { agent_config: config = {}, prompt } = run;
  const { budget = {} } = config;
  return {
    ...EMPTY,
    prompt,
    place: config.environment_id ?? (config.repository === undefined ? "" : IN_REPOSITORY),
    repository: config.repository ?? "",
    ref: config.ref ?? "",
    agent: config.harness?.type ?? "",
    model: config.model_id ?? "",
    asksFirst: config.permission_policy === "ask",
    pullRequest: config.pull_request !== "off",
    priority: config.priority ?? "",
    maxCost: budget.max_cost_usd?.toString() ?? "",
    maxMinutes: budget.max_minutes?.toString() ?? "",
    maxTurns: budget.max_turns?.toString() ?? "",
  };
}

const OWNER_AND_NAME = /^[\w.-]+\/[\w.-]+$/;

export function problemsOf(draft: Draft): DraftProblems {
  const isNumber = (text: string) => text === "" || Number(text) > 0;
  return {
    ...(draft.prompt.trim() === "" ? { prompt: "Say what the agent should do." } : {}),
    ...(draft.place === IN_REPOSITORY && !OWNER_AND_NAME.test(draft.repository.trim())
      ? { repository: "Write the owner and the name, like acme/web." }
      : {}),
    ...(isNumber(draft.maxCost) ? {} : { maxCost: "Use a number above 0, or leave it empty." }),
    ...(isNumber(draft.maxMinutes) ? {} : { maxMinutes: "Use a number above 0, or leave it empty." }),
    ...(isNumber(draft.maxTurns) ? {} : { maxTurns: "Use 1 or more, or leave it empty." }),
  };
}

/** The request that starts the run. Members at their default are left out. */
export function requestOf(draft: Draft, files: readonly Attachment[]): RunAgentRequest {
  const budget = {
    ...(draft.maxCost === "" ? {} : { max_cost_usd: Number(draft.maxCost) }),
    ...(draft.maxMinutes === "" ? {} : { max_minutes: Number(draft.maxMinutes) }),
    ...(draft.maxTurns === "" ? {} : { max_turns: Number(draft.maxTurns) }),
  };
  const inRepository = draft.place === IN_REPOSITORY;
  const config: AmbientAgentConfig = {
    ...(draft.place === "" || inRepository ? {} : { environment_id: draft.place }),
    ...(inRepository ? { repository: draft.repository.trim() } : {}),
    ...(inRepository && draft.ref.trim() !== "" ? { ref: draft.ref.trim() } : {}),
    ...(draft.agent === "" ? {} : { harness: { type: draft.agent } }),
    ...(draft.model === "" ? {} : { model_id: draft.model }),
    ...(draft.asksFirst ? { permission_policy: "ask" as const } : {}),
    ...(draft.pullRequest ? {} : { pull_request: "off" as const }),
    ...(draft.priority === "" ? {} : { priority: draft.priority }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
  return {
    prompt: draft.prompt,
    interactive: true,
    ...(draft.plansFirst ? { mode: "plan" as const } : {}),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...membersOf(files),
  };
}

/** The members of the request, with the member of the draft that they come from. */
const MEMBERS: readonly (readonly [path: string, member: keyof Draft])[] = [
  ["prompt", "prompt"],
  ["config.environment_id", "place"],
  ["config.repository", "repository"],
  ["config.ref", "ref"],
  ["config.harness", "agent"],
  ["config.model_id", "model"],
  ["config.priority", "priority"],
  ["config.budget.max_cost_usd", "maxCost"],
  ["config.budget.max_minutes", "maxMinutes"],
  ["config.budget.max_turns", "maxTurns"],
];

/** What the server finds wrong with the request. */
export function refusalsOf(error: unknown): DraftProblems {
  const problemAt = problemAtOf(issuesOf(error));
  return Object.fromEntries(
    MEMBERS.flatMap(([path, member]) => {
      const problem = problemAt(path);
      return problem === undefined ? [] : [[member, problem]];
    }),
  );
}
