import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/basics/errors.ts";
import { newId, type RunId, type ThreadKey } from "../../../../src/core/basics/ids.ts";
import type { RefusedWork } from "../../../../src/core/model/runs/stored-outcome.ts";
import type { NewRun } from "../../../../src/core/requests/prepare/new-run.ts";
import { harmlessTitle } from "../../../../src/core/work/changes/pull-request-text.ts";
import type { AttemptDeps } from "../../../../src/core/work/lease/attempt-deps.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../support/core-harness.ts";
import { anEnvironment } from "../../../support/environment-builders.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { END_TURN, type Script, untilCancelled } from "../../../support/scripted-agents.ts";
import { waitFor } from "../../../support/wait-for.ts";

const REPOSITORY = { owner: "acme", name: "widgets" };
const TRIGGER = "https://forge.example/acme/widgets/issues/5#comment-1";
const HOME: Partial<NewRun> = {
  source: "GITHUB_WEBHOOK",
  title: "Parser breaks",
  triggerUrl: TRIGGER,
  provenance: { repository: { id: 7, full_name: "acme/widgets" } },
};

const GIT_HELP = { remedy: "Put git into the image." };

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

function changed(): void {
  harness.changes.sinceSnapshot.set("acme/widgets", "diff");
  harness.changes.sinceClone.set("acme/widgets", "diff");
}

async function start(setting: AttemptDeps["settings"]["pullRequests"] = "draft"): Promise<void> {
  await harness.start(harness.worker({ settings: { ...LIMITS, pullRequests: setting } }));
}

async function perform(request: Partial<NewRun> = HOME): Promise<RunId> {
  const { id } = await harness.create(request);
  await ended(id);
  return id;
}

async function ended(id: RunId): Promise<void> {
  const isFree = async () => {
    const { lease, state } = await harness.run(id);
    return lease === undefined && state !== "QUEUED";
  };
  await waitFor(isFree, { what: "the run to be free", everyMs: 2 });
}

/** Waits until the run has met this many of the two faults and has handled them. */
async function refused(times: 1 | 2): Promise<void> {
  await waitFor(() => harness.pullRequests.faults.length === 2 - times, { what: "a refusal", everyMs: 2 });
  await quiet();
}

async function pullsOf(id: RunId): Promise<readonly unknown[]> {
  const artifacts = await harness.storage.files.artifactsOf([id]);
  return artifacts.flatMap(({ body }) => (body.type === "PULL_REQUEST" ? [body] : []));
}

async function problemsOf(id: RunId): Promise<readonly string[]> {
  const bodies = (await harness.events(id)).map(({ body }) => body);
  return bodies.flatMap((body) => (body.kind === "changes.not_kept" ? [body.reason] : []));
}

async function inAnEnvironment(): Promise<Partial<NewRun>> {
  await harness.storage.environments.add(anEnvironment("e", "acme/widgets"));
  return { config: { environment_id: "e" } };
}

/** Of the runs in HOME. */
function branchOf(id: RunId): string {
  return `errand/${id.slice(-12)}-parser-breaks`;
}

/** Scripts a turn in which the agent pushes a branch itself. */
function pushes(branch: string): Script {
  return async () => {
    harness.gateways.last.push({ ...REPOSITORY, branch, commit: "c0ffee" });
    return END_TURN;
  };
}

