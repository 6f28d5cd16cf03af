import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { RunCheck } from "../../../../src/core/model/threads/notice.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { asRecord, type JsonRecord } from "../../../support/json.ts";
import { adapterOn, inboundMessageOf, storedEvent } from "./github-fixture.ts";

const RUN = "01900000-0000-7000-8000-000000000001" as RunId;
const SESSION = "https://errand.example/sessions/1";
const CHECKS = /\/check-runs/;
const NEXT_HEAD = "b".repeat(40);

let github: EmulatedGithub;
let adapted: GithubAdapter;
let pull: Written;
let message: InboundMessage;
let earlier: number;

beforeAll(async () => {
  github = await startEmulatedGithub({ writesChecks: true });
  adapted = adapterOn(github);
});

beforeEach(async () => {
  github.faults.clear();
  pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: `feature-${Math.random()}` });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", pull.number, "@errand fix it"));
  earlier = github.checkRuns.length;
});

afterAll(() => github.stop());

function aDelivery(check: Partial<RunCheck> = {}, overrides: Partial<Delivery> = {}): Delivery {
  const { installation, key } = message;
  const thread = { id: "thread-1", installation, key };
  const shown = { runId: RUN, state: "INPROGRESS", sessionLink: SESSION, ...check } as const;
  return {
    id: "delivery-1",
    thread,
    notice: { kind: "check", check: shown },
    maybeShown: false,
    ...overrides,
  };
}

function shownNow(): readonly JsonRecord[] {
  return github.checkRuns.slice(earlier);
}

function head(written: Written): unknown {
  return asRecord(asRecord(written.payload.pull_request).head).sha;
}

describe("the check of a run", () => {
  test("a run that works is a check of the newest commit with a button that stops it", async () => {
    await adapted.adapter.deliver(aDelivery());

    expect(shownNow()).toMatchObject([
      {
        ...{ name: "Errand", head_sha: head(pull), details_url: SESSION, status: "in_progress" },
        output: { title: "Working", summary: `[Session](${SESSION})` },
        actions: [{ identifier: "stop" }],
      },
    ]);
  });

  test.each([
    [{ state: "SUCCEEDED" }, "success", "Succeeded"],
    [{ state: "SUCCEEDED", shortfall: "Done, but not pushed" }, "neutral", "Done, but not pushed"],
    [{ state: "FAILED", message: "It broke." }, "neutral", "Failed"],
    [{ state: "ERROR", message: "Ours." }, "neutral", "Error"],
    [{ state: "CANCELLED" }, "neutral", "Cancelled"],
  ] as const)("a run that ended as %j is %s, and never a failure", async (ended, conclusion, title) => {
    const shownAt = await adapted.adapter.deliver(aDelivery());
    await adapted.adapter.deliver(aDelivery(ended, { shownAt }));

    const [check, ...others] = shownNow();
    expect(others).toEqual([]);
    expect(check).toMatchObject({ status: "completed", conclusion, output: { title }, actions: [] });
    expect(JSON.stringify(check?.output)).toContain("message" in ended ? ended.message : "Session");
  });

  test("a question, an approval and a pause keep the check open, which says what it waits for", async () => {
    const shownAt = await adapted.adapter.deliver(aDelivery({ state: "BLOCKED" }));
    expect(shownNow()).toMatchObject([{ status: "in_progress", output: { title: "Waiting for an answer" } }]);

    await adapted.adapter.deliver(aDelivery({ state: "BLOCKED", isUnapproved: true }, { shownAt }));
    expect(shownNow()).toMatchObject([{ status: "in_progress", output: { title: "Waiting for approval" } }]);

    await adapted.adapter.deliver(aDelivery({ state: "BLOCKED", isPaused: true }, { shownAt }));
    expect(shownNow()).toMatchObject([{ status: "in_progress", output: { title: "Paused" } }]);
  });

  test("after a push the check is on the new commit, and that of the former one ends", async () => {
    const shownAt = await adapted.adapter.deliver(aDelivery());
    github.moveHead(pull.number, NEXT_HEAD);

    const next = await adapted.adapter.deliver(aDelivery({ state: "SUCCEEDED" }, { shownAt }));
    await adapted.adapter.deliver(aDelivery({ state: "SUCCEEDED", canRepair: true }, { shownAt: next }));

    expect(shownNow()).toMatchObject([
      { head_sha: head(pull), status: "completed", conclusion: "neutral", output: { title: "Superseded" } },
      { head_sha: NEXT_HEAD, conclusion: "success", actions: [{ identifier: "fix" }] },
    ]);
  });

  test("a check whose first answer was lost is not made twice", async () => {
    github.faults.next({ method: "POST", path: CHECKS, kind: "drop-after-write" });
    const delivery = aDelivery();
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

    await adapted.adapter.deliver({ ...delivery, maybeShown: true });

    expect(shownNow()).toHaveLength(1);
  });

  test.each([403, 404, 422])("a check that GitHub answers %i is left out", async (status) => {
    github.faults.next({ method: "POST", path: CHECKS, kind: "refused", status, message: "No." });

    const shownAt = await adapted.adapter.deliver(aDelivery());
    expect(shownNow()).toEqual([]);

    await adapted.adapter.deliver(aDelivery({ state: "SUCCEEDED" }, { shownAt }));
    expect(shownNow()).toHaveLength(1);
  });

  test("without the permission, no call is made, and the check counts for no limit", async () => {
    const other = await startEmulatedGithub();
    const { adapter } = adapterOn(other);
    const opened = await other.openPullRequest("wendy", { title: "P", body: "", branch: "feature" });
    const { installation, key } = await inboundMessageOf(
      adapterOn(other),
      await other.commentAs("wendy", opened.number, "@errand fix it"),
    );
    const delivery = aDelivery({}, { thread: { id: "thread-1", installation, key } });

    await adapter.deliver(delivery);

    expect(other.calls().map(({ path }) => path)).not.toContainEqual(
      expect.stringMatching(/\/(pulls|check-runs)/),
    );
    expect(adapter.traits.writesOf?.(delivery.notice, installation)).toBe(0);
    await other.stop();
  });

  test("only pull requests get the check: the one of the request, and those that a run opened", async () => {
    const issue = await github.openIssue("wendy", { title: "T", body: "@errand go" });
    const ofIssue = await inboundMessageOf(adapted, issue);
    const shows = adapted.adapter.traits.showsCheckIn;

    expect(shows?.(message.key, message.provenance)).toBe(true);
    expect(shows?.(ofIssue.key, ofIssue.provenance)).toBe(false);
    expect(shows?.(message.key, ofIssue.provenance)).toBe(true);
    expect(shows?.(message.key, undefined)).toBe(true);
  });
});

