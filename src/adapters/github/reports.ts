import { z } from "zod";
import { AppError, plainMessage } from "../../core/basics/errors.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type {
  InboundMessage,
  InboxEvent,
  Inspection,
  ReceivedEvent,
  Translation,
  WorkReport,
} from "../../core/ports/thread-adapter.ts";
import { isOwnBranch } from "../../core/work/workspaces/branch-name.ts";
import { threadKeyOf } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import { type CommitChecks, conclusionOfStatus, isRepairable, readCommitChecks } from "./commit-checks.ts";
import type { BotIdentity } from "./identity.ts";
import { kindOfRemoval, problemOf, removalOf, removalSchema } from "./merge-queue.ts";
import { readingOf, pullAnswer as shownPullAnswer } from "./pull-request-status.ts";
import type { RepositoryNames } from "./repositories.ts";
import type { RepositoryCall, RepositoryRoute } from "./routes.ts";
import { oneLine } from "./shown-text.ts";

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
/** A check that waits for a person is not about to end. */
const RUNNING: ReadonlySet<string> = new Set(["queued", "in_progress", "pending"]);
const NAMES_MAX = 10;
const NAME_LENGTH = 100;
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
const findingsSchema = z.object({
  repository,
  number: z.int(),
  /** The commit whose checks failed. Absent: there may be a merge conflict, or the merge queue removed it. */
  checksOf: z.string().optional(),
  removal: removalSchema.optional(),
});
const reportSchema = findingsSchema.extend({ installation, passedIn: z.string().optional() });
const userAnswer = z.object({ id: z.number() }).nullish();
const pullsAnswer = z.array(
  z.object({ number: z.int(), state: z.string(), html_url: z.string().optional(), user: userAnswer }),
);
const pullAnswer = shownPullAnswer.extend({
  user: userAnswer,
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().optional(),
});
const requesterSchema = z.object({ id: z.number(), login: z.string() });

type Report = z.infer<typeof reportSchema>;
type Findings = z.infer<typeof findingsSchema>;
type Pull = z.infer<typeof pullAnswer>;

