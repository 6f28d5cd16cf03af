import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { InboundMessage, WorkReport } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { asRecord } from "../../../support/json.ts";
import { adapterOn, inboundMessageOf, storedEvent } from "./github-fixture.ts";

const PATH = ".github/errand.yml";
const READS = /\/contents\//;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let message: InboundMessage;
let nowMs = Date.now();

beforeEach(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github, { now: () => nowMs });
  const { number } = await github.openIssue("olivia", { title: "Broken", body: "" });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", number, "@errand go"));
});

afterEach(() => github.stop());

async function modelNow(): Promise<string | undefined> {
  return (await adapted.adapter.settingsOf?.(message))?.config.model_id;
}

test("the file of the default branch is read once a minute", async () => {
  await github.commitFile(PATH, "model: one\n");
  expect(await modelNow()).toBe("one");
  await github.commitFile(PATH, "model: two\n");
  expect(await modelNow()).toBe("one");
  expect(github.calls("GET", READS)).toHaveLength(1);

  nowMs += 60_001;

  expect(await modelNow()).toBe("two");
  expect(github.calls("GET", READS).map(({ path }) => path)).toEqual(
    Array(2).fill("/repos/acme/widgets/contents/.github/errand.yml"),
  );
});

test("a push to the default branch is seen at once, and one to another branch costs no call", async () => {
  await github.commitFile(PATH, "model: one\n");
  await modelNow();
  const { event, payload } = await github.commitFile(PATH, "model: two\n");
  const pushed = (ref: string) =>
    adapted.adapter.translate(storedEvent({ event, id: 1, number: 1, payload: { ...payload, ref } }));

  await pushed("refs/heads/other");
  expect(await modelNow()).toBe("one");
  await pushed("refs/heads/main");

  expect(await modelNow()).toBe("two");
});

test("a repository without the file says nothing, and is not asked again within a minute", async () => {
  expect(await adapted.adapter.settingsOf?.(message)).toBeUndefined();
  expect(await adapted.adapter.settingsOf?.(message)).toBeUndefined();

  expect(github.calls("GET", READS)).toHaveLength(1);
});

test("an answer that is missing now is an error, and is not kept", async () => {
  await github.commitFile(PATH, "model: one\n");
  github.faults.next({ method: "GET", path: READS, kind: "502" });

  await expect(modelNow()).rejects.toMatchObject({ retryable: true });

  expect(await modelNow()).toBe("one");
});

test("an App that may not read files works without them", async () => {
  const words = "Resource not accessible by integration";
  github.faults.next({ method: "GET", path: READS, kind: "refused", status: 403, message: words });

  expect(await adapted.adapter.settingsOf?.(message)).toBeUndefined();
});

test("after a rename of the repository its own file is read", async () => {
  await github.commitFile(PATH, "model: one\n");
  github.renameRepository("gadgets");

  expect(await modelNow()).toBe("one");
});

test.each([
  ["a folder", `${PATH}/README.md`, "x", "is no file."],
  ["too large", PATH, `# ${"x".repeat(64 * 1024)}`, "is larger than 64 KiB."],
])("nothing is done where the file is %s", async (_what, path, text, words) => {
  await github.commitFile(path, text);

  expect((await adapted.adapter.settingsOf?.(message))?.unreadable).toBe(`\`${PATH}\` ${words}`);
});

test("the server publishes the schema of the file", async () => {
  const server = Fastify();
  await server.register(adapted.routes);

  const answer = await server.inject({ method: "GET", url: "/schemas/errand.yml.json" });

  expect(answer.headers["content-type"]).toBe("application/schema+json; charset=utf-8");
  expect(answer.json()).toMatchObject({ additionalProperties: false, properties: { triggers: {} } });
  await server.close();
});

describe("the branch of a closed pull request", () => {
  const run = { id: "0197f3a2-0000-7000-8000-0000000000a1" as RunId, title: "Fix it" };
  const OWN = "errand/0000000000a1-fix-it";

  async function closedPull(branch = OWN): Promise<{ readonly report: WorkReport; readonly head: string }> {
    const opened = await github.openPullRequest("wendy", { title: "Fix it", body: "", branch });
    const head = asRecord(asRecord(opened.payload.pull_request).head);
    await github.endPullRequest(opened.number, "closed");
    const findings = {
      repository: { id: github.repo.id, full_name: github.repo.fullName },
      number: opened.number,
    };
    const address = { adapter: "github", installation: message.installation, key: message.key };
    return { report: { ...address, findings }, head: String(head.sha) };
  }

  async function remove(report: WorkReport, commit: string, branch = OWN): Promise<readonly string[]> {
    const { name, owner } = github.repo;
    await adapted.adapter.removeBranch?.(report, run, { owner, name, branch, commit });
    return github.calls("DELETE").map(({ outcome, path }) => `${outcome} ${decodeURIComponent(path)}`);
  }

  test("is deleted if the file wants it, once", async () => {
    await github.commitFile(PATH, "pull_request:\n  delete_branch: true\n");
    const { head, report } = await closedPull();

    const deleted = [`204 /repos/acme/widgets/git/refs/heads/${OWN}`];
    expect(await remove(report, head)).toEqual(deleted);
    expect(await remove(report, head), "it is gone").toEqual(deleted);
  });

  test("stays if the file does not want it", async () => {
    const { head, report } = await closedPull();

    expect(await remove(report, head)).toEqual([]);
  });

  test("stays if its head is not the last push of the run", async () => {
    await github.commitFile(PATH, "pull_request:\n  delete_branch: true\n");
    const { report } = await closedPull();

    expect(await remove(report, "0".repeat(40))).toEqual([]);
  });

  test("stays if Errand did not make it for the run", async () => {
    await github.commitFile(PATH, "pull_request:\n  delete_branch: true\n");
    const { head, report } = await closedPull("feature");

    expect(await remove(report, head, "feature")).toEqual([]);
    expect(await remove(report, head, "errand/0000000000b2-fix-it")).toEqual([]);
  });

  test("stays while another pull request is from it", async () => {
    await github.commitFile(PATH, "pull_request:\n  delete_branch: true\n");
    const { head, report } = await closedPull();
    await github.openPullRequest("wendy", { title: "Again", body: "", branch: OWN });

    expect(await remove(report, head)).toEqual([]);
  });
});
