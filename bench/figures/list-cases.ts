import { randomUUID } from "node:crypto";

/** One kind of list: query parameters that match some runs, and parameters that match none. */
export interface ListCase {
  readonly name: string;
  readonly finds: string;
  readonly findsNothing?: string;
  /** A second way to ask for the same thing. Pairs leave it out. */
  readonly isSecond?: true;
}

const DAY_MS = 24 * 3_600_000;
const NOBODY = randomUUID();

/** Ids that exist in a table. */
export interface KnownIds {
  readonly creator: string;
  readonly parent: string;
  readonly schedule: string;
}

export function listCases(ids: KnownIds): readonly ListCase[] {
  const alone = filtersOf(ids);
  return [{ name: "no filter", finds: "" }, ...alone, ...pairsOf(alone), neverBoth(ids)];
}

function filtersOf({ creator, parent, schedule }: KnownIds): readonly ListCase[] {
  return [
    { name: "state", finds: "state=ERROR" },
    {
      name: "two rare states",
      finds: "state=BLOCKED&state=INPROGRESS",
      findsNothing: "state=PENDING",
      isSecond: true,
    },
    { name: "name", finds: "name=config-7", findsNothing: "name=nobody" },
    { name: "model_id", finds: "model_id=model-3", findsNothing: "model_id=nobody" },
    { name: "creator", finds: `creator=${creator}`, findsNothing: `creator=${NOBODY}` },
    { name: "executor", finds: `executor=${creator}`, findsNothing: `executor=${NOBODY}`, isSecond: true },
    { name: "source", finds: "source=API", findsNothing: "source=JIRA" },
    { name: "rare source", finds: "source=LINEAR", isSecond: true },
    {
      name: "created_after",
      finds: `created_after=${daysAgo(10)}`,
      findsNothing: `created_after=${daysAgo(-1)}`,
    },
    {
      name: "created_before",
      finds: `created_before=${daysAgo(60)}`,
      findsNothing: `created_before=${daysAgo(999)}`,
    },
    {
      name: "updated_after",
      finds: `updated_after=${daysAgo(10)}`,
      findsNothing: `updated_after=${daysAgo(-1)}`,
    },
    {
      name: "environment_id",
      finds: `environment_id=${"environment7".padStart(22, "0")}`,
      findsNothing: "environment_id=nobody",
    },
    { name: "no environment", finds: "environment_id=empty-environment", isSecond: true },
    {
      name: "skill",
      finds: `skill=${encodeURIComponent("acme/skills:skill-7/SKILL.md")}`,
      findsNothing: "skill=nobody",
    },
    { name: "schedule_id", finds: `schedule_id=${schedule}`, findsNothing: `schedule_id=${NOBODY}` },
    {
      name: "ancestor_run_id",
      finds: `ancestor_run_id=${parent}`,
      findsNothing: `ancestor_run_id=${NOBODY}`,
    },
    { name: "artifact_type", finds: "artifact_type=PLAN", findsNothing: "artifact_type=SCREENSHOT" },
    { name: "frequent artifact_type", finds: "artifact_type=PULL_REQUEST", isSecond: true },
    { name: "metadata", finds: "metadata%5Bticket%5D=E-1234", findsNothing: "metadata%5Bticket%5D=nobody" },
    { name: "frequent metadata", finds: "metadata%5Bsquad%5D=s3" },
    { name: "q", finds: "q=zeppelin", findsNothing: "q=nobody-has-this" },
    { name: "frequent q", finds: "q=import" },
  ];
}

/** Each filter combined with each other filter. */
function pairsOf(filters: readonly ListCase[]): readonly ListCase[] {
  const paired = filters.filter(({ isSecond }) => isSecond !== true);
  return paired.flatMap((one, index) =>
    paired
      .slice(index + 1)
      .filter((other) => parameterOf(one) !== parameterOf(other))
      .map((other) => ({
        name: `${one.name} + ${other.name}`,
        finds: `${one.finds}&${other.finds}`,
      })),
  );
}

function parameterOf({ finds }: ListCase): string | undefined {
  return finds.split("=", 1)[0];
}

/** No run matches because no run has both values. That is harder to detect than a value that does not exist. */
function neverBoth({ schedule }: KnownIds): ListCase {
  const ofSchedule = `schedule_id=${schedule}`;
  return {
    name: "schedule_id + its source",
    finds: `${ofSchedule}&source=SCHEDULED_AGENT`,
    findsNothing: `${ofSchedule}&source=SLACK`,
  };
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