export interface ReportDeps {
  readonly client: GithubClient;
  readonly identity: BotIdentity;
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
      return ofCheckSuite(event, payload);
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
async function unlessRefused<Value>(
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

function read<Value>(schema: z.ZodType<Value>, value: unknown): Value {
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
  return data && reportOf({ ...data, removal });
}

function ofCheckSuite(event: InboxEvent, payload: unknown): Translation {
  const { check_suite: suite, installation: at, repository: of } = read(checkSuiteSchema, payload);
  const { full_name, html_url: url, id } = of;
  const hasPassed = url !== undefined && !isRepairable(suite);
  const reports = suite.pull_requests.map(({ number }) => ({
    ...{ installation: at, repository: { id, full_name }, number, checksOf: suite.head_sha },
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
      ...{ ...about, number, checksOf: sha },
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

/**
 * Asks GitHub what is true now, because an event may be old. A pull request that another account opened is that
 * account's, also if a run works in it.
 */
export function inspect(
  report: WorkReport,
  run: Pick<Run, "provenance">,
  deps: ReportDeps,
): Promise<Inspection> {
  return unlessRefused<Inspection>(inspectNow(report, run, deps), (found) => ({ found }));
}

/** One reading of the pull request and its checks serves the card and the decision. */
async function inspectNow(
  report: WorkReport,
  { provenance: { actor, integration } }: Pick<Run, "provenance">,
  deps: ReportDeps,
): Promise<Inspection> {
  const findings = read(findingsSchema, report.findings);
  const pull = await findPull(report, findings, deps);
  const requester = integration === "github" ? requesterSchema.safeParse(actor).data : undefined;
  const refusal = requester === undefined ? NO_REQUESTER : await refusalOf(pull, report, deps);
  const { checksOf } = findings;
  // While GitHub does not know whether there is a conflict, nothing else is read.
  const problem = refusal === undefined && checksOf === undefined ? problemIn(pull, findings) : undefined;
  const checks = await readChecks(report, { ...deps, findings, pull });
  const status = readingOf(pull, checks.checks);
  if (requester === undefined || refusal !== undefined) {
    return { found: refusal ?? NO_REQUESTER, status };
  }
  const found = problem ?? failuresIn(checks, checksOf === pull.head.sha);
  const isNothing = "reason" in found;
  return {
    found: isNothing ? found.reason : messageOf(report, { findings, pull, requester, ...found }),
    status,
  };
}

const NO_REQUESTER = "The run was not asked for on GitHub, so nobody's permission can be checked.";

async function refusalOf(
  pull: Pull,
  report: WorkReport,
  { identity }: ReportDeps,
): Promise<string | undefined> {
  if (pull.state !== "open") {
    return "The pull request is closed.";
  }
  return (await identity.isOurs(report.installation, pull)) ? undefined : "No run opened the pull request.";
}

type Found = { readonly reason: string } | { readonly text: string };

function problemIn({ base, head, mergeable, mergeable_state: state }: Pull, { removal }: Findings): Found {
  if (removal !== undefined) {
    return problemOf(removal, { base, head });
  }
  if (mergeable === null || mergeable === undefined || state === "unknown") {
    throw new AppError("resource_unavailable", "GitHub is still finding out whether it can be merged.", {
      retryable: true,
    });
  }
  return mergeable || state !== "dirty"
    ? { reason: "The pull request has no merge conflict." }
    : {
        text: `The pull request has a merge conflict with ${oneLine(base.ref, NAME_LENGTH)}. Merge that branch and resolve it.`,
      };
}

function readChecks(
  { installation: id }: WorkReport,
  {
    client,
    findings,
    names,
    pull,
  }: ReportDeps & { readonly findings: Omit<Report, "installation">; readonly pull: Pull },
): Promise<CommitChecks> {
  return names.use(id, findings.repository.id, (named) =>
    readCommitChecks((call) => client.callIn(id, named, call), pull.head.sha),
  );
}

/** All checks of a commit are one request, which waits for the last of them. */
function failuresIn({ checks, unread }: CommitChecks, isNewest: boolean): Found {
  if (!isNewest) {
    return { reason: "The checks are those of an earlier commit." };
  }
  if (checks.some(({ status }) => RUNNING.has(status))) {
    return { reason: "Other checks of the commit still run." };
  }
  const failed = checks.filter(isRepairable);
  if (failed.length === 0) {
    return { reason: unread.length === 0 ? "No check fails." : unread.join(" ") };
  }
  const list = failed.slice(0, NAMES_MAX).map(({ name }) => oneLine(name, NAME_LENGTH));
  const rest = failed.length > NAMES_MAX ? ` and ${failed.length - NAMES_MAX} more` : "";
  return { text: `These checks fail: ${list.join(", ")}${rest}. Find out why and repair it.` };
}

function messageOf(
  { findings: _, ...address }: WorkReport,
  about: {
    readonly findings: Omit<Report, "installation">;
    readonly pull: Pull;
    readonly requester: z.infer<typeof requesterSchema>;
    readonly text: string;
  },
): InboundMessage {
  const { findings, pull, requester, text } = about;
  const { checksOf, number, removal, repository: at } = findings;
  const ofCommit = checksOf === undefined ? "merge_conflict" : "failing_checks";
  const kind = removal === undefined ? ofCommit : kindOfRemoval(removal);
  // The checks of the queue can fail after those of the commit were repaired without a new one.
  const problem = removal !== undefined && kind === "failing_checks" ? "merge_queue" : kind;
  return {
    ...address,
    dedupeKey: ["github", address.installation, problem, at.id, number, pull.head.sha].join(":"),
    addressed: "mention",
    requestKind: kind,
    author: { subject: `github:${requester.id}`, displayName: requester.login },
    text,
    messageRef: "",
    permalink: pull.html_url,
    place: at.full_name,
    provenance: {
      integration: "github",
      installation: Number(address.installation),
      repository: at,
      actor: requester,
      commit: pull.head.sha,
      object: { kind, action: "reported", in: "pull_request", number },
    },
  };
}

function findPull(
  { installation: id }: WorkReport,
  { number, repository: at }: Omit<Report, "installation">,
  deps: ReportDeps,
) {
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  return deps.names.use(id, at.id, (named) =>
    deps.client.callIn(id, named, { route, parameters: { pull_number: number }, answer: pullAnswer }),
  );
}
