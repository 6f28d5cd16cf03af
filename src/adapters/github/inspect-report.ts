import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import { isReview } from "../../core/model/runs/review.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { InboundMessage, Inspection, WorkReport } from "../../core/ports/thread-adapter.ts";
import { type CommitChecks, isRepairable, readCommitChecks } from "./commit-checks.ts";
import { kindOfRemoval, problemOf } from "./merge-queue.ts";
import { readingOf, pullAnswer as shownPullAnswer } from "./pull-request-status.ts";
import { isGreenDraft, readyReading } from "./ready-when-green.ts";
import { findingsSchema, type ReportDeps, read, unlessRefused, userAnswer } from "./reports.ts";
import { reviewAgain } from "./review/new-commits.ts";
import { oneLine } from "./shown-text.ts";

/** A check that waits for a person is not about to end. */
const RUNNING: ReadonlySet<string> = new Set(["queued", "in_progress", "pending"]);
const NAMES_MAX = 10;
const NAME_LENGTH = 100;

const pullAnswer = shownPullAnswer.extend({
  node_id: z.string().optional(),
  user: userAnswer,
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().optional(),
});
const requesterSchema = z.object({ id: z.number(), login: z.string() });

type Findings = z.infer<typeof findingsSchema>;
type Pull = z.infer<typeof pullAnswer>;
type ReportedRun = Pick<Run, "provenance" | "pullRequestStatus">;

/**
 * Asks GitHub what is true now, because an event may be old. A pull request that another account opened is that
 * account's, also if a run works in it.
 */
export function inspect(report: WorkReport, run: ReportedRun, deps: ReportDeps): Promise<Inspection> {
  const inspected = isReview(run)
    ? reviewAgain(report, run, deps).then((found) => ({ found }))
    : inspectNow(report, run, deps);
  return unlessRefused<Inspection>(inspected, (found) => ({ found }));
}

/** One reading of the pull request and its checks serves the card and the decision. */
async function inspectNow(
  report: WorkReport,
  { provenance: { actor, integration }, pullRequestStatus: known }: ReportedRun,
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
  const reading = readingOf(pull, checks.checks);
  const isGreen = known?.awaitsChecks === true && isGreenDraft(reading, checks);
  const at = { installation: report.installation, id: findings.repository.id };
  const status = isGreen ? await readyReading({ ...reading, nodeId: pull.node_id }, at, deps) : reading;
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
  { client, findings, names, pull }: ReportDeps & { readonly findings: Findings; readonly pull: Pull },
): Promise<CommitChecks> {
  return names.use(id, findings.repository.id, (named) =>
    readCommitChecks((call) => client.callIn(id, named, call), pull.head.sha, client.appId),
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
    readonly findings: Findings;
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

function findPull({ installation: id }: WorkReport, { number, repository: at }: Findings, deps: ReportDeps) {
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  return deps.names.use(id, at.id, (named) =>
    deps.client.callIn(id, named, { route, parameters: { pull_number: number }, answer: pullAnswer }),
  );
}
