import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseThreadKey } from "../../../../src/adapters/github/addresses.ts";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type {
  InboundMessage,
  InboxEvent,
  Translation,
  WorkReport,
} from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import type { JsonRecord } from "../../../support/json.ts";
import { adapterOn, fetchWith, inboundMessageOf, refusing } from "./github-fixture.ts";

let github: EmulatedGithub;
let adapted: GithubAdapter;
/** The request for which the run works. */
let request: InboundMessage;
/** What GitHub says now. */
let pull: JsonRecord;
let checks: readonly JsonRecord[];
let statuses: readonly JsonRecord[];
/** The calls about pull requests and commits so far. */
let asked = 0;

beforeAll(async () => {
  github = await startEmulatedGithub();
  const fetch = fetchWith(({ url }) => {
    const { pathname, search } = new URL(url);
    asked += /\/(pulls|commits)\//.test(pathname) ? 1 : 0;
    if (pathname.endsWith("/pulls/9")) {
      return Response.json(pull);
    }
    if (pathname.endsWith("/check-runs")) {
      const page = Number(new URL(url).searchParams.get("page") ?? 1);
      const shown = checks.slice((page - 1) * 100, page * 100);
      return Response.json({ total_count: checks.length, check_runs: shown });
    }
    if (pathname.endsWith("/c0ffee/status")) {
      return Response.json({ statuses });
    }
    const isList = pathname.endsWith("/pulls") && search.includes("base=main");
    return isList || pathname.endsWith("/commits/c0ffee/pulls")
      ? Response.json([
          { number: 9, state: "open", user: pull.user },
          { number: 10, state: "open", user: { id: 1 } },
          { number: 11, state: "closed", user: pull.user },
        ])
      : undefined;
  });
  adapted = adapterOn(github, { fetch });
  const issue = await github.openIssue("olivia", { title: "Broken", body: "It is." });
  request = await inboundMessageOf(adapted, await github.commentAs("wendy", issue.number, "@errand fix it"));
});

afterAll(() => github.stop());

beforeEach(() => {
  pull = {
    state: "open",
    title: "Fix it",
    html_url: "https://github.example/acme/widgets/pull/9",
    user: { id: github.app.botUserId },
    mergeable: true,
    mergeable_state: "clean",
    base: { ref: "main", repo: { id: 1, full_name: "acme/widgets", default_branch: "main" } },
    head: { ref: "errand/ab-fix", sha: "c0ffee", repo: { id: 1, full_name: "acme/widgets" } },
  };
  checks = [
    { id: 1, name: "lint", status: "completed", conclusion: "success" },
    { id: 2, name: "tests", status: "completed", conclusion: "failure" },
    { id: 3, name: "types", status: "completed", conclusion: "timed_out" },
  ];
  statuses = [];
});

function repository() {
  return request.provenance.repository as JsonRecord;
}

function event(name: string, payload: JsonRecord, deliveryId = "delivery-1"): InboxEvent {
  const body = JSON.stringify({
    installation: { id: Number(request.installation) },
    repository: repository(),
    ...payload,
  });
  return {
    id: "inbox-1",
    adapter: "github",
    orderingKey: "k",
    deliveryId,
    name,
    body,
    receivedAt: new Date(0),
  };
}

const failedSuite = (head_sha = "c0ffee") =>
  event("check_suite", {
    action: "completed",
    check_suite: { head_sha, conclusion: "failure", pull_requests: [{ number: 9 }] },
  });
const pushedToMain = () => event("push", { ref: "refs/heads/main" });

/** The reports that an event becomes, one for each pull request. */
async function reportsOf(received: InboxEvent): Promise<readonly WorkReport[]> {
  const translation = await adapted.adapter.translate(received);
  const ones: readonly Translation[] =
    translation.kind === "several"
      ? await Promise.all(
          translation.events.map((each) =>
            adapted.adapter.translate({ ...each, id: "inbox-2", receivedAt: new Date(0) }),
          ),
        )
      : [translation];
  return ones.flatMap((one) => (one.kind === "report" ? [one.report] : []));
}

async function found(
  received: InboxEvent,
  provenance = request.provenance,
): Promise<InboundMessage | string> {
  const [report = expect.fail("It is no report.")] = await reportsOf(received);
  const inspection = await adapted.adapter.inspect?.(report, { provenance });
  return inspection?.found ?? expect.fail("not inspected");
}

