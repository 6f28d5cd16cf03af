import { z } from "zod";
import { AppError, plainMessage } from "../../core/basics/errors.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, ReceivedEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { isOwnBranch } from "../../core/work/workspaces/branch-name.ts";
import { threadKeyOf } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import { conclusionOfStatus, isRepairable } from "./commit-checks.ts";
import type { ErrandFiles } from "./errand-file/reader.ts";
import type { BotIdentity } from "./identity.ts";
import { removalOf, removalSchema } from "./merge-queue.ts";
import type { RepositoryNames } from "./repositories.ts";
import type { RepositoryCall, RepositoryRoute } from "./routes.ts";

/** Our own name of the event that one pull request gets of an event about a commit or a branch. No webhook has it. */
export const REPORT_EVENT = "errand_report";
/** The actions on a pull request that change whether it can be merged, or that its card shows. */
export const CHANGED_STATES = [
  "synchronize",
  "closed",
  "reopened",
  "converted_to_draft",
  "ready_for_review",
  "dequeued",
] as const;
const PULLS_MAX = 100;
/** The checks of a commit often end together. */
const COLLECT_MS = 3_000;

const installation = z.object({ id: z.int() });
const repository = z.object({ id: z.int(), full_name: z.string() });
const checkSuiteSchema = z.object({
  installation,
  repository: repository.extend({ html_url: z.string().optional() }),
  check_suite: z.object({
    head_sha: z.string(),
    conclusion: z.string().nullish(),
    app: z.object({ id: z.int() }).nullish(),
    pull_requests: z.array(z.object({ number: z.int() })),
  }),
});
const statusSchema = z.object({ installation, repository, sha: z.string(), state: z.string() });
const pushSchema = z.object({ installation, repository, ref: z.string(), deleted: z.boolean().optional() });
const changedSchema = z.object({
  action: z.enum(CHANGED_STATES),
  installation,
  repository,
  number: z.int(),
});
export const findingsSchema = z.object({
  repository,
  number: z.int(),
  /** The commit whose checks failed. Absent: there may be a merge conflict, or the merge queue removed it. */
  checksOf: z.string().optional(),
  removal: removalSchema.optional(),
  /** The branch of the pull request has new commits. */
  isPush: z.literal(true).optional(),
});
const reportSchema = findingsSchema.extend({ installation, passedIn: z.string().optional() });
export const userAnswer = z.object({ id: z.number() }).nullish();
const pullsAnswer = z.array(
  z.object({ number: z.int(), state: z.string(), html_url: z.string().optional(), user: userAnswer }),
);

type Report = z.infer<typeof reportSchema>;

export interface ReportDeps {
  readonly client: GithubClient;
  readonly identity: BotIdentity;
  readonly files: Pick<ErrandFiles, "read">;
  readonly names: RepositoryNames;
}

export function isChangedState(action: string): boolean {
  return CHANGED_STATES.some((state) => state === action);
}

/** What an event says about pull requests of runs. Undefined: a person wrote something. */
export async function reportsIn(event: InboxEvent, deps: ReportDeps): Promise<Translation | undefined> {
  const payload = parseJson(event.body);
  switch (event.name) {
    case "check_suite":
      return ofCheckSuite(event, payload, deps.client.appId);
    case "status":
      return unlessRefused(ofStatus(event, payload, deps), ignored);
    case "push":
      return unlessRefused(ofPush(event, payload, deps), ignored);
    case REPORT_EVENT:
      return reportOf(read(reportSchema, payload));
    case "pull_request":
      return ofChange(payload);
    default:
      return undefined;
  }
}

/**
 * What GitHub refuses for good concerns nobody who waits: the installation belongs to another program, or the repository
 * is gone.
 */
export async function unlessRefused<Value>(
  reading: Promise<Value>,
  instead: (reason: string) => Value,
): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    const isRefused =
      error instanceof AppError && (error.code === "not_authorized" || error.code === "resource_not_found");
    if (!isRefused || error.retryable) {
      throw error;
    }
    return instead(plainMessage(error));
  }
}

function ignored(reason: string): Translation {
  return { kind: "ignored", reason };
}

