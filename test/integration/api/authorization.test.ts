import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { countRows } from "../../support/row-counts.ts";
import { call } from "./api-caller.ts";
import { PUBLIC_URL } from "./api-harness.ts";
import {
  type AuthorizationHarness,
  absent,
  addressOf,
  type Cell,
  cellsOf,
  describeAnswers,
  eachOf,
  hasPlace,
  isServed,
  named,
  otherThan,
  startAuthorizationHarness,
} from "./authorization-harness.ts";
import { ROUTES } from "./authorization-table.ts";

let harness: AuthorizationHarness;
beforeAll(async () => {
  harness = await startAuthorizationHarness();
});
afterAll(() => harness.close());

function rows(): Promise<unknown> {
  return countRows(harness.harness.databaseUrl);
}

test("the authorization table has exactly the routes of the server", () => {
  expect([...new Set(harness.routes)].toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

describe("callers without permission", () => {
  test("a request without a key is answered 401, whether or not the object exists", async () => {
    const answers = await eachOf(cellsOf([harness.operator]), (cell) =>
      harness.ask(cell, absent(addressOf(cell.name)), {}),
    );

    expect(otherThan(401, answers)).toEqual([]);
  });

  test("a request whose key lacks the scope is answered 403 and stores nothing", async () => {
    const refused = cellsOf(harness.callers).filter(({ caller, rule }) => !caller.may(rule));
    const requests = await eachOf(refused, async (cell) => ({
      cell,
      path: await harness.objects.fillOnce(addressOf(cell.name), cell.caller),
    }));
    const before = await rows();

    const answers = await eachOf(requests, ({ cell, path }) => harness.ask(cell, path));

    expect(refused.length).toBeGreaterThan(30);
    expect(otherThan(403, answers)).toEqual([]);
    expect(await rows()).toEqual(before);
  });
});

describe("an object of another team", () => {
  test("an object of another team gets the same answer as an unknown one and stays unchanged", async () => {
    const cells = cellsOf(harness.callers).filter(
      ({ caller, name, rule }) =>
        hasPlace(name) && caller.may(rule) && !(rule.operatorSeesAll && caller === harness.operator),
    );
    const requests = await eachOf(cells, async (cell) => {
      const address = addressOf(cell.name);
      const foreign = await harness.objects.fillOnce(address, harness.strangerTo(cell.caller));
      return { cell, foreign, missing: absent(address) };
    });
    const before = await rows();

    const answers = await eachOf(requests, async ({ cell, foreign, missing }) => ({
      theirs: await harness.ask(cell, foreign),
      none: await harness.ask(cell, missing),
    }));

    const all = answers.flatMap(({ theirs, none }) => [theirs, none]);
    const mismatches = answers.filter(({ theirs, none }) => wordsOf(theirs.text) !== wordsOf(none.text));
    expect(otherThan(404, all)).toEqual([]);
    expect(mismatches.map(({ theirs }) => theirs.what)).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  test("an operator sees the objects of all teams where the table says so", async () => {
    const open = cellsOf([harness.operator]).filter(({ rule }) => rule.operatorSeesAll);

    const answers = await eachOf(open, async (cell) =>
      harness.ask(cell, await harness.objects.fill(addressOf(cell.name), harness.admin)),
    );

    expect(answers.length).toBeGreaterThan(0);
    expect(otherThan(200, answers)).toEqual([]);
  });
});

test("a colleague's private run is not found by members but is found by administrators", async () => {
  const { admin, callers, objects } = harness;
  const isOfRun = (name: string) => /^\w+ \/agent\/(runs|tasks|conversations)\/:/.test(name);
  const cells = cellsOf(callers).filter(
    ({ caller, name, rule }) => isOfRun(name) && caller.may(rule) && caller.team === admin.team,
  );

  const answers = await eachOf(cells, async (cell) => {
    const path = await objects.fill(addressOf(cell.name), admin, { team: false });
    return { cell, answer: await harness.ask(cell, path) };
  });

  const [ofAdmin, ofOthers] = [true, false].map((isAdmin) =>
    answers.filter(({ cell }) => (cell.caller === admin) === isAdmin),
  );
  const unserved = (ofAdmin ?? []).filter(({ cell, answer }) => !isServed(cell, answer.status));
  expect(
    otherThan(
      404,
      (ofOthers ?? []).map(({ answer }) => answer),
    ),
  ).toEqual([]);
  expect(describeAnswers(unserved.map(({ answer }) => answer))).toEqual([]);
});

test("a caller with permission is served, for an object of the own team where one is named", async () => {
  const allowed = cellsOf(harness.callers).filter(({ caller, rule }) => caller.may(rule));

  const answers = await eachOf(allowed, async (cell) => ({
    cell,
    answer: await harness.ask(cell, await harness.objects.fill(addressOf(cell.name), cell.caller)),
  }));

  const unserved = answers.filter(({ cell, answer }) => !isServed(cell, answer.status));
  expect(describeAnswers(unserved.map(({ answer }) => answer))).toEqual([]);
});

test("open routes need no key", async () => {
  const page = await readFile(new URL("../../../web/dist/index.html", import.meta.url), "utf8");
  const script = /\/app\/[^"]+/.exec(page)?.[0] ?? "";
  const fileBelow = (address: string) => (address === "/app/*" ? script : address.replace("*", "sign.css"));
  const answers = await eachOf(named("open"), async (what) => {
    const [method = "", address = ""] = what.split(" ");
    const url = address.startsWith("/agent") ? `/api/v1${absent(address)}` : fileBelow(address);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const sent = address.startsWith("/agent") ? { payload: {} } : { payload: "key=none", headers: form };
    const body = method === "POST" ? sent : {};
    const answer = await harness.harness.server.inject({ method: method as "GET", url, ...body });
    return { what, status: answer.statusCode, text: answer.body };
  });

  // The sign-in is requested with a wrong key, its link and the keys of a device and a workflow
  // without their secrets, the forms of a
  // device from no page of the server, the files without the signature that opens them, and the proof without a nonce.
  const refuses = new Set([
    "POST /signin",
    "GET /signin/link",
    "POST /signin/link",
    "POST /signin/link/join",
    "POST /device",
    "POST /device/decision",
    "POST /agent/device-codes/token",
    "POST /agent/keys/exchange",
    "GET /agent/transcript-files",
    "GET /agent/artifacts/:uid/file",
    "GET /server-proof",
    "GET /agent/change-files/:owner/:name",
  ]);
  const refused = answers.filter(({ status, what }) => status >= 400 && !refuses.has(what));
  expect(describeAnswers(refused)).toEqual([]);
  expect(describeAnswers(answers.filter(({ status }) => status >= 500))).toEqual([]);
});

test("the pages show each visitor the runs of the own team and send others to sign in", async () => {
  const { callers, objects, strangerTo } = harness;
  const visits = named("page").flatMap((name) => callers.map((caller) => ({ name, caller })));

  const answers = await eachOf(visits, async ({ name, caller }) => {
    const cookie = await harness.signIn(caller.key);
    const visit = async (url: string, headers: Record<string, string>) =>
      (await harness.harness.server.inject({ method: "GET", url, headers })).statusCode;
    const own = await objects.fill(addressOf(name), caller);
    const foreign = await objects.fill(addressOf(name), strangerTo(caller));
    const statuses = [await visit(own, { cookie }), await visit(own, {}), await visit(foreign, { cookie })];
    return {
      what: `${caller.name}: ${name}`,
      statuses,
      wanted: [200, 303, /^GET \/(?:runs|sessions)\//.test(name) ? 404 : 200],
    };
  });

  for (const { what, statuses, wanted: cells } of answers) {
    expect([what, ...statuses]).toEqual([what, ...cells]);
  }
});

describe("the cookie of the pages", () => {
  test("a cookie without the Origin of the server permits no write and no change, not even to an operator", async () => {
    const { operator, objects } = harness;
    const cookie = await harness.signIn(operator.key);
    const writes = cellsOf([operator]).filter(({ name }) => !name.startsWith("GET "));
    const requests = await eachOf(writes, async (cell) => ({
      cell,
      path: await objects.fillOnce(addressOf(cell.name), operator),
    }));
    const before = await rows();

    const answers = await eachOf(requests, ({ cell, path }) => harness.ask(cell, path, { cookie }));

    expect(writes.length).toBeGreaterThan(40);
    expect(otherThan(403, answers)).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  test("a cookie permits what the scopes of its key permit", async () => {
    const { callers, objects, stranger } = harness;
    const reader = callers.filter(({ name }) => name === "read-only key");
    const askByCookie = async (cell: Cell, path: string) => {
      const cookie = await harness.signIn(cell.caller.key);
      return { cell, answer: await harness.ask(cell, path, { cookie, origin: PUBLIC_URL }) };
    };

    const allowed = await eachOf(
      cellsOf([stranger]).filter(({ caller, rule }) => caller.may(rule)),
      async (cell) => askByCookie(cell, await objects.fill(addressOf(cell.name), stranger)),
    );
    const refused = await eachOf(
      cellsOf(reader).filter(({ caller, rule }) => !caller.may(rule)),
      async (cell) => askByCookie(cell, await objects.fillOnce(addressOf(cell.name), cell.caller)),
    );

    const unserved = allowed.filter(({ cell, answer }) => !isServed(cell, answer.status));
    expect(describeAnswers(unserved.map(({ answer }) => answer))).toEqual([]);
    const answers = refused.map(({ answer }) => answer);
    expect([answers.length > 40, otherThan(403, answers)]).toEqual([true, []]);
  });
});

test("the creator, source and state of a run cannot be forged in its request", async () => {
  const { admin, harness: api, member } = harness;
  const forged = {
    creator: { uid: admin.uid, type: "user" },
    creator_uid: admin.uid,
    executor: { uid: admin.uid, type: "user" },
    source: "SLACK",
    state: "SUCCEEDED",
    run_id: randomUUID(),
    session_id: randomUUID(),
    team_uid: FIRST_TEAM,
    provenance: { actor: "forged" },
    created_at: "2020-01-01T00:00:00Z",
  };
  const [body, headers] = [{ prompt: "x", ...forged }, { "x-run-source": "SLACK" }];

  const answer = await call(api, "/api/v1/agent/runs", { body, key: member.key, headers });
  const { body: run } = await call(api, `/api/v1/agent/runs/${answer.body.run_id}`, { key: member.key });

  expect(run).toMatchObject({ creator: { uid: member.uid }, source: "API", state: "QUEUED" });
  expect([run.run_id === forged.run_id, run.session_id === forged.session_id]).toEqual([false, false]);
  expect(run).not.toHaveProperty("provenance.actor");
  expect(Date.parse(run.created_at)).toBeGreaterThan(Date.parse("2021-01-01"));
});

/** Returns a refusal without the members that are new in each answer. */
function wordsOf(text: string): string {
  const { trace_id, instance, ...words } = JSON.parse(text);
  return JSON.stringify(words);
}