describe("failing checks", () => {
  test("all failing checks of a pull request of the App are one request of the person who requested the run", async () => {
    const message = await found(failedSuite());

    expect(message).toMatchObject({
      requestKind: "failing_checks",
      text: "These checks fail: tests, types. Find out why and repair it.",
      author: { subject: request.author.subject },
      place: request.place,
      messageRef: "",
      provenance: { commit: "c0ffee", actor: request.provenance.actor },
    });
    expect(parseThreadKey((message as InboundMessage).key)).toEqual({
      repositoryId: repository().id,
      number: 9,
    });
    expect(await adapted.adapter.authorize(message as InboundMessage)).toMatchObject({ roles: ["write"] });
    const read = await adapted.adapter.gather?.(message as InboundMessage, { isFollowUp: true });
    expect(read?.context).toContain("The check tests ended with failure.");
  });

  test("two failing suites of one commit have one dedupe key, and another commit has another", async () => {
    const [one, other] = [await found(failedSuite()), await found(failedSuite())];
    pull = { ...pull, head: { ...(pull.head as JsonRecord), sha: "decade" } };
    const later = await found(failedSuite("decade"));

    expect(one).toHaveProperty("dedupeKey", (other as InboundMessage).dedupeKey);
    expect(later).not.toHaveProperty("dedupeKey", (other as InboundMessage).dedupeKey);
  });

  test.each([
    [100, 3],
    [101, 4],
    [250, 5],
  ])(
    "one reading of %d checks takes %d calls, and finds the failing one on the last page",
    async (count, calls) => {
      await found(failedSuite());
      checks = Array.from({ length: count }, (_, id) => ({
        ...{ id, name: `check ${id}`, status: "completed" },
        conclusion: id === count - 1 ? "failure" : "success",
      }));
      const before = asked;

      const message = await found(failedSuite());

      expect(message).toMatchObject({
        text: `These checks fail: check ${count - 1}. Find out why and repair it.`,
      });
      expect(asked - before).toBe(calls);
    },
  );

  test("suites of one commit become equal events, which wait for each other", async () => {
    const events = await Promise.all(
      ["d1", "d2"].map(async (id) => adapted.adapter.translate({ ...failedSuite(), deliveryId: id })),
    );

    const [one, other] = events.flatMap((each) => (each.kind === "several" ? each.events : []));
    expect(one).toEqual({ ...other, deliveryId: "d1/9" });
    expect(one?.collectMs).toBeGreaterThan(0);
  });

  test.each([
    ["success", "https://github.example/acme/widgets/pull/9"],
    ["neutral", "https://github.example/acme/widgets/pull/9"],
    ["failure", undefined],
    ["timed_out", undefined],
  ])(
    "a suite that ended with %s says of which pull request a check passed: %s",
    async (conclusion, passedIn) => {
      const about = { ...repository(), html_url: "https://github.example/acme/widgets" };
      const check_suite = { head_sha: "c0ffee", conclusion, pull_requests: [{ number: 9 }] };
      const suite = event("check_suite", { action: "completed", check_suite, repository: about });

      expect((await reportsOf(suite)).map((report) => report.passedIn)).toEqual([passedIn]);
    },
  );

  test.each<[string, () => void]>([
    [
      "The checks are those of an earlier commit.",
      () => (pull = { ...pull, head: { ...(pull.head as JsonRecord), sha: "other" } }),
    ],
    [
      "Other checks of the commit still run.",
      () => (checks = [...checks, { id: 4, name: "e2e", status: "queued" }]),
    ],
    ["No check fails.", () => (checks = checks.slice(0, 1))],
    ["The pull request is closed.", () => (pull = { ...pull, state: "closed" })],
    ["No run opened the pull request.", () => (pull = { ...pull, user: { id: 1 } })],
  ])("nothing is done, with the reason: %s", async (reason, arrange) => {
    arrange();

    expect(await found(failedSuite())).toBe(reason);
  });

  test("a run that was not asked for on GitHub is left alone", async () => {
    expect(await found(failedSuite(), { linked_account: "x" })).toMatch(
      /^The run was not asked for on GitHub/,
    );
  });
});

