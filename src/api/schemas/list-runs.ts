import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { type PrincipalId, parseId, parseRunId } from "../../core/basics/ids.ts";
import { RUN_SOURCES, type RunSource } from "../../core/model/runs/sources.ts";
import { uniformSkillId } from "../../core/model/skills/skill.ts";
import { RUN_SORTS, type RunFilters, wordsOf } from "../../core/ports/stores/run-query.ts";
import { MetadataKey, RunState } from "./run-requests.ts";
import { TimeInput } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 20;
const METADATA_FILTERS = 5;
const WORDS = 32;
const NO_ENVIRONMENT = "empty-environment";

/** Reads a number such as `?limit=20`. Only digits are accepted, so that `1e2` and repeated parameters are errors. */
export function numberInQuery(min: number, max: number): z.ZodType<number> {
  return z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int().min(min).max(max),
  );
}

/** The size of a page. The schema library documents a default of a preprocessed value only with `prefault`. */
export function limitInQuery(max: number, byDefault: number): z.ZodPrefault<z.ZodType<number>> {
  return numberInQuery(1, max).prefault(byDefault);
}

const States = z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(RunState));
const MetadataFilter = z
  .record(MetadataKey, z.string())
  .refine(
    (pairs) => Object.keys(pairs).length <= METADATA_FILTERS,
    `must have at most ${METADATA_FILTERS} pairs`,
  )
  .meta({ maxProperties: METADATA_FILTERS });

export const ListRunsQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe(
    "The maximum number of runs per page. A page is shorter if its runs are long (4 MiB).",
  ),
  cursor: z
    .string()
    .optional()
    .describe("`next_cursor` of the previous page. Requires the same sort and the same filters."),
  sort_by: z.enum(RUN_SORTS).default("updated_at").describe("The member by which the runs are sorted."),
  sort_order: z
    .enum(["desc", "asc"])
    .default("desc")
    .describe("Descending (the newest first) or ascending order."),
  state: States.optional().describe("One of these states. Can be repeated."),
  name: z.string().optional().describe("The name of the run's configuration."),
  config_name: z.string().optional().describe("An alias of `name`."),
  model_id: z.string().optional().describe("The model of the run's configuration."),
  creator: z.string().optional().describe("The uid of the principal that started the run."),
  executor: z
    .string()
    .optional()
    .describe(
      "The uid of the principal that executes the run: its creator, unless the run names another one.",
    ),
  source: z
    .string()
    .optional()
    .describe("The source of the run, a value of `RunSourceType`. Any other value matches nothing."),
  created_after: TimeInput.optional().describe("Only runs created after this time (RFC 3339)."),
  created_before: TimeInput.optional().describe("Only runs created before this time (RFC 3339)."),
  updated_after: TimeInput.optional().describe("Only runs changed after this time (RFC 3339)."),
  environment_id: z
    .string()
    .optional()
    .describe(`The environment of the run. \`${NO_ENVIRONMENT}\`: runs without an environment.`),
  skill: z
    .string()
    .optional()
    .describe(
      "The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in `agent_config` " +
        "and of the ids in `GET /agent`. A skill's name, or a repository without its owner, matches nothing.",
    ),
  skill_spec: z.string().optional().describe("An alias of `skill`."),
  schedule_id: z.string().optional().describe("The schedule that started the run."),
  ancestor_run_id: z.string().optional().describe("Only runs below this run, at any depth."),
  artifact_type: z.string().optional().describe("Only runs that produced an artifact of this type."),
  execution_location: z
    .enum(["LOCAL", "REMOTE"])
    .optional()
    .describe(
      "Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL` matches none.",
    ),
  metadata: MetadataFilter.optional().describe(
    `\`metadata[key]=value\`: all of these pairs, at most ${METADATA_FILTERS}.`,
  ),
  q: z
    .string()
    .refine((text) => wordsOf(text).length <= WORDS, `must have at most ${WORDS} words`)
    .optional()
    .describe(
      "Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored.",
    ),
});
export type ListRunsQuery = z.output<typeof ListRunsQuery>;

/** Returns undefined if no run can match a filter. */
export function filtersOf(query: ListRunsQuery): RunFilters | undefined {
  const { creator, executor, schedule_id, ancestor_run_id, source } = query;
  const name = query.name ?? query.config_name;
  const skill = query.skill ?? query.skill_spec;
  if (query.execution_location === "LOCAL" || (source !== undefined && !isSource(source))) {
    return undefined;
  }
  // A filter and its alias must both match.
  if ((query.config_name ?? name) !== name || (query.skill_spec ?? skill) !== skill) {
    return undefined;
  }
  const ids = [creator, executor, schedule_id, ancestor_run_id].filter((id) => id !== undefined);
  if (ids.some((id) => parseRunId(id) === undefined)) {
    return undefined;
  }
  return defined({
    states: query.state?.toSorted(),
    name,
    modelId: query.model_id,
    creatorId: creator === undefined ? undefined : parseId<PrincipalId>(creator),
    executorId: executor === undefined ? undefined : parseId<PrincipalId>(executor),
    source,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
    environmentId: query.environment_id === NO_ENVIRONMENT ? null : query.environment_id,
    skill: skill === undefined ? undefined : uniformSkillId(skill),
    scheduleId: schedule_id?.toLowerCase(),
    ancestorId: ancestor_run_id === undefined ? undefined : parseRunId(ancestor_run_id),
    artifactType: query.artifact_type,
    metadata: query.metadata,
    text: query.q,
  });
}

function isSource(text: string): text is RunSource {
  return RUN_SOURCES.some((source) => source === text);
}
