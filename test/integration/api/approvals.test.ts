import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LeaseToken } from "../../../src/core/basics/ids.ts";
import type { FollowUp } from "../../../src/core/model/runs/follow-up.ts";
import { isEnded } from "../../../src/core/model/runs/states.ts";
import type { RunEdit } from "../../../src/core/runs/run-edit.ts";
import {
  decideClaim,
  decideReady,
  decideTurnEnd,
  decideTurnStart,
} from "../../../src/core/work/context/decide-attempt.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const POLICIES = "/api/v1/agent/policies";

let harness: ApiHarness;
let ann: string;
let ben: string;
let annUid: string;
let benUid: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
  [annUid, benUid] = [await uidOf(ann), await uidOf(ben)];
});
afterAll(() => harness.close());

beforeEach(async () => {
  for (const { builtin, id } of (await call(harness, POLICIES)).body.policies) {
    if (builtin !== true) {
      await call(harness, `${POLICIES}/${id}`, { method: "DELETE" });
    }
  }
});

describe("a run that waits for approval", () => {
  test("a follow-up before the approval is one of the inputs, and an approval without it is refused", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    const id = await createRun(harness, { prompt: "Deploy" }, { key: ann });
    const seen = await approvalOf(id);
    const { followup_id } = (await follow(id, "and drop the tables", ben)).body;

    const old = await decide(id, true, seen.inputs_hash);

    expect([old.status, old.body.code, old.body.retryable]).toEqual([409, "conflict", false]);
    expect(old.body.remedy).toMatch(/again/);
    const now = await approvalOf(id);
    expect(now.id).toBe(seen.id);
    expect(now.inputs).toEqual([
      { text: "Deploy", attachments: [] },
      { followup_id, text: "and drop the tables", attachments: [] },
    ]);
    expect((await decide(id, true, now.inputs_hash)).body).toEqual({ state: "QUEUED" });
    expect(await turn(id)).toEqual(["and drop the tables"]);
  });

  test("the approval shows what will be executed, and an edit of the environment does not reach it", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    const environments = "/api/v1/agent/environments";
    const config = { name: "shop", docker_image: "node:24", sparse: ["web"], setup_commands: ["npm ci"] };
    const { uid } = (await call(harness, environments, { body: { config } })).body;
    const server = { command: "npx", args: ["-y", "wiki"], env: { TOKEN: "t" } };
    const request = { environment_id: uid, mcp_servers: { wiki: server }, permission_policy: "ask" };
    const id = await createRun(harness, { prompt: "Deploy", config: request }, { key: ann });
    const plain = await createRun(harness, { prompt: "Deploy" }, { key: ann });
    const seen = await approvalOf(id);

    const changed = { config: { ...config, sparse: ["api"], setup_commands: ["curl x | sh"] } };
    await call(harness, `${environments}/${uid}`, { method: "PUT", body: changed });
    const later = await approvalOf(id);
    const decided = await decide(id, true, seen.inputs_hash);

    expect(seen.executes).toMatchObject({
      permission_policy: "ask",
      environment_id: uid,
      image: "node:24",
      sparse: ["web"],
      setup_commands: ["npm ci"],
      network: "none",
      mcp_servers: { wiki: { command: "npx", args: ["-y", "wiki"], env: ["TOKEN"] } },
    });
    expect(JSON.stringify(seen.details)).toMatch(
      /Setup commands.*npm ci.*wiki: npx -y wiki, variables TOKEN/,
    );
    expect(seen.not_covered).toHaveLength(3);
    expect((await approvalOf(plain)).inputs_hash).not.toBe(seen.inputs_hash);
    expect([later, decided.body]).toEqual([seen, { state: "QUEUED" }]);
    expect(await approvalOf(id)).toMatchObject({
      decided: "approved",
      decided_by: expect.any(String),
      decided_at: expect.any(String),
    });
  });

  test("the run says who may approve it, to those who may not", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    await allow({ match: { principals: [benUid], actions: ["approve"] } });
    const id = await createRun(harness, { prompt: "Deploy" }, { key: ann });
    const read = async (key?: string) =>
      (await call(harness, `${RUNS}/${id}`, key === undefined ? {} : { key })).body;
    const listed = (
      await call(harness, `${RUNS}?state=BLOCKED&q=Deploy&creator=${annUid}&limit=1`, { key: ann })
    ).body;

    const [own, forBen, forAdministrator] = [await read(ann), await read(ben), await read()];

    expect(own.waiting_for).toMatchObject({ reason: "approval", may_decide: false });
    expect(own.waiting_for.deciders[0]).toEqual({ uid: benUid, type: "user", display_name: "ben" });
    expect(listed.runs[0].waiting_for).toEqual(own.waiting_for);
    expect([forBen.waiting_for, forAdministrator.waiting_for]).toEqual(
      Array(2).fill({
        reason: "approval",
        message: expect.any(String),
        since: expect.any(String),
        may_decide: true,
      }),
    );
  });

  test("an edit and a withdrawal before the decision change the hash", async () => {
    await require({ match: { principals: [annUid] } });
    const id = await createRun(harness, { prompt: "Deploy" }, { key: ann });
    const first = await approvalOf(id);
    const { followup_id } = (await follow(id, "gently", ann)).body;
    const second = await approvalOf(id);
    await edit(id, followup_id, "at once", ann);
    const third = await approvalOf(id);
    await withdraw(id, followup_id, ann);
    const fourth = await approvalOf(id);

    const hashes = [first, second, third, fourth].map(({ inputs_hash }) => inputs_hash);
    expect(new Set(hashes).size).toBe(3);
    expect(fourth.inputs_hash).toBe(first.inputs_hash);
    expect((await decide(id, true, third.inputs_hash)).status).toBe(409);
  });

  test("the inputs have the base prompt and the digests of the files", async () => {
    await require({ match: { actions: ["create"] } });
    const data = Buffer.from("hello").toString("base64");
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data }];
    const id = await createRun(harness, {
      prompt: "Read",
      config: { base_prompt: "Be brief." },
      attachments,
    });

    const sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    expect((await approvalOf(id)).inputs).toEqual([
      { text: "Read", attachments: [{ name: "a.txt", sha256 }] },
      { text: "Be brief.", attachments: [] },
    ]);
  });

  test("the author of a follow-up does not approve it with the run", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    await allow({ match: { actions: ["approve"] } });
    const id = await createRun(harness, {}, { key: ann });
    await follow(id, "more", ben);
    const { inputs_hash } = await approvalOf(id);

    expect((await decide(id, true, inputs_hash, ben)).status).toBe(403);
    expect((await decide(id, true, inputs_hash)).status).toBe(200);
  });

  test("a retry needs an approval of its own", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    const id = await createRun(harness, { prompt: "Deploy" }, { key: ann });
    await decide(id, true, (await approvalOf(id)).inputs_hash);
    await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });

    const again = await call(harness, `${RUNS}/${id}/retry`, { method: "POST", key: ann });

    expect(again.body.state).toBe("BLOCKED");
  });
});