describe("the pull request of a run", () => {
  test("the title of a pull request says what was done, if the agent committed it, and mentions nobody", async () => {
    changed();
    harness.changes.subject = "Read @tokens in one pass, fixes #7";
    await start();

    await perform();

    expect(harness.pullRequests.drafts).toEqual([
      expect.objectContaining({ title: "Read tokens in one pass, fixes no. 7" }),
    ]);
  });

  test("a pull request gets the template of its repository", async () => {
    changed();
    harness.changes.templates.set("acme/widgets", "## Why");
    await start();

    await perform();

    expect(harness.pullRequests.drafts).toEqual([expect.objectContaining({ template: "## Why" })]);
  });

  test("the work of a run is pushed to a branch of its own, and a pull request is opened", async () => {
    changed();
    await start();

    const id = await perform();

    expect(harness.changes.pushes).toEqual([
      {
        repository: REPOSITORY,
        branch: branchOf(id),
        message: expect.stringMatching(
          /^Parser breaks\n\nMade by a run of Errand: http:\/\/here\/sessions\//,
        ),
      },
    ]);
    expect(harness.pullRequests.drafts).toEqual([
      {
        teamId: (await harness.run(id)).teamId,
        repository: REPOSITORY,
        branch: branchOf(id),
        title: "Parser breaks",
        summary: "Done.",
        body: expect.stringMatching(
          /^Made by a run of Errand: \[session\]\(http:\/\/here\/sessions\/[^)]+\)\.\n\nAsked for in https/,
        ),
        isDraft: true,
      },
    ]);
    expect(harness.pullRequests.drafts[0]).not.toHaveProperty("template");
    const url = "https://forge.example/acme/widgets/pull/1";
    expect(await pullsOf(id)).toEqual([{ type: "PULL_REQUEST", url, branch: branchOf(id) }]);
    expect(await harness.run(id)).toMatchObject({
      state: "SUCCEEDED",
      answer: "Done.",
      statusMessage: { message: `Its pull request: ${url}` },
      artifactTypes: expect.arrayContaining(["PULL_REQUEST"]),
    });
    expect((await harness.run(id)).statusMessage).not.toHaveProperty("errorCode");
  });

  test.each([
    ["by Errand", undefined],
    ["by the agent", pushes("feature")],
  ])(
    "the first branch of a repository, pushed %s, gets no pull request, and the run says why",
    async (_who, script) => {
      changed();
      harness.changes.emptyAtFirst.add("acme/widgets");
      harness.agents.scripts.push(...(script === undefined ? [] : [script]));
      await start();

      const id = await perform();

      const branch = script === undefined ? branchOf(id) : "feature";
      expect(harness.pullRequests.drafts).toEqual([]);
      const run = await harness.run(id);
      expect(run).toMatchObject({
        state: "SUCCEEDED",
        warnings: [expect.stringContaining(`its first branch, ${branch}.`)],
      });
      expect(run.outcome?.refused ?? []).toEqual([]);
    },
  );

  test("the work in a pull request is not stored as a patch as well", async () => {
    changed();
    harness.changes.sinceClone.set("acme/tools", "diff");
    await start();

    const id = await perform();

    const keys = (await harness.storage.files.artifactsOf([id])).map(({ key }) => key);
    expect(keys).toContain("changes/tools/all.diff");
    expect(keys).not.toContain("changes/widgets/all.diff");
  });

  test("a message in the pull request is a follow-up of the run", async () => {
    changed();
    await start();

    const id = await perform();

    const key = "pull-1" as ThreadKey;
    expect(
      await harness.storage.threads.find({ adapter: "memory", installation: "here", key }),
    ).toMatchObject({
      runId: id,
    });
    const shown = harness.adapter.thread(key).map(({ notice }) => notice);
    const url = "https://forge.example/acme/widgets/pull/1";
    expect(shown.filter(({ kind }) => kind === "card")).toMatchObject([
      { card: { state: "SUCCEEDED", message: `Its pull request: ${url}` } },
    ]);
  });

  test("the work of the next turn goes to the same pull request", async () => {
    changed();
    await start();
    const id = await perform();

    await harness.followUp(id, "more");
    await ended(id);

    expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual([branchOf(id), branchOf(id)]);
    expect(await pullsOf(id)).toHaveLength(1);
    const [artifact] = await harness.storage.files.artifactsOf([id]);
    expect(artifact?.version).toBe(1);
  });

  test("a turn without changes pushes nothing, and the pull request is still shown", async () => {
    changed();
    await start();
    const id = await perform();
    harness.changes.sinceSnapshot.clear();

    await harness.followUp(id, "What did you do?");
    await ended(id);

    expect(harness.changes.pushes).toHaveLength(1);
    expect((await harness.run(id)).statusMessage?.message).toContain("/pull/1");
    const keys = (await harness.storage.files.artifactsOf([id])).map(({ key }) => key);
    expect(keys).not.toContain("changes/widgets/all.diff");
  });

  test("the answer of a private turn is not in the description", async () => {
    changed();
    await start();
    const id = await perform();

    await harness.followUp(id, "between us", "queue", true);
    await ended(id);

    expect(harness.pullRequests.drafts).toHaveLength(2);
    expect(harness.pullRequests.drafts.at(0)).toHaveProperty("summary");
    expect(harness.pullRequests.drafts.at(1)).not.toHaveProperty("summary");
  });

  test("the work of a run requested in a pull request goes to the branch of that pull request", async () => {
    changed();
    await start();

    await perform({ ...HOME, provenance: { ...HOME.provenance, head: { branch: "feature" } } });

    expect(harness.pullRequests.drafts).toMatchObject([
      { base: "feature", body: expect.stringContaining("may not push") },
    ]);
  });

  describe("requested in a pull request whose branch its author may push to", () => {
    const OWN = { ...HOME, provenance: { ...HOME.provenance, head: { branch: "feature", may_push: true } } };

    test("work in a pull request goes onto that branch, and no other pull request is opened", async () => {
      changed();
      const { url } = harness.pullRequests.openedByOther(REPOSITORY, "feature");
      await start();

      const id = await perform(OWN);

      expect(harness.changes.pushes).toMatchObject([{ branch: "feature", isShared: true }]);
      expect(harness.pullRequests.drafts).toEqual([]);
      expect(await pullsOf(id)).toEqual([{ type: "PULL_REQUEST", url, branch: "feature" }]);
      expect((await harness.run(id)).statusMessage?.message).toContain(url);
    });

    test("work in a pull request gets a pull request of its own that says why if the branch does not take it", async () => {
      changed();
      harness.changes.pushFaults.push(new AppError("operation_not_supported", "It moved."));
      harness.pullRequests.openedByOther(REPOSITORY, "feature");
      await start();

      const id = await perform(OWN);

      expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual(["feature", branchOf(id)]);
      expect(harness.pullRequests.drafts).toMatchObject([
        { base: "feature", body: expect.stringContaining("did not take the work") },
      ]);
    });

    test.each([
      ["GH006: Protected branch update failed.", true, "suggestions"],
      ["Commits must have verified signatures.", true, "suggestions"],
      ["GH006: Protected branch update failed.", false, "a pull request"],
      ["Push cannot contain secrets. Repository rule violations found", true, "a pull request"],
      ["! [rejected] feature -> feature (non-fast-forward)", true, "a pull request"],
    ])("if the host says %j and suggestions fit: %s, the work is %s", async (message, takesWork, result) => {
      changed();
      harness.pullRequests.takesWork = takesWork;
      harness.agents.scripts.push(async ({ say }) => {
        harness.gateways.last.refuse({ ...REPOSITORY, message });
        say("Done.");
        return END_TURN;
      });
      harness.changes.pushFaults.push(new AppError("operation_not_supported", message));
      await start();

      const run = await harness.run(await perform(OWN));

      if (result === "suggestions") {
        expect(harness.pullRequests.offered).toEqual([{ branch: "feature", patch: "diff", base: "ba5e" }]);
        expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual(["feature"]);
        expect(harness.pullRequests.drafts).toEqual([]);
        expect(run.statusMessage?.message).toContain(`the branch feature refuses it: ${message}`);
        expect(run.outcome).not.toHaveProperty("refused");
      } else {
        expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual(["feature", branchOf(run.id)]);
        expect(harness.pullRequests.drafts).toHaveLength(1);
        const words = message.startsWith("GH006") ? "GH006: Protected branch" : "did not take the push";
        expect(run.warnings).toEqual([expect.stringContaining(words)]);
      }
    });

    test("work in a pull request stays where it is if pull requests are off", async () => {
      changed();
      await start("off");

      await perform(OWN);

      expect(harness.changes.pushes).toEqual([]);
    });
  });

  test.each([
    ["ready", false, 1],
    ["draft", true, 1],
    ["off", undefined, 0],
  ] as const)("the setting %s decides about the pull request", async (setting, isDraft, count) => {
    changed();
    await start(setting);

    const id = await perform();

    expect(harness.pullRequests.drafts.map((draft) => draft.isDraft)).toEqual(count === 0 ? [] : [isDraft]);
    expect(harness.changes.pushes).toHaveLength(count);
    expect((await harness.run(id)).state).toBe("SUCCEEDED");
    expect(await pullsOf(id)).toHaveLength(count);
  });

  test.each<[string, () => Promise<RunId>]>([
    ["that changed nothing", () => perform()],
    [
      "that was not asked for in a repository",
      async () => {
        changed();
        return perform(await inAnEnvironment());
      },
    ],
    [
      "that did not go well",
      () => {
        changed();
        harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));
        return perform();
      },
    ],
  ])("a run %s gets no pull request", async (_what, act) => {
    await start();

    const id = await act();

    expect(await pullsOf(id)).toEqual([]);
    expect((await harness.run(id)).statusMessage?.message ?? "").not.toContain("pull request");
    expect(await problemsOf(id)).toEqual([]);
  });

  test("the pull request is opened after the last turn", async () => {
    changed();
    harness.agents.scripts.push(async () => {
      for (const { runId } of harness.agents.starts) {
        await harness.followUp(runId, "more");
      }
      expect(harness.changes.pushes).toEqual([]);
      return END_TURN;
    });
    await start();

    const id = await perform();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
    expect(harness.changes.pushes).toHaveLength(1);
  });
});

