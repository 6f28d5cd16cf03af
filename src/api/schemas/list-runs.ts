import { z } from "zod";
import { cutText } from "../../core/basics/clean-text.ts";
import { defined } from "../../core/basics/defined.ts";
import { type PrincipalId, parseId, parseRunId } from "../../core/basics/ids.ts";
import { repositoryNamed } from "../../core/model/repositories/repository-address.ts";
import { RUN_SOURCES, type RunSource } from "../../core/model/runs/sources.ts";
import { uniformSkillId } from "../../core/model/skills/skill.ts";
import { RUN_SORTS, type RunFilters, TASK_STATUSES, wordsOf } from "../../core/ports/stores/run-query.ts";
import { clearable } from "./marks.ts";
import { RunItem } from "./run-item.ts";
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

function repeated<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(item));
}

const MetadataFilter = z
  .record(MetadataKey, z.string())
  .refine(
    (pairs) => Object.keys(pairs).length <= METADATA_FILTERS,
    `must have at most ${METADATA_FILTERS} pairs`,
  )
  .meta({ maxProperties: METADATA_FILTERS });

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(RunItem.shape));

/** The names of a text such as `run_id,state`. */
export function fieldsIn(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim());
}

const Fields = z
  .string()
  .superRefine((text, context) => {
    const unknown = fieldsIn(text).filter((name) => !MEMBERS.has(name));
    if (unknown.length > 0) {
      const message = `must be names of members of a run, separated by commas, and not ${cutText(unknown.join(", "), 100)}`;
      context.addIssue({ code: "custom", message });
    }
  })
  .describe("Only these members of a run, separated by commas. Without it, all that the run has.");

const WAIT_MAX = 50;

export const GetRunQuery = z.object({
  wait: numberInQuery(1, 999_999)
    .optional()
    .describe(
      `The response comes when the run has ended or is BLOCKED, after this many seconds at the latest (at most ${WAIT_MAX}). ` +
        "The request counts as an open stream meanwhile.",
    ),
  fields: Fields.optional(),
});

/** The seconds for which the request may wait, by its query or its header `Prefer`. */
export function waitOf(query: number | undefined, prefer: unknown): number | undefined {
  const preferred = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:[,;]|$)/i.exec(String(prefer ?? ""))?.[1];
  const seconds = query ?? Number(preferred ?? 0);
  return seconds === 0 ? undefined : Math.min(seconds, WAIT_MAX);
}

export const ListRunsQuery = z.object({
  fields: Fields.optional(),
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
  state: repeated(RunState).optional().describe("One of these states. Can be repeated."),
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
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      "One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be repeated.",
    ),
  task_status: repeated(z.enum(TASK_STATUSES))
    .optional()
    .describe(
      "One of these states of the run together with the runs below it. `running`: one of them is neither ended nor " +
        "blocked. The others are states of the run at the top. Can be repeated.",
    ),
  created_after: TimeInput.optional().describe("Only runs created after this time (RFC 3339)."),
  created_before: TimeInput.optional().describe("Only runs created before this time (RFC 3339)."),
  updated_after: TimeInput.optional().describe("Only runs changed after this time (RFC 3339)."),
  updated_before: TimeInput.optional().describe("Only runs changed before this time (RFC 3339)."),
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
  repository: z
    .string()
    .optional()
    .describe(
      "A repository in which the run works: its own or one of its environment. `owner/name` or an address, in any case.",
    ),
  schedule_id: z.string().optional().describe("The schedule that started the run."),
  conversation_id: z.string().optional().describe("Only the runs of this conversation."),
  parent_run_id: z.string().optional().describe("Only runs directly below this run."),
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
      "Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored. Or " +
        "the id of a run, or the address of its page.",
    ),
  automation_id: z.string().optional().describe("The same as `metadata[automation_id]`."),
  factory_uid: repeated(z.string())
    .optional()
    .describe(
      "For clients of another server. No run of this one belongs to a factory, so any value matches nothing.",
    ),
  factory_only: z.enum(["true", "false"]).optional().describe("`true` matches nothing, see `factory_uid`."),
});
export type ListRunsQuery = z.output<typeof ListRunsQuery>;