describe("Errand's own check", () => {
  test("it is none of the checks of the commit", async () => {
    const repository = await adapted.openPullRequests({ owner: github.repo.owner, name: github.repo.name });
    await adapted.adapter.deliver(aDelivery());
    await github.failChecks(pull.number, ["build"]);

    const { checks } = (await repository?.read(pull.number)) ?? {};

    expect(checks?.map(({ name }) => name)).toEqual(["build"]);
  });

  test("the event about its suite is ignored", async () => {
    const { event, payload } = await github.endSuite(pull.number, "success");
    const suite = { ...asRecord(payload.check_suite), app: { id: github.app.id } };

    const translation = await adapted.adapter.translate(
      storedEvent({ ...pull, event, payload: { ...payload, check_suite: suite } }),
    );

    expect(translation).toEqual({ kind: "ignored", reason: "It is Errand's own check." });
  });
});

describe("a button of the check", () => {
  const pressed = async (identifier: "stop" | "fix", check: Partial<RunCheck>) => {
    const receipt = await adapted.adapter.deliver(aDelivery(check));
    return github.pressAs("wendy", JSON.parse(receipt).id, identifier);
  };

  test("Stop is a cancellation by the person who pressed it, in the conversation of the pull request", async () => {
    const event = await pressed("stop", {});

    const { author, buttonAction, key, place, ...stopped } = await inboundMessageOf(adapted, {
      ...pull,
      ...event,
    });

    expect({ buttonAction, key, place }).toEqual({
      buttonAction: { kind: "cancel", runId: RUN },
      key: message.key,
      place: github.repo.fullName,
    });
    expect(author).toEqual({ subject: `github:${github.writer.id}`, displayName: "wendy" });
    expect(await adapted.adapter.authorize({ ...stopped, author, key })).toMatchObject({ roles: ["write"] });
  });

  test("Fix is a message of that person, once for each state of the check", async () => {
    const event = await pressed("fix", { state: "SUCCEEDED", canRepair: true });

    const fix = await inboundMessageOf(adapted, { ...pull, ...event });
    const again = await inboundMessageOf(adapted, { ...pull, ...event });

    expect(fix).toMatchObject({ text: expect.stringContaining("repair"), addressed: "mention" });
    expect(fix).not.toHaveProperty("buttonAction");
    expect(again.dedupeKey).toBe(fix.dedupeKey);
  });

  test.each([
    ["another App's check", { app: { id: 1 } }],
    ["a check that names no run", { external_id: "build/1" }],
    ["a check without an id", { external_id: null }],
  ])("a button of %s means nothing", async (_whose, changes) => {
    const { event, payload } = await pressed("stop", {});
    const check_run = { ...asRecord(payload.check_run), ...changes };

    const translation = await adapted.adapter.translate(
      storedEvent({ ...pull, event, payload: { ...payload, check_run } }),
    );

    expect(translation.kind).toBe("ignored");
  });
});