describe("a failing commit status", () => {
  const failedStatus = () => event("status", { sha: "c0ffee", state: "failure", context: "ci/build" });

  test("a failing commit status is the same request as failing checks of that commit", async () => {
    statuses = [
      { context: "ci/build", state: "error", description: "It broke.", target_url: "https://ci.example/1" },
      { context: "ci/docs", state: "success" },
    ];

    const message = await found(failedStatus());

    expect(message).toMatchObject({
      requestKind: "failing_checks",
      text: "These checks fail: tests, types, ci/build. Find out why and repair it.",
    });
    expect(message).toHaveProperty("dedupeKey", ((await found(failedSuite())) as InboundMessage).dedupeKey);
    const read = await adapted.adapter.gather?.(message as InboundMessage, { isFollowUp: true });
    expect(read?.context).toContain("The check ci/build ended with failure.\nIt broke.");
    expect(read?.gaps).toBeUndefined();
  });

  test("a failing commit status is reported for each open pull request of the App that has the commit", async () => {
    const reports = await reportsOf(failedStatus());

    expect(reports.map(({ findings }) => findings)).toEqual([
      { repository: repository(), number: 9, checksOf: "c0ffee" },
    ]);
  });

  test("a failing commit status waits for a status that is pending", async () => {
    statuses = [
      { context: "ci/build", state: "failure" },
      { context: "ci/e2e", state: "pending" },
    ];

    expect(await found(failedStatus())).toBe("Other checks of the commit still run.");
  });
});

test("an App that may not read commit statuses repairs failing checks, and says what it could not read", async () => {
  const refused = fetchWith(({ url }) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith("/status")) {
      return Response.json({ message: "Resource not accessible by integration" }, { status: 403 });
    }
    if (pathname.endsWith("/check-runs")) {
      return Response.json({ check_runs: checks });
    }
    return pathname.endsWith("/pulls/9") ? Response.json(pull) : undefined;
  });
  const { adapter } = adapterOn(github, { fetch: refused });
  const [report = expect.fail("It is no report.")] = await reportsOf(failedSuite());

  const message = (await adapter.inspect?.(report, { provenance: request.provenance }))?.found;
  const read = await adapter.gather?.(message as InboundMessage, { isFollowUp: true });
  checks = [];

  expect(message).toMatchObject({ text: expect.stringContaining("tests, types") });
  expect(read?.context).toContain("The check tests ended with failure.");
  const reason = expect.stringContaining("I could not read the commit statuses. GitHub answered 403");
  expect(read?.gaps).toEqual([reason]);
  const nothing = await adapter.inspect?.(report, { provenance: request.provenance });
  expect(nothing).toMatchObject({ found: reason, status: { checks: [] } });
});

describe("a merge conflict", () => {
  const dirty = { mergeable: false, mergeable_state: "dirty" };

  test("a push to the base becomes a report for each pull request of the App into it", async () => {
    pull = { ...pull, ...dirty };

    expect(await reportsOf(pushedToMain())).toHaveLength(1);
    expect(await found(pushedToMain())).toMatchObject({
      requestKind: "merge_conflict",
      text: "The pull request has a merge conflict with main. Merge that branch and resolve it.",
    });
  });

  test("a push to the head is a report, too", async () => {
    pull = { ...pull, ...dirty };

    const message = await found(event("pull_request", { action: "synchronize", number: 9 }));

    expect(message).toMatchObject({ requestKind: "merge_conflict" });
  });

  test("without a conflict nothing is done", async () => {
    expect(await found(pushedToMain())).toBe("The pull request has no merge conflict.");
  });

  test("while GitHub does not know, the event is tried again", async () => {
    pull = { ...pull, mergeable: null, mergeable_state: "unknown" };

    await expect(found(pushedToMain())).rejects.toMatchObject({ retryable: true });
  });

  test("a push to a branch of a run, of a tag, and a deleted branch ask GitHub nothing", async () => {
    const before = github.calls().length;
    for (const payload of [
      { ref: "refs/heads/errand/ab-x" },
      { ref: "refs/tags/v1" },
      { ref: "refs/heads/main", deleted: true },
    ]) {
      expect(await adapted.adapter.translate(event("push", payload))).toMatchObject({ kind: "ignored" });
    }
    expect(github.calls().length).toBe(before);
  });
});

