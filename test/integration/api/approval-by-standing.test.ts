import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ThreadKey } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../support/emulated-github.ts";
import { aThread } from "../../support/run-builders.ts";
import { adapterOn } from "../adapters/github/github-fixture.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const POLICIES = "/api/v1/agent/policies";

let github: EmulatedGithub;
let harness: ApiHarness;
let ann: string;
beforeAll(async () => {
  github = await startEmulatedGithub();
  harness = await startHarness({ adapters: new Map([["github", adapterOn(github).adapter]]) });
  ann = await harness.addUser("ann");
});
afterAll(async () => {
  await harness?.close();
  await github?.stop();
});
beforeEach(async () => {
  github.setPermission("wendy", "write");
  harness.clock.aheadMs += 60_000;
  for (const { builtin, id } of (await call(harness, POLICIES)).body.policies) {
    if (builtin !== true) {
      await call(harness, `${POLICIES}/${id}`, { method: "DELETE" });
    }
  }
  const body = { name: "All wait", effect: "require_approval", match: { actions: ["create"] } };
  await call(harness, POLICIES, { body });
});

/** A run that waits for approval, in a thread of GitHub. */
async function aWaitingRun(): Promise<string> {
  const runId = await createRun(harness, { prompt: "Fix it" }, { key: ann });
  const address = { adapter: "github", installation: String(github.app.installationId) };
  const key = `${github.repo.id}/issues/${Math.floor(Math.random() * 1e9)}` as ThreadKey;
  const thread = aThread({ ...address, key });
  await harness.edit(runId, (edit) => edit.bind({ thread, expected: undefined }));
  return runId;
}

interface Person {
  readonly key: string;
  readonly cookie: string;
}

/** A member with an account of GitHub, who signed in to the pages by this method. */
async function signedIn(login: "wendy" | "rob", method: string): Promise<Person> {
  const key = await harness.addUser(`${login} ${method} ${Math.random()}`);
  const { uid } = (await call(harness, "/api/v1/agent/whoami", { key })).body.principal;
  const { id } = login === "wendy" ? github.writer : github.reader;
  await harness.storage.identities.link(FIRST_TEAM, `github:${id}`, uid);
  const { headers } = await call(harness, "/signin", { body: { key, next: "/" }, key: null });
  const options = { applicationName: "test", queryLimitMs: 5_000 };
  await withConnection(harness.databaseUrl, options, (client) =>
    client.query("UPDATE sign_ins SET method = $1 WHERE principal_id = $2", [method, uid]),
  );
  return { key, cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}

async function approve(runId: string, as: Person | { readonly key: string }): Promise<Answer> {
  const { inputs_hash } = (await call(harness, `${RUNS}/${runId}`)).body.approval;
  const body = { approve: true, inputs_hash };
  const page = "cookie" in as ? { key: null, headers: { cookie: as.cookie, origin: PUBLIC_URL } } : as;
  const answer = await call(harness, `${RUNS}/${runId}/approval`, { body, ...page });
  expect(answer.text).not.toContain("own pages");
  return answer;
}

async function mayDecide(runId: string, { cookie }: Person): Promise<boolean> {
  const answer = await call(harness, `${RUNS}/${runId}`, { key: null, headers: { cookie } });
  return answer.body.waiting_for.may_decide;
}

test("a person who can push approves on the page, signed in with that account, and the audit says why", async () => {
  const [runId, wendy] = [await aWaitingRun(), await signedIn("wendy", "github")];
  expect(await mayDecide(runId, wendy)).toBe(true);

  const answer = await approve(runId, wendy);

  expect([answer.status, answer.body.state], answer.text).toEqual([200, "QUEUED"]);
  const { entries } = (await call(harness, "/api/v1/agent/audit?action=approval.approved")).body;
  const entry = entries.find(({ target }: { target: { id: string } }) => target.id === runId);
  expect(entry.after.approval.decided_as).toBe(`write in ${github.repo.fullName}`);
  expect(entry.actor.uid).toBe(entry.after.approval.decided_by);
});

test("a person who can only read, another way to sign in, and a key approve nothing", async () => {
  const runId = await aWaitingRun();
  const [rob, byKey] = [await signedIn("rob", "github"), await signedIn("wendy", "api_key")];

  const answers = [
    await approve(runId, rob),
    await approve(runId, byKey),
    await approve(runId, { key: byKey.key }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect([await mayDecide(runId, rob), await mayDecide(runId, byKey)]).toEqual([false, false]);
});

test("a permission that was taken away ends within half a minute, and a silent platform allows nothing", async () => {
  const [runId, wendy] = [await aWaitingRun(), await signedIn("wendy", "github")];
  expect(await mayDecide(runId, wendy)).toBe(true);
  github.setPermission("wendy", "read");
  harness.clock.aheadMs += 31_000;

  expect((await approve(runId, wendy)).status).toBe(403);
  harness.clock.aheadMs += 31_000;
  github.faults.until({ method: "GET", path: /\/user\/\d+$/, kind: "502" });

  const answer = await approve(runId, wendy);
  github.faults.clear();
  expect([answer.status, answer.body.retryable], answer.text).toEqual([503, true]);
});

test("a person who can push approves nothing that this person wrote, and nothing that a policy of the team denies", async () => {
  const wendy = await signedIn("wendy", "github");
  const [runId, own] = [await aWaitingRun(), await aWaitingRun()];
  await call(harness, `${RUNS}/${own}/followups`, { body: { message: "And this" }, key: wendy.key });
  expect((await approve(own, wendy)).status).toBe(403);
  const match = { actions: ["approve"], places: [github.repo.fullName] };
  await call(harness, POLICIES, { body: { name: "Not here", effect: "deny", match } });

  expect((await approve(runId, wendy)).status).toBe(403);
});

test("a run in no thread of the platform asks the platform nothing", async () => {
  const wendy = await signedIn("wendy", "github");
  const runId = await createRun(harness, { prompt: "Fix it" }, { key: ann });
  const before = github.calls().length;

  expect((await approve(runId, wendy)).status).toBe(403);

  expect(github.calls().slice(before)).toEqual([]);
});