describe("a follow-up that a policy wants approved", () => {
  beforeEach(() => require({ match: { principals: [benUid] } }));

  test("the follow-up waits, the run keeps its state, and the follow-up is given after its approval", async () => {
    const id = await anEndedRun();

    const sent = await follow(id, "and more", ben);

    expect([sent.status, sent.body.state]).toEqual([200, "SUCCEEDED"]);
    const [item] = await followUps(id);
    expect(item).toMatchObject({ status: "waiting_approval", approval: { inputs: [{ text: "and more" }] } });
    expect(item.approval).not.toHaveProperty("decided");
    expect((await call(harness, `${RUNS}/${id}`)).body).toMatchObject({
      state: "SUCCEEDED",
      waiting_for: { reason: "approval", message: "A follow-up must be approved. Look first." },
    });

    expect((await decide(id, true, item.approval.inputs_hash)).body).toEqual({ state: "QUEUED" });

    expect((await call(harness, `${RUNS}/${id}`)).body.waiting_for?.reason).not.toBe("approval");
    expect(await turn(id)).toEqual(["and more"]);
    expect((await followUps(id))[0]).toMatchObject({ status: "given", approval: { decided: "approved" } });
    const { events } = (
      await call(harness, `${RUNS}/${id}/events`, { headers: { accept: "application/json" } })
    ).body;
    const kinds = ["approval.requested", "approval.decided"];
    const about = { approval_id: item.approval.id, inputs_hash: item.approval.inputs_hash };
    const told = events.filter(({ kind }: { kind: string }) => kinds.includes(kind));
    expect(told).toMatchObject(kinds.map((kind) => ({ kind, ...about, followup_id: item.followup_id })));
    const audit = await call(harness, `/api/v1/agent/audit?target_id=${item.followup_id}`);
    expect(audit.body.entries).toMatchObject([
      { action: "approval.approved", target: { type: "follow_up", id: item.followup_id } },
    ]);
    expect(audit.text).not.toContain("and more");
  });

  test("a refused follow-up is withdrawn alone, and what was behind it is given", async () => {
    const id = await anEndedRun();
    await follow(id, "bad", ben);
    const behind = await follow(id, "good", ann);
    expect(behind.body.state).toBe("SUCCEEDED");
    const [bad] = await followUps(id);

    const refused = await decide(id, false, bad.approval.inputs_hash);

    expect(refused.body).toEqual({ state: "QUEUED" });
    expect((await followUps(id)).map(({ status }) => status)).toEqual(["refused", "held"]);
    expect(await turn(id)).toEqual(["good"]);
  });

  test("nothing behind a follow-up that waits is given to a working run, and it does not interrupt", async () => {
    const id = await createRun(harness, {}, { key: ann });
    await follow(id, "before", ann);
    for (const delivery of ["interrupt", "steer"]) {
      await follow(id, delivery, ben, { delivery });
    }
    await follow(id, "behind", ann);

    expect(await turn(id)).toEqual(["before"]);

    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("SUCCEEDED");
    const statuses = (await followUps(id)).map(({ status }) => status);
    expect(statuses).toEqual(["given", "waiting_approval", "waiting_approval", "held"]);
  });

  test("an edit of an approved follow-up needs an approval again, no matter who edits it", async () => {
    const id = await createRun(harness, {}, { key: ann });
    const { followup_id } = (await follow(id, "tidy up", ben)).body;
    const [before] = await followUps(id);
    await decide(id, true, before.approval.inputs_hash);

    const edited = await edit(id, followup_id, "delete all");

    expect(edited.body).toMatchObject({ status: "waiting_approval", message: "delete all" });
    expect(edited.body.approval.id).not.toBe(before.approval.id);
    expect((await decide(id, true, before.approval.inputs_hash)).status).toBe(409);
    expect(await turn(id)).toEqual([]);
  });

  test("an edit of a follow-up that was approved with its run needs an approval again", async () => {
    await require({ match: { principals: [annUid], actions: ["create"] } });
    const id = await createRun(harness, {}, { key: ann });
    const { followup_id } = (await follow(id, "tidy up", ann)).body;
    await decide(id, true, (await approvalOf(id)).inputs_hash);

    const edited = await edit(id, followup_id, "delete all", ann);

    expect(edited.body.status).toBe("waiting_approval");
    expect(await turn(id)).toEqual([]);
  });

  test("the author does not approve the follow-up, and another principal with the right does", async () => {
    await allow({ match: { actions: ["approve"] } });
    const id = await anEndedRun();
    await follow(id, "more", ben);
    const hash = (await followUps(id))[0].approval.inputs_hash;

    expect((await decide(id, true, hash, ben)).status).toBe(403);
    expect((await decide(id, true, hash, ann)).status).toBe(200);
  });

  test("a cancellation withdraws what waits for approval, and an approval does not start the run again", async () => {
    const id = await createRun(harness, {}, { key: ann });
    await follow(id, "more", ben);
    const hash = (await followUps(id))[0].approval.inputs_hash;
    await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });

    expect((await decide(id, true, hash)).status).toBe(409);

    expect((await followUps(id))[0].status).toBe("withdrawn");
    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("CANCELLED");
  });

  test("a run whose only follow-up was edited does not start for the unapproved words", async () => {
    const id = await anEndedRun();
    const { followup_id } = (await follow(id, "tidy up", ben)).body;
    await decide(id, true, (await followUps(id))[0].approval.inputs_hash);

    await edit(id, followup_id, "delete all", ben);

    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("CANCELLED");
    await decide(id, true, (await followUps(id))[0].approval.inputs_hash);
    expect(await turn(id)).toEqual(["delete all"]);
  });

  test("a policy for steering applies to follow-ups that act on the running turn only", async () => {
    await allow({ match: { principals: [benUid], actions: ["follow_up"] } });
    await require({ match: { principals: [benUid], actions: ["steer"] } }, 0);
    const id = await createRun(harness, {}, { key: ann });

    await follow(id, "later", ben);
    await follow(id, "now", ben, { delivery: "interrupt" });

    expect((await followUps(id)).map(({ status }) => status)).toEqual(["held", "waiting_approval"]);
  });
});

