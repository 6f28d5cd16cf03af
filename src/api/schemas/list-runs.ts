import { z } from "zod";
import { invalidMember } from "../../core/errors.ts";
import { type PrincipalId, parseRunId } from "../../core/ids.ts";
import { RUN_SORTS, type RunFilters, wordsOf } from "../../core/runs/run-query.ts";
import { uniformSkillId } from "../../core/skills/skill.ts";
import { RunSourceType } from "./run-item.ts";
import { MetadataKey, RunState } from "./run-requests.ts";
import { GivenTime } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 20;
const METADATA_FILTERS = 5;
const WORDS = 32;
const NO_ENVIRONMENT = "empty-environment";

/** `?limit=20`: digits and nothing else, so that neither `1e2` nor a repeated parameter passes for a number. */
export function numberInQuery(min: number, max: number): z.ZodType<number> {
  return z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int().min(min).max(max),
  );
}

/** How many there are a page. Of a default over what is read from text the schema library tells nothing, of this it does. */
export function limitInQuery(max: number, byDefault: number): z.ZodPrefault<z.ZodType<number>> {
  return numberInQuery(1, max).prefault(byDefault);
}

const States = z.preprocess((given) => (typeof given === "string" ? [given] : given), z.array(RunState));
const MetadataFilter = z
  .record(MetadataKey, z.string())
  .refine(
    (pairs) => Object.keys(pairs).length <= METADATA_FILTERS,
    `must have at most ${METADATA_FILTERS} pairs`,
  )
  .meta({ maxProperties: METADATA_FILTERS });

export const ListRunsQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe("Runs a page."),
  cursor: z
    .string()
    .optional()
    .describe("Where the previous page ended; only with the same sort and filters."),
  sort_by: z.enum(RUN_SORTS).default("updated_at").describe("By what they are sorted."),
  sort_order: z
    .enum(["desc", "asc"])
    .default("desc")
    .describe("Newest or last of the alphabet first, or not."),
  state: States.optional().describe("Repeatable: any of these."),
  name: z.string().optional().describe("The configuration's name."),
  config_name: z.string().optional().describe("Another name of `name`."),
  model_id: z.string().optional().describe("The configuration's model."),
  creator: z.string().optional().describe("A principal's uid."),
  source: RunSourceType.optional().describe("Where the run came from."),
  created_after: GivenTime.optional().describe("RFC 3339; that very moment is left out."),
  created_before: GivenTime.optional().describe("RFC 3339; that very moment is left out."),
  updated_after: GivenTime.optional().describe("RFC 3339; that very moment is left out."),
  environment_id: z.string().optional().describe(`\`${NO_ENVIRONMENT}\`: runs with none.`),
  skill: z
    .string()
    .optional()
    .describe(
      "The skill that the run was started from: `owner/repo:path/to/SKILL.md`, as `skill_spec` of its `agent_config` and " +
        "the `id`s of `GET /agent` have it. A skill's name, or a repository without its owner, finds nothing.",
    ),
  skill_spec: z.string().optional().describe("Another name of `skill`."),
  schedule_id: z.string().optional().describe("The schedule that started the run."),
  ancestor_run_id: z.string().optional().describe("Runs below this one, at any depth."),
  artifact_type: z.string().optional().describe("Runs that made one of this type."),
  execution_location: z
    .enum(["LOCAL", "REMOTE"])
    .optional()
    .describe("Where the run was done. All are done by workers: `REMOTE` finds each, `LOCAL` none."),
  metadata: MetadataFilter.optional().describe(
    `\`metadata[key]=value\`: all of these, at most ${METADATA_FILTERS}.`,
  ),
  q: z
    .string()
    .refine((text) => wordsOf(text).length <= WORDS, `must have at most ${WORDS} words`)
    .optional()
    .describe("Words, or parts of words, that all are in title, prompt or skill, in upper or lower case."),
});
export type ListRunsQuery = z.output<typeof ListRunsQuery>;

/** The schema library steps over a member of this name, so that the filter would be left out. */
const STEPPED_OVER = "__proto__";

/** `metadata[key]=value` as one member of pairs, the way the schema reads it. */
export function nestMetadata(query: object): unknown {
  const members: [string, unknown][] = [];
  const pairs: [string, unknown][] = [];
  for (const [name, value] of Object.entries(query)) {
    const key = /^metadata\[(.*)\]$/s.exec(name)?.[1];
    if (key === STEPPED_OVER) throw invalidMember(`metadata.${key}`, `name must not be ${key}`);
    if (key === undefined) members.push([name, value]);
    else pairs.push([key, value]);
  }
  if (pairs.length > 0) members.push(["metadata", Object.fromEntries(pairs)]);
  return Object.fromEntries(members);
}

/** undefined: a filter asks for what no run can have, so there is nothing to look for. */
export function filtersOf(query: ListRunsQuery): RunFilters | undefined {
  const { creator, schedule_id, ancestor_run_id } = query;
  const skill = query.skill ?? query.skill_spec;
  if (query.execution_location === "LOCAL") return undefined;
  const ids = [creator, schedule_id, ancestor_run_id].filter((id) => id !== undefined);
  if (ids.some((id) => parseRunId(id) === undefined)) return undefined;
  return withoutUndefined({
    states: query.state?.toSorted(),
    name: query.name ?? query.config_name,
    modelId: query.model_id,
    creatorId: creator?.toLowerCase() as PrincipalId | undefined,
    source: query.source,
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

function withoutUndefined<T extends object>(members: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const given = Object.entries(members).filter(([, member]) => member !== undefined);
  return Object.fromEntries(given) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