export function read<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const { data, error } = schema.safeParse(value);
  if (data === undefined) {
    throw new AppError("invalid_request", "GitHub's event could not be read.", {
      cause: error,
      retryable: false,
    });
  }
  return data;
}

function ofChange(payload: unknown): Translation | undefined {
  const removal = removalOf(payload);
  if (typeof removal === "string") {
    return ignored(removal);
  }
  const { data } = changedSchema.safeParse(payload);
  const isPush = data?.action === "synchronize" ? (true as const) : undefined;
  return data && reportOf({ ...data, removal, isPush });
}

function ofCheckSuite(event: InboxEvent, payload: unknown, appId: number): Translation {
  const { check_suite: suite, installation: at, repository: of } = read(checkSuiteSchema, payload);
  if (suite.app?.id === appId) {
    return ignored("It is Errand's own check.");
  }
  const { full_name, html_url: url, id } = of;
  const hasPassed = url !== undefined && !isRepairable(suite);
  const reports = suite.pull_requests.map(({ number }) => ({
    installation: at,
    repository: { id, full_name },
    number,
    checksOf: suite.head_sha,
    passedIn: hasPassed ? `${url}/pull/${number}` : undefined,
  }));
  return several(event, reports, COLLECT_MS);
}

/** The event of a commit status names the commit alone. */
async function ofStatus(event: InboxEvent, payload: unknown, deps: ReportDeps): Promise<Translation> {
  const { sha, state, ...about } = read(statusSchema, payload);
  const hasPassed = !isRepairable({ conclusion: conclusionOfStatus(state) });
  const pulls = await ownPulls(about, deps, {
    route: "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls",
    parameters: { commit_sha: sha, per_page: PULLS_MAX },
  });
  return several(
    event,
    pulls.map(({ html_url: url, number }) => ({
      ...about,
      number,
      checksOf: sha,
      passedIn: hasPassed ? url : undefined,
    })),
    COLLECT_MS,
  );
}

/** A push changes whether the pull requests into its branch can be merged. GitHub sends no event that says so. */
async function ofPush(event: InboxEvent, payload: unknown, deps: ReportDeps): Promise<Translation> {
  const { deleted, ref, ...about } = read(pushSchema, payload);
  const base = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  if (base === undefined || deleted === true || isOwnBranch(base)) {
    return ignored("No pull request goes into this branch.");
  }
  const pulls = await ownPulls(about, deps, {
    route: "GET /repos/{owner}/{repo}/pulls",
    parameters: { base, state: "open", per_page: PULLS_MAX },
  });
  return several(
    event,
    pulls.map(({ number }) => ({ ...about, number })),
  );
}

/** The open pull requests in a list that this App opened. */
async function ownPulls<R extends RepositoryRoute>(
  about: Pick<Report, "installation" | "repository">,
  { client, identity, names }: ReportDeps,
  call: Omit<RepositoryCall<R, unknown>, "answer">,
): Promise<z.infer<typeof pullsAnswer>> {
  const id = String(about.installation.id);
  const pulls = await names.use(id, about.repository.id, (named) =>
    client.callIn(id, named, { ...call, answer: pullsAnswer }),
  );
  const own: z.infer<typeof pullsAnswer> = [];
  for (const pull of pulls) {
    if (pull.state === "open" && (await identity.isOurs(id, pull))) {
      own.push(pull);
    }
  }
  return own;
}

function several({ deliveryId }: InboxEvent, reports: readonly Report[], collectMs = 0): Translation {
  const events = reports.map((report): ReceivedEvent => {
    const { number, repository: at } = report;
    // Not the ordering key of the pull request: what people write there does not wait for GitHub's answer about a merge.
    const orderingKey = `github:${threadKeyOf({ repositoryId: at.id, number })}/reports`;
    const body = JSON.stringify(report);
    return {
      adapter: "github",
      orderingKey,
      deliveryId: `${deliveryId}/${number}`,
      name: REPORT_EVENT,
      body,
      collectMs,
    };
  });
  return { kind: "several", events };
}

function reportOf({ installation: { id }, passedIn, ...findings }: Report): Translation {
  const key = threadKeyOf({ repositoryId: findings.repository.id, number: findings.number });
  return { kind: "report", report: { adapter: "github", installation: String(id), key, findings, passedIn } };
}
