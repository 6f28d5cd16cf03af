import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError, plainMessage } from "../../core/basics/errors.ts";
import type { CallRepository } from "./routes.ts";

/** The App whose checks are jobs of GitHub Actions. */
const ACTIONS = "github-actions";
/** The conclusions that a change of the code can repair. */
const REPAIRABLE: ReadonlySet<string> = new Set(["failure", "timed_out"]);
/** The states of commit statuses, as conclusions of check runs. `pending` has none. */
const CONCLUSIONS: ReadonlyMap<string, string> = new Map([
  ["success", "success"],
  ["failure", "failure"],
  ["error", "failure"],
]);

const PAGE_LENGTH = 100;
const PAGES_MAX = 10;

const runsAnswer = z.object({
  total_count: z.int().default(0),
  check_runs: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      status: z.string(),
      conclusion: z.string().nullish(),
      html_url: z.string().nullish(),
      app: z.object({ id: z.int().optional(), slug: z.string().nullish() }).nullish(),
      output: z.object({ title: z.string().nullish(), summary: z.string().nullish() }).nullish(),
    }),
  ),
});
const statusesAnswer = z.object({
  total_count: z.int().default(0),
  statuses: z.array(
    z.object({
      context: z.string(),
      state: z.string(),
      description: z.string().nullish(),
      target_url: z.string().nullish(),
    }),
  ),
});

/** A check run, or a commit status, with which older CI services report. Both have the words of a check run. */
export interface CommitCheck {
  readonly name: string;
  readonly status: string;
  readonly conclusion?: string | null | undefined;
  readonly url?: string | null | undefined;
  /** What the CI service says about it. */
  readonly words: string;
  /** The job of GitHub Actions whose check it is. */
  readonly job?: number;
}

export interface CommitChecks {
  readonly checks: readonly CommitCheck[];
  /** What GitHub refused to show, and why: one sentence each. */
  readonly unread: readonly string[];
}

/** `appId` is that of Errand's own App, whose check says nothing about the commit. */
export async function readCommitChecks(
  call: CallRepository,
  ref: string,
  appId: number | undefined,
): Promise<CommitChecks> {
  const parts = await Promise.all([
    unlessRefused("checks", readCheckRuns(call, ref, appId)),
    unlessRefused("commit statuses", readStatuses(call, ref)),
  ]);
  return {
    checks: parts.flatMap(({ checks }) => checks),
    unread: parts.flatMap(({ unread }) => unread),
  };
}

export function isRepairable({ conclusion }: Pick<CommitCheck, "conclusion">): boolean {
  return REPAIRABLE.has(conclusion ?? "");
}

/** Undefined: the state is not the last one. */
export function conclusionOfStatus(state: string): string | undefined {
  return CONCLUSIONS.get(state);
}

async function readCheckRuns(
  call: CallRepository,
  ref: string,
  appId: number | undefined,
): Promise<readonly CommitCheck[]> {
  const runs = await allPages(async (page) => {
    const { check_runs: entries, total_count: total } = await call({
      route: "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
      parameters: { ref, ...page },
      answer: runsAnswer,
    });
    return { entries, total };
  });
  const others = runs.filter(({ app }) => appId === undefined || app?.id !== appId);
  return others.map(({ app, conclusion, html_url: url, id, name, output, status }) => {
    const words = [output?.title, output?.summary].filter((text) => text).join("\n");
    // The id of a check of GitHub Actions is that of its job.
    return defined({ name, status, conclusion, url, words, job: app?.slug === ACTIONS ? id : undefined });
  });
}

async function readStatuses(call: CallRepository, ref: string): Promise<readonly CommitCheck[]> {
  const statuses = await allPages(async (page) => {
    const { statuses: entries, total_count: total } = await call({
      route: "GET /repos/{owner}/{repo}/commits/{ref}/status",
      parameters: { ref, ...page },
      answer: statusesAnswer,
    });
    return { entries, total };
  });
  return statuses.map(({ context: name, description, state, target_url: url }) => {
    const conclusion = conclusionOfStatus(state);
    const status = conclusion === undefined ? "in_progress" : "completed";
    return { name, status, conclusion, url, words: description ?? "" };
  });
}

type Page<Entry> = { readonly entries: readonly Entry[]; readonly total: number };

async function allPages<Entry>(
  read: (page: { readonly per_page: number; readonly page?: number }) => Promise<Page<Entry>>,
): Promise<readonly Entry[]> {
  const first = await read({ per_page: PAGE_LENGTH });
  const all = [...first.entries];
  const last = Math.min(PAGES_MAX, Math.ceil(first.total / PAGE_LENGTH));
  for (let page = 2; page <= last; page += 1) {
    all.push(...(await read({ per_page: PAGE_LENGTH, page })).entries);
  }
  return all;
}

/** An App or a token may lack one of the permissions `checks: read` and `statuses: read`. */
async function unlessRefused(what: string, read: Promise<readonly CommitCheck[]>): Promise<CommitChecks> {
  try {
    return { checks: await read, unread: [] };
  } catch (error) {
    const isRefused =
      error instanceof AppError && (error.code === "not_authorized" || error.code === "resource_not_found");
    if (!isRefused) {
      throw error;
    }
    return { checks: [], unread: [`I could not read the ${what}. ${plainMessage(error)}`] };
  }
}