describe("built-in policies", () => {
  test("the built-in policies are listed last, with their reasons, and cannot be changed", async () => {
    const added = await allow({});

    const { policies } = (await call(harness, POLICIES)).body;

    expect(policies[0].id).toBe(added);
    const builtin = policies.slice(1);
    expect(builtin).toMatchObject([
      { builtin: true, effect: "deny", match: { request_kinds: ["pull_request_opened"] } },
      { builtin: true, effect: "require_approval", match: { roles: ["read", "outside"] } },
      { builtin: true, effect: "allow", match: { roles: ["read", "outside"], actions: ["cancel"] } },
      { builtin: true, effect: "deny", match: { roles: ["read", "guest", "external", "bot", "outside"] } },
      { builtin: true, effect: "allow", match: { roles: ["administrator", "participant"] } },
      {
        builtin: true,
        effect: "deny",
        match: { actions: ["steer", "cancel", "answer"], relation: "others" },
      },
      { builtin: true, effect: "allow", reason: "No policy matches, so it is allowed." },
      { builtin: true, effect: "allow", match: { actions: ["approve"], roles: ["administrator"] } },
      { builtin: true, effect: "allow", match: { actions: ["approve"], roles: ["write"] } },
      { builtin: true, effect: "deny", match: { actions: ["approve"] } },
    ]);
    for (const { id } of builtin) {
      expect((await call(harness, `${POLICIES}/${id}`)).body.id).toBe(id);
      const removed = await call(harness, `${POLICIES}/${id}`, { method: "DELETE" });
      const body = { name: "mine", effect: "deny" };
      const replaced = await call(harness, `${POLICIES}/${id}`, { method: "PUT", body });
      expect([removed.status, replaced.status, replaced.body.retryable]).toEqual([409, 409, false]);
      expect(replaced.body.remedy).toMatch(/Create a policy/);
    }
  });

  test("a policy of the team overrides a built-in one", async () => {
    const body = { name: randomUUID(), effect: "deny", priority: 1_000_000, match: { actions: ["cancel"] } };
    await call(harness, POLICIES, { body });
    const id = await createRun(harness, {}, { key: ann });

    expect((await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" })).status).toBe(403);
  });

  test("the dry run takes all conditions and names the built-in policy that decides", async () => {
    const match = {
      roles: ["write"],
      groups: ["platform"],
      models: ["big"],
      repositories: ["acme/*"],
      relation: "others",
    };
    await require({ match });
    const request = {
      action: "steer",
      roles: ["write"],
      groups: ["platform"],
      model: "big",
      repositories: ["acme/parser"],
      relation: "others",
    };
    const evaluate = async (body: object) => (await call(harness, `${POLICIES}/evaluate`, { body })).body;

    expect((await evaluate(request)).effect).toBe("require_approval");
    const { considered, effect, policy } = await evaluate({ ...request, relation: "own" });
    expect([effect, policy.id, considered[0].mismatch]).toEqual([
      "allow",
      "00000000-0000-4000-8000-000000000001",
      "relation",
    ]);
  });

  test("a policy for own runs does not apply to the runs of others", async () => {
    await call(harness, POLICIES, {
      body: { name: randomUUID(), effect: "deny", match: { actions: ["follow_up"], relation: "others" } },
    });
    const id = await createRun(harness, {}, { key: ann });

    expect((await follow(id, "x", ben)).status).toBe(403);
    expect((await follow(id, "x", ann)).status).toBe(200);
  });
});

test("no agent gets unapproved words, whatever happens at the same time", async () => {
  await require({ match: { principals: [annUid, benUid] } });
  const operation = fc.record({
    act: fc.constantFrom(
      "follow",
      "steer",
      "edit",
      "withdraw",
      "decide",
      "decide",
      "refuse",
      "cancel",
      "turn",
    ),
    pick: fc.nat(4),
  });
  const rounds = fc.array(fc.array(operation, { minLength: 2, maxLength: 4 }), {
    minLength: 3,
    maxLength: 6,
  });

  const property = fc.asyncProperty(rounds, async (all) => {
    const id = await createRun(harness, { prompt: "start" }, { key: ann });
    const approved = new Set<string>();
    const given: string[] = [];
    for (const round of all) {
      await Promise.all(round.map(({ act, pick }) => perform(id, act, pick, { approved, given })));
    }

    expect([...approved]).toEqual(expect.arrayContaining(given));
    const { turn: turns } = (await call(harness, `${RUNS}/${id}/changes`)).body;
    expect(turns === 0 || approved.has(" start")).toBe(true);
  });

  await fc.assert(property, { numRuns: 25 });
}, 60_000);

interface Words {
  /** Ids and texts that a person approved. */
  readonly approved: Set<string>;
  readonly given: string[];
}

/** One request of a user or of a worker. Each may meet any state of the run. */
async function perform(id: string, act: string, pick: number, { approved, given }: Words): Promise<void> {
  if (act === "follow" || act === "steer") {
    const delivery = act === "follow" ? "queue" : "steer";
    await follow(id, `words ${randomUUID()}`, ben, { delivery });
  } else if (act === "cancel") {
    await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });
  } else if (act === "turn") {
    const taken = await takeTurn(id);
    given.push(...taken.map(({ id: followUpId, message }) => `${followUpId} ${message}`));
  } else if (act === "decide" || act === "refuse") {
    const open = [await approvalOf(id), ...(await followUps(id)).map(({ approval }) => approval)].filter(
      (approval) => approval !== undefined && approval.decided === undefined,
    );
    const one = open[pick % Math.max(1, open.length)];
    // The words are noted before the decision, because a worker may take them before its answer arrives.
    for (const { followup_id = "", text } of act === "decide" ? (one?.inputs ?? []) : []) {
      approved.add(`${followup_id} ${text}`);
    }
    await decide(id, act === "decide", one?.inputs_hash ?? "none");
  } else {
    const waiting = (await followUps(id)).filter(({ status }) =>
      ["held", "waiting_approval"].includes(status),
    );
    const one = waiting[pick % Math.max(1, waiting.length)];
    if (one !== undefined) {
      await (act === "edit"
        ? edit(id, one.followup_id, `edited ${randomUUID()}`, ben)
        : withdraw(id, one.followup_id, ben));
    }
  }
}

