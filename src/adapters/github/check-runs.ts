import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import { isEnded } from "../../core/model/runs/states.ts";
import type { RunCheck } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { PAUSED, STATE_WORDS, UNAPPROVED } from "../card-words.ts";
import { parseReceipt, parseThreadKey, type Shown } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import { defuse } from "./defuse.ts";
import type { RepositoryNames } from "./repositories.ts";
import type { CallRepository } from "./routes.ts";

const CHECK_NAME = "Errand";
const SUMMARY_LENGTH = 4_000;
/** What GitHub will not accept later either: the permission, the pull request or its commit is gone. */
const FINAL: ReadonlySet<string> = new Set(["not_authorized", "resource_not_found", "invalid_request"]);

/** GitHub allows 20 characters for a label and an identifier, and 40 for a description. */
const STOP = { label: "Stop", description: "Stop the run", identifier: "stop" };
const FIX = { label: "Fix", description: "Repair the failing checks", identifier: "fix" };

const idAnswer = z.object({ id: z.number() });
const pullAnswer = z.object({ head: z.object({ sha: z.string() }) });
const checksAnswer = z.object({
  check_runs: z.array(idAnswer.extend({ external_id: z.string().nullish() })),
});

type ShownCheck = Shown & { readonly kind: "check" };
/** Nothing is shown, and the next check is a new one. */
const NOTHING: ShownCheck = { kind: "check", id: 0 };

export interface CheckRunDeps {
  readonly client: GithubClient;
  readonly names: RepositoryNames;
}

/** Whether the App may write checks there. Undefined: no token has said it yet. */
export function mayWriteChecks(client: GithubClient, installation: string): boolean | undefined {
  const permissions = client.knownPermissions(installation);
  return permissions && permissions.checks === "write";
}

/**
 * Shows what a run does as a check of the newest commit of a pull request. The permission is optional: without it, nothing is
 * asked of GitHub. A check of a former commit ends there.
 */
export async function showCheck(
  delivery: Pick<Delivery, "maybeShown" | "shownAt" | "thread">,
  check: RunCheck,
  { client, names }: CheckRunDeps,
): Promise<Shown> {
  const { installation, key } = delivery.thread;
  const { number, repositoryId } = parseThreadKey(key);
  if ((await client.permissionsOf(installation)).checks !== "write") {
    return NOTHING;
  }
  try {
    return await names.use(installation, repositoryId, (repository) => {
      const call: CallRepository = (request) => client.callIn(installation, repository, request);
      const externalId = externalIdOf({ runId: check.runId, number });
      return write(delivery, check, { appId: client.appId, call, externalId, number });
    });
  } catch (error) {
    if (error instanceof AppError && !error.retryable && FINAL.has(error.code)) {
      return NOTHING;
    }
    throw error;
  }
}

interface Target {
  readonly appId: number;
  readonly call: CallRepository;
  readonly externalId: string;
  readonly number: number;
}

async function write(
  { maybeShown, shownAt }: Pick<Delivery, "maybeShown" | "shownAt">,
  check: RunCheck,
  target: Target,
): Promise<ShownCheck> {
  const { call, number } = target;
  const pull = await call({
    route: "GET /repos/{owner}/{repo}/pulls/{pull_number}",
    parameters: { pull_number: number },
    answer: pullAnswer,
  });
  const head = pull.head.sha;
  const known = shownAt === undefined ? undefined : knownCheck(shownAt);
  if (known !== undefined && known.head !== head && known.isOpen === true) {
    await update(call, known.id, { ...SUPERSEDED, details_url: check.sessionLink });
  }
  const isHere = known !== undefined && known.head === head;
  const mayBeHere = maybeShown || (shownAt !== undefined && known === undefined);
  const id = isHere ? known.id : mayBeHere ? await find(target, head) : undefined;
  const content = contentOf(check);
  const isOpen = !isEnded(check.state);
  if (id !== undefined) {
    await update(call, id, content);
    return { kind: "check", id, head, isOpen };
  }
  const parameters = { name: CHECK_NAME, head_sha: head, external_id: target.externalId, ...content };
  const route = "POST /repos/{owner}/{repo}/check-runs";
  return { kind: "check", ...(await call({ route, parameters, answer: idAnswer })), head, isOpen };
}

function knownCheck(receipt: string): Shown | undefined {
  const shown = parseReceipt(receipt);
  return shown.kind === "check" && shown.id !== NOTHING.id ? shown : undefined;
}

/** The check that an earlier try made, whose answer was lost. GitHub lists those of the App by their name. */
async function find({ appId, call, externalId }: Target, head: string): Promise<number | undefined> {
  const { check_runs: checks } = await call({
    route: "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
    parameters: { ref: head, check_name: CHECK_NAME, app_id: appId },
    answer: checksAnswer,
  });
  return checks.find(({ external_id: id }) => id === externalId)?.id;
}

type Content = ReturnType<typeof contentOf>;

async function update(
  call: CallRepository,
  id: number,
  content: Omit<Content, "actions"> & Partial<Pick<Content, "actions">>,
): Promise<void> {
  await call({
    route: "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
    parameters: { check_run_id: id, ...content },
    answer: idAnswer,
  });
}

const SUPERSEDED = {
  status: "completed" as const,
  conclusion: "neutral" as const,
  output: { title: "Superseded", summary: "The work went on at a newer commit." },
  actions: [],
};

/** A run that fails says nothing about the commit, so its check is never a failure. */
function contentOf(check: RunCheck) {
  const { canRepair, findings, sessionLink, shortfall, state } = check;
  const output = { title: titleOf(check), summary: summaryOf(check) };
  const shown = { details_url: sessionLink, output };
  if (!isEnded(state)) {
    return { ...shown, status: "in_progress" as const, actions: [STOP] };
  }
  const isDone = state === "SUCCEEDED" && shortfall === undefined && (findings ?? 0) === 0;
  const conclusion = isDone ? ("success" as const) : ("neutral" as const);
  return { ...shown, status: "completed" as const, conclusion, actions: canRepair === true ? [FIX] : [] };
}

function titleOf({ findings, isPaused, isUnapproved, shortfall, state }: RunCheck): string {
  if (findings !== undefined) {
    return findings === 0
      ? "Reviewed: no findings"
      : `Reviewed: ${findings} ${findings === 1 ? "finding" : "findings"}`;
  }
  if (isUnapproved === true) {
    return UNAPPROVED;
  }
  return isPaused === true ? PAUSED : (shortfall ?? STATE_WORDS[state]);
}

function summaryOf({ canRepair, message, sessionLink }: RunCheck): string {
  const words = message === undefined ? "" : defuse(message, SUMMARY_LENGTH).markdown;
  const offer =
    canRepair === true ? "Checks of this pull request fail. **Fix** asks the run to repair them." : "";
  return [words, offer, `[Session](${sessionLink})`].filter((part) => part !== "").join("\n\n");
}

const EXTERNAL_ID = /^([\da-f-]{36})\/([1-9]\d{0,9})$/;

/** Says in an event about the check which run and pull request it is of. GitHub names no pull request of a fork. */
function externalIdOf({ number, runId }: { readonly runId: string; readonly number: number }): string {
  return `${runId}/${number}`;
}

export function parseExternalId(id: string): { readonly runId: string; readonly number: number } | undefined {
  const [, runId, number] = EXTERNAL_ID.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, number: Number(number) };
}