describe("failures of a pull request", () => {
  test.each<[string, () => void, RefusedWork]>([
    [
      "a push that fails here",
      () =>
        harness.changes.pushFaults.push(
          new AppError("operation_not_supported", "No git in s3cret.", GIT_HELP),
        ),
      { what: "push", by: "Errand", message: "No git in [redacted].", remedy: GIT_HELP.remedy },
    ],
    [
      "a push that the host refuses",
      () => {
        const refuse = () => harness.gateways.last.refuse({ ...REPOSITORY, message: "Protected: s3cret" });
        harness.agents.scripts.push(async () => {
          refuse();
          return END_TURN;
        });
        harness.changes.pushFaults.push(
          new AppError("operation_not_supported", "The changes could not be pushed."),
        );
      },
      {
        what: "push",
        by: "forge.example",
        message: "Protected: [redacted]",
        remedy: "Send a follow-up to try again, or apply the patch.",
      },
    ],
    [
      "a pull request that the host refuses",
      () =>
        harness.pullRequests.faults.push(
          new AppError("not_authorized", "The host answered 403 to POST /pulls: No.", { said: "No." }),
        ),
      {
        what: "pull_request",
        by: "forge.example",
        message: "No.",
        remedy: expect.stringMatching(
          /^Send a follow-up to try again. The work is on the branch errand\/.+\.$/,
        ),
      },
    ],
    [
      "a pull request for which the team has no credentials",
      () => {
        harness.pullRequests.isClosed = true;
      },
      {
        what: "pull_request",
        by: "Errand",
        message: "The team has no credentials for pull requests in acme/widgets.",
        remedy: expect.stringContaining("An administrator"),
      },
    ],
    [
      "a bug",
      () => harness.pullRequests.faults.push(new TypeError("x is undefined")),
      {
        what: "pull_request",
        by: "Errand",
        message: "The pull request could not be opened.",
        remedy: "Send a follow-up to try again.",
      },
    ],
  ])("%s is the outcome of the run, and the work is stored as a patch", async (_what, fail, refusal) => {
    changed();
    fail();
    await start();

    const id = await perform();

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", artifactTypes: ["FILE"], answer: expect.any(String) });
    expect(run.outcome).toEqual({ changes: { files: 1, additions: 1, deletions: 0 }, refused: [refusal] });
    const words = refusal.what === "push" ? "Done, but not pushed" : "Done, but without a pull request";
    expect(run.statusMessage).toEqual({
      message: `${words}.\n${refusal.by}: ${refusal.message}`,
      remedy: refusal.remedy,
    });
    expect(run.warnings).toBeUndefined();
    const [ended] = (await harness.events(id)).flatMap(({ body }) =>
      body.kind === "run.state" && body.to === "SUCCEEDED" ? [body] : [],
    );
    expect(ended?.outcome).toEqual({
      summary: `${words}: ${refusal.by} says: ${refusal.message}`,
      changes: run.outcome?.changes,
      refused: [refusal],
    });
  });

  test("the agent's own push that the host refused is the outcome, unless a later push is accepted", async () => {
    harness.agents.scripts.push(async () => {
      harness.gateways.last.refuse({ owner: "acme", name: "tools", message: "Protected." });
      return END_TURN;
    });
    harness.changes.sinceClone.set("acme/tools", "diff");
    await start();

    const id = await perform();

    expect((await harness.run(id)).outcome?.refused).toMatchObject([{ what: "push", message: "Protected." }]);
  });

  test("the next turn tries again, and then nothing is missing, although it changed nothing", async () => {
    changed();
    harness.pullRequests.faults.push(new AppError("not_authorized", "No."));
    await start();
    const id = await perform();
    harness.changes.sinceSnapshot.clear();

    await harness.followUp(id, "Try again.");
    await ended(id);

    expect(await pullsOf(id)).toHaveLength(1);
    expect((await harness.run(id)).outcome).toEqual({ changes: { files: 1, additions: 1, deletions: 0 } });
  });

  test("a branch that has the prefix as its name does not keep the work from being pushed", async () => {
    changed();
    const message = "cannot lock ref: 'refs/heads/errand' exists; cannot create 'refs/heads/errand/a'";
    harness.changes.pushFaults.push(new AppError("operation_not_supported", message));
    await start();

    const id = await perform();

    const flat = branchOf(id).replace("/", "-");
    expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual([branchOf(id), flat]);
    expect(await pullsOf(id)).toEqual([expect.objectContaining({ branch: flat })]);
    expect((await harness.run(id)).outcome?.refused).toBeUndefined();
  });

  test("a short failure is retried", async () => {
    changed();
    harness.pullRequests.faults.push(
      new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 7_000 }),
      new AppError("resource_unavailable", "Not now."),
    );
    await start();
    const { id } = await harness.create(HOME);
    await refused(1);
    await harness.clock.advance(6_999);
    expect(await pullsOf(id)).toEqual([]);
    expect(harness.pullRequests.faults).toHaveLength(1);

    await harness.clock.advance(1);
    await refused(2);
    await harness.clock.advance(4_000);
    await ended(id);

    expect(await pullsOf(id)).toHaveLength(1);
  });

  test("the pull request is opened after the minute for which a host refuses those who write much", async () => {
    changed();
    harness.pullRequests.faults.push(
      new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 60_000 }),
    );
    await start();
    const { id } = await harness.create(HOME);
    await waitFor(() => harness.pullRequests.faults.length === 0, { what: "the refusal", everyMs: 2 });
    await quiet();

    await harness.clock.advance(60_000);
    await ended(id);

    expect(await pullsOf(id)).toHaveLength(1);
    expect((await harness.run(id)).outcome?.refused).toBeUndefined();
  });

  test("a long failure is not retried for ever", async () => {
    changed();
    harness.pullRequests.faults.push(
      new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 600_000 }),
    );
    await start();

    const id = await perform();

    expect((await harness.run(id)).outcome?.refused).toMatchObject([
      { what: "pull_request", message: "Slow down." },
    ]);
  });

  test("a cancel stops the retries", async () => {
    changed();
    harness.pullRequests.faults.push(new AppError("resource_unavailable", "Not now."));
    await start();
    const { id } = await harness.create(HOME);
    await quiet();

    await harness.cancel(id);
    await ended(id);

    expect((await harness.run(id)).state).toBe("CANCELLED");
  });

  test("a pull request whose thread is bound to another run leaves the thread to that run", async () => {
    changed();
    await start();
    const thread = {
      id: newId(harness.clock.now()),
      adapter: "memory",
      installation: "here",
      key: "pull-1" as ThreadKey,
    };
    const creator = await harness.person();
    const request = { prompt: "Other", source: "API", creator } as const;
    const other = await harness.runs.create(request, { binding: { thread, expected: undefined } });

    const id = await perform();

    expect(await pullsOf(id)).toHaveLength(1);
    expect(await harness.storage.threads.find(thread)).toMatchObject({ runId: other.id });
  });
});

