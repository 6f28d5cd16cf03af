import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { withConnection } from "../../src/storage/connection.ts";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

/** A card, an answer and a reaction are shown at the end, each in at most two calls. The end of the turn looks for the repository. */
const REFUSED_CALLS_MAX = 10;
/**
 * Two turns, of which the second one was asked for by an event with the former name: usually 11 calls. A slow machine
 * changes the card more often.
 */
const REDIRECTED_CALLS_MAX = 22;

/** The tests run one after another, because the invariants are checked after each. */
let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_SANDBOX: "local" });
});
afterEach(async () => {
  fixture.github.faults.clear();
  fixture.github.renameRepository(undefined);
  await fixture.checkInvariants();
});
afterAll(() => fixture?.close());

/** An issue whose run is still at work. */
async function issueAtWork(): Promise<GithubIssue> {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand sleep 2; say after all");
  await waitFor(() => issue.cards.length > 0, { what: "the card to be shown", timeoutMs: WAIT_LIMIT_MS });
  return issue;
}

interface GivenUp {
  readonly id: string;
  readonly kind: string;
}

async function deadNotices({ runId }: GithubIssue): Promise<readonly GivenUp[]> {
  const { body } = await fixture.api.call("GET", `/agent/notices?run_id=${runId}&state=dead`);
  return asRecord(body).notices as readonly GivenUp[];
}

async function untilAnswerIsGivenUp(issue: GithubIssue): Promise<void> {
  await fixture.api.waitForState(issue.runId, "SUCCEEDED", WAIT_LIMIT_MS);
  const isGivenUp = async () => (await deadNotices(issue)).some(({ kind }) => kind === "answer");
  await waitFor(isGivenUp, { what: "the answer to be given up", timeoutMs: WAIT_LIMIT_MS });
}

/** A card is edited at most every 15 seconds. Without what was counted so far, the next edit comes at once. */
async function resetPace(): Promise<void> {
  const session = { applicationName: "errand tests", queryLimitMs: 30_000 };
  await withConnection(fixture.databaseUrl, session, (client) => client.query("DELETE FROM paces"));
}

/** An administrator sends again what was given up, until nothing is. */
async function sendAgain(issue: GithubIssue): Promise<void> {
  const isSent = async () => {
    const dead = await deadNotices(issue);
    for (const { id } of dead) {
      await fixture.api.call("POST", `/agent/notices/${id}/retry`);
    }
    return dead.length === 0 && issue.answers.length > 0;
  };
  await waitFor(isSent, { what: "the answer to be sent", timeoutMs: WAIT_LIMIT_MS });
}

async function deadNoticesCheck(): Promise<string> {
  const { body } = await fixture.api.call("GET", "/agent/doctor");
  const checks = asRecord(body).checks as readonly Record<string, unknown>[];
  return JSON.stringify(checks.find(({ name }) => name === "dead_notices"));
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly remedy: string;
  /** Default: GitHub refuses all calls about the repository. */
  readonly isAnswerOnly?: true;
}

const GONE: readonly (readonly [string, Refusal])[] = [
  [
    "an issue is locked",
    {
      status: 403,
      message: "Unable to create comment because issue is locked.",
      remedy: "Unlock the conversation, or ask in another one.",
      isAnswerOnly: true,
    },
  ],
  [
    "an issue is deleted",
    {
      status: 410,
      message: "This issue was deleted",
      remedy: "The issue was deleted, or the repository has no",
    },
  ],
  [
    "an issue is transferred",
    { status: 301, message: "Moved Permanently", remedy: "Ask again in its new place" },
  ],
  [
    "a repository is deleted or transferred",
    { status: 404, message: "Not Found", remedy: "See that it exists, and that the App is installed" },
  ],
  [
    "a repository is archived",
    { status: 403, message: "Repository was archived so is read-only.", remedy: "Unarchive the repository." },
  ],
  [
    "the App is suspended",
    {
      status: 403,
      message: "This installation has been suspended",
      remedy: "The owner of the account resumes",
    },
  ],
];

describe("while a run works", () => {
  test.each(GONE)(
    "%s: its answer is given up with the reason, which run and doctor tell, and can be sent again",
    async (_what, { isAnswerOnly, message, remedy, status }) => {
      const { api, github } = fixture;
      const issue = await issueAtWork();
      const path = isAnswerOnly ? new RegExp(`/issues/${issue.number}/comments$`) : /^\/repos(itories)?\//;
      for (const method of isAnswerOnly ? ["POST"] : ["GET", "POST", "PATCH"]) {
        github.faults.until({ kind: "refused", method, path, status, message });
      }
      const before = github.calls().length;

      await untilAnswerIsGivenUp(issue);

      const refused = github
        .calls()
        .slice(before)
        .filter(({ outcome }) => outcome === "refused");
      expect(refused.length).toBeLessThanOrEqual(REFUSED_CALLS_MAX);
      expect(issue.answers).toEqual([]);
      const tells = async () => JSON.stringify(await api.getRun(issue.runId)).includes(remedy);
      await waitFor(tells, { what: "the run to tell the reason", timeoutMs: WAIT_LIMIT_MS });
      expect(await deadNoticesCheck()).toMatch(new RegExp(`"status":"warn".*GitHub answered ${status} to`));

      github.faults.clear();
      await resetPace();
      await sendAgain(issue);
      await issue.untilCard(isAnswerOnly ? "Done" : "Done, but without a pull request");

      expect(issue.answers).toEqual([expect.stringContaining("after all")]);
      expect(issue.cards).toHaveLength(1);
      expect(await deadNoticesCheck()).toContain('"status":"ok"');
    },
  );

  test("a repository is renamed: its card and its answer come under the new name, and so does the next turn", async () => {
    const { github } = fixture;
    const issue = await issueAtWork();

    github.renameRepository("gadgets");
    await issue.untilAnswers(1);
    await issue.untilCard("Done");
    await issue.comment("@errand say more");
    await issue.untilAnswers(2);

    expect([issue.cards.length, issue.answers.length, issue.replies.length]).toEqual([1, 2, 0]);
    expect(await deadNotices(issue)).toEqual([]);
    const moved = github
      .calls(undefined, /^\/repos\/acme\/widgets\//)
      .filter(({ outcome }) => /^30/.test(outcome));
    expect(moved.length).toBeLessThanOrEqual(REDIRECTED_CALLS_MAX);
  });
});