/** Filters of what is changed. A member that is unknown, null or empty would let the filter match more than was meant. */
export const RunFilter = clearable(
  z
    .strictObject(
      ListRunsQuery.omit({ cursor: true, fields: true, limit: true, sort_by: true, sort_order: true }).shape,
    )
    .superRefine((filter, context) => {
      if (Object.keys(filter).length === 0) {
        context.addIssue({ code: "custom", message: "must have at least one member" });
      }
      for (const [name, value] of Object.entries(filter)) {
        if (value === "" || (Array.isArray(value) && value.length === 0)) {
          context.addIssue({ code: "custom", path: [name], message: "must not be empty" });
        }
      }
    })
    .meta({
      id: "RunFilter",
      description:
        "Filters as in the query of `GET /agent/runs`. All must match. An unknown or empty one is refused.",
      examples: [{ state: ["QUEUED"], metadata: { ticket: "OPS-17" } }],
    }),
);
type RunFilter = z.output<typeof RunFilter>;

/** Returns undefined if no run can match a filter. */
export function filtersOf(query: RunFilter): RunFilters | undefined {
  const ids = idsIn(query);
  const name = query.name ?? query.config_name;
  const skill = query.skill ?? query.skill_spec;
  const sources = query.source === undefined ? undefined : [query.source].flat().filter(isSource).toSorted();
  const metadata = metadataIn(query);
  const isOfFactory = query.factory_only === "true" || query.factory_uid !== undefined;
  if (query.execution_location === "LOCAL" || isOfFactory || sources?.length === 0) {
    return undefined;
  }
  // A filter and its alias must both match.
  if ((query.config_name ?? name) !== name || (query.skill_spec ?? skill) !== skill) {
    return undefined;
  }
  const repository = query.repository === undefined ? undefined : repositoryIn(query.repository);
  if (ids === undefined || metadata === undefined || repository === "") {
    return undefined;
  }
  return defined({
    ...ids,
    ...textOf(query.q),
    states: query.state?.toSorted(),
    name,
    modelId: query.model_id,
    sources,
    taskStatuses: query.task_status?.toSorted(),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
    updatedBefore: query.updated_before,
    environmentId: query.environment_id === NO_ENVIRONMENT ? null : query.environment_id,
    skill: skill === undefined ? undefined : uniformSkillId(skill),
    artifactType: query.artifact_type,
    repository,
    metadata: metadata.pairs,
  });
}

/** In lower case. Empty: the text names none. All repositories are on one host. */
function repositoryIn(text: string): string {
  const named = repositoryNamed(text.trim());
  return named === undefined ? "" : `${named.owner}/${named.name}`.toLowerCase();
}

/** Undefined: a filter is no id, so no run has it. */
function idsIn(query: RunFilter) {
  const { ancestor_run_id, conversation_id, creator, executor, parent_run_id, schedule_id } = query;
  const given = [ancestor_run_id, conversation_id, creator, executor, parent_run_id, schedule_id];
  if (given.some((id) => id !== undefined && parseRunId(id) === undefined)) {
    return undefined;
  }
  return {
    creatorId: creator === undefined ? undefined : parseId<PrincipalId>(creator),
    executorId: executor === undefined ? undefined : parseId<PrincipalId>(executor),
    scheduleId: schedule_id?.toLowerCase(),
    conversationId: conversation_id?.toLowerCase(),
    parentId: parent_run_id === undefined ? undefined : parseRunId(parent_run_id),
    ancestorId: ancestor_run_id === undefined ? undefined : parseRunId(ancestor_run_id),
  };
}

/** Undefined: two values are asked for one key. */
function metadataIn({ automation_id: id, metadata }: RunFilter) {
  if (id === undefined) {
    return { pairs: metadata };
  }
  const { automation_id: other = id } = metadata ?? {};
  return other === id ? { pairs: { ...metadata, automation_id: id } } : undefined;
}

/** A whole id, or an address that ends with one. Anything else is words. */
function textOf(q: string | undefined): Pick<RunFilters, "runOrSessionId" | "text"> {
  const last = /^(?:https?:\/\/\S+\/)?([^/\s?#]+)[/?#]?\S*$/.exec(q?.trim() ?? "")?.[1] ?? "";
  const runOrSessionId = parseRunId(last);
  return runOrSessionId === undefined ? defined({ text: q }) : { runOrSessionId };
}

function isSource(text: string): text is RunSource {
  return RUN_SOURCES.some((source) => source === text);
}