async function uidOf(key: string): Promise<string> {
  return (await call(harness, "/api/v1/agent/whoami", { key })).body.principal.uid;
}

async function require(rule: object, priority = 100): Promise<string> {
  return add({ effect: "require_approval", reason: "Look first.", priority, ...rule });
}

async function allow(rule: object): Promise<string> {
  return add({ effect: "allow", priority: 1, ...rule });
}

async function add(rule: object): Promise<string> {
  const answer = await call(harness, POLICIES, { body: { name: randomUUID(), ...rule } });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

async function approvalOf(id: string) {
  return (await call(harness, `${RUNS}/${id}`)).body.approval;
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a response
async function followUps(id: string): Promise<any[]> {
  return (await call(harness, `${RUNS}/${id}/followups?limit=100`)).body.followups;
}

function follow(id: string, message: string, key: string, more: object = {}) {
  return call(harness, `${RUNS}/${id}/followups`, { key, body: { message, ...more } });
}

function edit(id: string, followUpId: string, message: string, key = harness.key) {
  const path = `${RUNS}/${id}/followups/${followUpId}`;
  return call(harness, path, { method: "PATCH", key, body: { message } });
}

function withdraw(id: string, followUpId: string, key = harness.key) {
  return call(harness, `${RUNS}/${id}/followups/${followUpId}`, { method: "DELETE", key });
}

function decide(id: string, approve: boolean, inputs_hash: string, key = harness.key) {
  return call(harness, `${RUNS}/${id}/approval`, { key, body: { approve, inputs_hash } });
}

async function anEndedRun(): Promise<string> {
  const id = await createRun(harness, {}, { key: ann });
  await turn(id);
  return id;
}

/** Works on the run like a worker, with every turn that follows. Returns the texts that the agent got. */
async function turn(id: string): Promise<readonly string[]> {
  return (await takeTurn(id)).map(({ message }) => message);
}

async function takeTurn(id: string): Promise<readonly FollowUp[]> {
  const token = randomUUID() as LeaseToken;
  const claimed = await harness.edit(id, (change) => {
    decideClaim(change, { token, worker: "w", ttlMs: 60_000 });
  });
  if (claimed.lease?.token !== token) {
    return [];
  }
  const given: FollowUp[] = [];
  await harness.edit(id, (change) => void decideReady(change, { isOwnCopy: true }));
  for (let isNext = true; isNext; ) {
    let taken: readonly FollowUp[] = [];
    await harness.edit(id, (change) => {
      taken = decideTurnStart(change, false, change.run)?.followUps ?? [];
    });
    given.push(...taken);
    await harness.edit(id, (change) => {
      isNext = change.run.turnOpen && decideTurnEnd(change, { stopReason: "end_turn" }, "Done");
    });
  }
  await harness.edit(id, giveUp);
  return given;
}

function giveUp(change: RunEdit): void {
  change.dropLease();
  expect(isEnded(change.run.state) || change.run.state === "QUEUED", change.run.state).toBe(true);
}
