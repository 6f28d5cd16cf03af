import { beforeEach, describe, expect, test } from "vitest";
import { NoticeWriter } from "../../../../../src/core/runs/notice-writer.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { waitFor } from "../../../../support/wait-for.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const WIDGETS = { owner: "acme", name: "widgets" };

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK", proposesChanges: true };
  harness.adapter.roles.set("memory:Ada", ["member"]);
  await harness.start();
  await harness.storage.environments.add(anEnvironment("web", "acme/widgets"));
  harness.changes.sinceSnapshot.set("acme/widgets", "diff");
  harness.changes.sinceClone.set("acme/widgets", "diff");
});

/** Returns the disposition, once the run has ended. */
async function ask(text: string): Promise<string> {
  const disposition = await harness.receive({ text });
  const isFree = async () => {
    const { lease, state } = await harness.currentRun();
    return lease === undefined && state === "SUCCEEDED";
  };
  if (disposition === "run_created") {
    await waitFor(isFree, { what: "the run to be free", everyMs: 2 });
  }
  return disposition;
}

/** What the first card of the run says about its changes. */
async function announced() {
  const { pullRequest: _none, ...run } = await harness.currentRun();
  const writer = new NoticeWriter(() => "http://here", new Map());
  return writer.card({ ...run, state: "QUEUED" }, new Date(0)).workspace?.changes;
}

/** What the answers say about changes. */
function landed() {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.flatMap((notice) =>
    notice.kind === "message" && notice.purpose === "answer" ? [notice.landed] : [],
  );
}

describe("what becomes of the changes of a request in a chat", () => {
  test("a request makes a draft pull request, and its first card says so", async () => {
    await ask("env=web Fix it");

    expect(harness.pullRequests.drafts).toMatchObject([{ repository: WIDGETS, isDraft: true }]);
    expect(await announced()).toBe("draft");
    expect((await harness.currentRun()).provenance.config_layers?.pull_request).toBe("default");
  });

  test("the answer says what changed and where it is", async () => {
    await ask("env=web Fix it");
    await ask("new env=web pr=off Fix it");

    expect(landed()).toEqual([
      [
        expect.objectContaining({
          repository: "acme/widgets",
          isDraft: true,
          pullRequest: expect.any(String),
        }),
      ],
      [{ repository: "acme/widgets", files: 1, additions: 1, deletions: 0 }],
    ]);
  });

  test("a request that changed nothing makes none", async () => {
    harness.changes.sinceSnapshot.clear();
    harness.changes.sinceClone.clear();

    await ask("env=web Look at it");

    expect(harness.pullRequests.drafts).toEqual([]);
    expect(landed()).toEqual([undefined]);
  });

  test("the request decides first", async () => {
    await ask("env=web pr=off Fix it");
    expect(harness.pullRequests.drafts).toEqual([]);
    expect(await announced()).toBeUndefined();

    await ask("new env=web pr=ready Fix it");
    expect(harness.pullRequests.drafts).toMatchObject([{ isDraft: false }]);
  });

  test("an environment turns it off", async () => {
    const web = anEnvironment("quiet", "acme/widgets");
    await harness.storage.environments.add({
      ...web,
      config: { ...web.config, name: "Quiet", pullRequest: "off" },
    });

    await ask("env=quiet Fix it");

    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("without credentials there is none, and nothing is refused", async () => {
    harness.pullRequests.isClosed = true;

    expect(await ask("env=web Fix it")).toBe("run_created");

    expect(harness.pullRequests.drafts).toEqual([]);
    expect((await harness.currentRun()).outcome?.refused).toBeUndefined();
  });

  test("a pull request that the request asks for and that is impossible is answered", async () => {
    harness.pullRequests.isClosed = true;

    expect(await ask("env=web pr=draft Fix it")).toBe("replied");

    expect(harness.repliesShown()).toEqual([expect.stringMatching(/no credentials.*acme\/widgets/)]);
  });

  test("a request of a bot makes none", async () => {
    harness.adapter.roles.set("memory:Ada", ["member", "bot"]);

    await ask("env=web Fix it");

    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("a request in an empty workspace has no setting", async () => {
    await ask("env=none Fix it");

    expect((await harness.currentRun()).config).not.toHaveProperty("pull_request");
  });
});