test.each([
  ["the installation belongs to another program", /\/access_tokens$/, 404, "Not Found"],
  ["the App was suspended", /\/access_tokens$/, 403, "This installation has been suspended"],
  ["the repository is gone", /\/repos(itories)?\//, 404, "Not Found"],
  ["the repository is blocked", /\/repos\//, 451, "Repository access blocked"],
  ["a permission is missing", /\/pulls/, 403, "Resource not accessible by integration"],
] as const)(
  "an event that nobody wrote is ignored with the reason when %s",
  async (_why, path, status, words) => {
    const { adapter } = adapterOn(github, { fetch: refusing(path, status, words) });
    const [report = expect.fail("It is no report.")] = await reportsOf(failedSuite());
    const reason = `GitHub answered ${status}: ${words}`;

    for (const received of [pushedToMain(), event("status", { sha: "c0ffee", state: "failure" })]) {
      expect(await adapter.translate(received)).toEqual({ kind: "ignored", reason });
    }
    expect(await adapter.inspect?.(report, { provenance: request.provenance })).toEqual({ found: reason });
  },
);

test("an unreadable report is a failure that is not tried again", async () => {
  const unreadable = event("check_suite", { action: "completed", check_suite: 1, secret: "of the payload" });

  const error: unknown = await adapted.adapter.translate(unreadable).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ retryable: false });
  expect(inspect(error, { depth: 20 }), "Octokit adds the payload to errors").not.toContain("of the payload");
});

describe("a pull request that leaves the merge queue", () => {
  const removed = (reason: string, sha = "c0ffee") =>
    event("pull_request", {
      action: "dequeued",
      number: 9,
      reason,
      pull_request: { number: 9, head: { sha } },
    });

  test.each([
    ["CI_FAILURE", "failing_checks", "checks failed after its merge with"],
    ["CI_TIMEOUT", "failing_checks", "checks did not end in time after its merge with"],
    ["MERGE_CONFLICT", "merge_conflict", "it could not be merged with"],
  ])("for the reason %s asks the run for a repair of the kind %s", async (reason, requestKind, cause) => {
    expect(await found(removed(reason))).toMatchObject({
      requestKind,
      text: `The merge queue removed the pull request, because ${cause} main and the pull requests before it. Merge main into the branch, find out why and repair it.`,
    });
  });

  test.each([
    "ALREADY_MERGED",
    "BRANCH_PROTECTIONS",
    "GIT_TREE_INVALID",
    "INVALID_MERGE_COMMIT",
    "MANUAL",
    "MERGE",
    "QUEUE_CLEARED",
    "ROLL_BACK",
    "UNKNOWN_REMOVAL_REASON",
    "A_LATER_ONE",
  ])("for the reason %s asks for nothing, and makes no call", async (reason) => {
    const before = github.calls().length;

    expect(await adapted.adapter.translate(removed(reason))).toEqual({
      kind: "ignored",
      reason: `The merge queue removed it, and no change repairs that: ${reason}.`,
    });
    expect(github.calls()).toHaveLength(before);
  });

  test("with an earlier commit asks for nothing", async () => {
    expect(await found(removed("CI_FAILURE", "beef"))).toBe("The merge queue removed an earlier commit.");
  });

  test("and is closed or another account's asks for nothing", async () => {
    pull = { ...pull, state: "closed" };
    expect(await found(removed("CI_FAILURE"))).toBe("The pull request is closed.");
    pull = { ...pull, state: "open", user: { id: 1 } };
    expect(await found(removed("CI_FAILURE"))).toBe("No run opened the pull request.");
  });

  test("after failing checks of the same commit is another request, and after its conflict the same one", async () => {
    const keyOf = async (received: InboxEvent) => {
      const message = await found(received);
      return typeof message === "string" ? expect.fail(message) : message.dedupeKey;
    };
    expect(await keyOf(removed("CI_FAILURE"))).toBe(await keyOf(removed("CI_TIMEOUT")));
    expect(await keyOf(removed("CI_FAILURE"))).not.toBe(await keyOf(failedSuite()));

    pull = { ...pull, mergeable: false, mergeable_state: "dirty" };
    expect(await keyOf(removed("MERGE_CONFLICT"))).toBe(await keyOf(pushedToMain()));
  });
});