describe("a branch that the agent pushed itself", () => {
  test("a branch that the agent pushed is not pushed again, and its missing pull request is opened", async () => {
    changed();
    harness.agents.scripts.push(pushes("feature-x"));
    await start();

    const id = await perform();

    expect(harness.changes.pushes).toEqual([]);
    expect(await pullsOf(id)).toMatchObject([{ branch: "feature-x" }]);
    expect((await harness.run(id)).statusMessage?.message).toContain("/pull/1");
  });

  test("a branch that the agent pushed keeps its existing pull request", async () => {
    const { url } = harness.pullRequests.openedByOther(REPOSITORY, "feature-x");
    harness.agents.scripts.push(pushes("feature-x"));
    await start("off");

    const id = await perform(await inAnEnvironment());

    expect(await pullsOf(id)).toEqual([{ type: "PULL_REQUEST", url, branch: "feature-x" }]);
    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("a pull request of a branch that the agent pushes again is brought up to date, and no second one is opened", async () => {
    changed();
    harness.agents.scripts.push(pushes("feature-x"), pushes("feature-x"));
    await start();
    const id = await perform();

    await harness.followUp(id, "more");
    await ended(id);

    const { drafts, updates } = harness.pullRequests;
    expect(drafts).toHaveLength(1);
    expect(updates).toEqual([expect.objectContaining({ branch: "feature-x", title: "Parser breaks" })]);
    expect(await pullsOf(id)).toHaveLength(1);
  });

  test("the agent may push to the branch of the pull request in which the run was requested", async () => {
    harness.pullRequests.openedByOther(REPOSITORY, "feature");
    harness.agents.scripts.push(pushes("feature"));
    await start();

    const id = await perform({ ...HOME, provenance: { ...HOME.provenance, head: { branch: "feature" } } });

    expect(await pullsOf(id)).toHaveLength(1);
    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("a branch pushed in an earlier turn is complete if the next turn changes nothing", async () => {
    changed();
    harness.agents.scripts.push(pushes("feature-x"));
    await start();
    const id = await perform();
    harness.changes.sinceSnapshot.clear();

    await harness.followUp(id, "What did you do?");
    await ended(id);

    expect(harness.changes.pushes).toEqual([]);
  });

  test("a branch pushed in an earlier turn does not keep later work from being pushed", async () => {
    changed();
    harness.agents.scripts.push(pushes("feature-x"));
    await start();
    const id = await perform();

    await harness.followUp(id, "more");
    await ended(id);

    expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual([branchOf(id)]);
  });
});

describe("a worker that is lost while it publishes the work", () => {
  test.each<[string, () => void]>([
    ["while it pushes", () => harness.changes.pushGates.push(new Promise(() => undefined))],
    ["between push and pull request", () => harness.pullRequests.gates.push(new Promise(() => undefined))],
    [
      "after the pull request was opened",
      () => harness.pullRequests.openedGates.push(new Promise(() => undefined)),
    ],
  ])("a worker that is lost %s is followed by one that uses the same branch", async (_what, hang) => {
    changed();
    hang();
    const { id } = await harness.create(HOME);
    // This worker receives no notifications and its time stands still.
    const { clock, pubsub } = new CoreHarness();
    void harness.worker({ clock, pubsub }).work(id, new AbortController().signal);
    await waitFor(() => harness.changes.pushes.length === 1, { what: "the push", everyMs: 2 });
    await quiet();
    await harness.clock.advance(2 * LEASE_MS);
    await harness.lostRuns().recover(id);

    await start();
    await ended(id);

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
    expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual([branchOf(id), branchOf(id)]);
    expect(harness.pullRequests.count).toBe(1);
    expect(await pullsOf(id)).toHaveLength(1);
  });
});

test.each([
  ["Fixes #12 for @ada", "Fixes no. 12 for ada"],
  ["closes https://forge.example/a/b/issues/3 now", "closes  now"],
  ["GH-7\n\u202eevil\u0007", "no. 7 evil"],
  ["", "Work of run 1"],
])("the title %j mentions and closes nothing", (title, expected) => {
  expect(harmlessTitle({ title, id: "1" as RunId })).toBe(expected);
});

test("an endless title is cut", () => {
  expect(harmlessTitle({ title: "😀".repeat(300), id: "1" as RunId })).toBe(`${"😀".repeat(120)}…`);
});

test("a cancelled turn pushes nothing", async () => {
  changed();
  harness.agents.scripts.push(untilCancelled);
  await start();
  const { id } = await harness.create(HOME);
  await quiet();
  await harness.cancel(id);
  await ended(id);

  expect(harness.changes.pushes).toEqual([]);
});

test("the threads of a run whose push was refused say so in card, answer and reaction", async () => {
  changed();
  harness.agents.scripts.push(async () => {
    harness.gateways.last.refuse({ ...REPOSITORY, message: "GH006: Protected branch update failed." });
    return END_TURN;
  });
  harness.changes.pushFaults.push(new AppError("operation_not_supported", "Not pushed."));
  await start();
  const key = "issue-5" as ThreadKey;
  const thread = { id: newId(harness.clock.now()), adapter: "memory", installation: "here", key };
  const creator = await harness.person();
  const provenance = { ...HOME.provenance, message_ref: "message-1" };
  const request = { ...HOME, prompt: "Fix it", source: "API", creator, provenance } as const;
  const { id } = await harness.runs.create(request, { binding: { thread, expected: undefined } });

  await ended(id);

  const shown = harness.adapter.thread(key).map(({ notice }) => notice);
  const said = expect.stringMatching(
    /^Done, but not pushed\.\nforge\.example: GH006: Protected branch update failed\.\nChange the rules/,
  );
  expect(shown).toContainEqual(
    expect.objectContaining({
      kind: "card",
      card: expect.objectContaining({ shortfall: "Done, but not pushed", message: said }),
    }),
  );
  expect(shown).toContainEqual(expect.objectContaining({ purpose: "answer", unpushed: { words: said } }));
  expect(shown).toContainEqual(expect.objectContaining({ kind: "ended", end: "done", isIncomplete: true }));
});
