import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { countRows } from "../../support/row-counts.ts";
import { call } from "./api-caller.ts";
import {
  type AuthorizationHarness,
  absent,
  addressOf,
  cellsOf,
  eachOf,
  hasPlace,
  isServed,
  named,
  otherThan,
  startAuthorizationHarness,
  told,
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

test("every route of the server stands in the table, and nothing else", () => {
  expect([...new Set(harness.routes)].toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

describe("who may not", () => {
  test("has no key: 401 everywhere, whether or not there is such an object", async () => {
    const answers = await eachOf(cellsOf([harness.operator]), (cell) =>
      harness.ask(cell, absent(addressOf(cell.name)), null),
    );

    expect(otherThan(401, answers)).toEqual([]);
  });

  test("has a key that may not do this: 403, and nothing is stored", async () => {
    const refused = cellsOf(harness.callers).filter(({ caller, rule }) => !caller.may(rule));
    const asked = await eachOf(refused, async (cell) => ({
      cell,
      path: await harness.objects.fillOnce(addressOf(cell.name), cell.caller),
    }));
    const before = await rows();

    const answers = await eachOf(asked, ({ cell, path }) => harness.ask(cell, path));

    expect(refused.length).toBeGreaterThan(30);
    expect(otherThan(403, answers)).toEqual([]);
    expect(await rows()).toEqual(before);
  });
});

describe("another team's object", () => {
  test("is not found, in the very words in which nothing is found, and stays as it is", async () => {
    const wanted = cellsOf(harness.callers).filter(
      ({ caller, name, rule }) =>
        hasPlace(name) && caller.may(rule) && !(rule.operatorSeesAll && caller === harness.operator),
    );
    const asked = await eachOf(wanted, async (cell) => {
      const address = addressOf(cell.name);
      const foreign = await harness.objects.fillOnce(address, harness.strangerTo(cell.caller));
      return { cell, foreign, missing: absent(address) };
    });
    const before = await rows();

    const answers = await eachOf(asked, async ({ cell, foreign, missing }) => ({
      theirs: await harness.ask(cell, foreign),
      none: await harness.ask(cell, missing),
    }));

    const all = answers.flatMap(({ theirs, none }) => [theirs, none]);
    const told = answers.filter(({ theirs, none }) => wordsOf(theirs.text) !== wordsOf(none.text));
    expect(otherThan(404, all)).toEqual([]);
    expect(told.map(({ theirs }) => theirs.what)).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  test("is there for operators where the installation is theirs to manage", async () => {
    const open = cellsOf([harness.operator]).filter(({ rule }) => rule.operatorSeesAll);

    const answers = await eachOf(open, async (cell) =>
      harness.ask(cell, await harness.objects.fill(addressOf(cell.name), harness.admin)),
    );

    expect(answers.length).toBeGreaterThan(0);
    expect(otherThan(200, answers)).toEqual([]);
  });
});

test("a private run of a colleague is not found by members, and by administrators it is", async () => {
  const { admin, callers, objects } = harness;
  const isOfRun = (name: string) => /^\w+ \/agent\/(runs|tasks|conversations)\/:/.test(name);
  const wanted = cellsOf(callers).filter(
    ({ caller, name, rule }) => isOfRun(name) && caller.may(rule) && caller.team === admin.team,
  );

  const answers = await eachOf(wanted, async (cell) => {
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
  expect(told(unserved.map(({ answer }) => answer))).toEqual([]);
});

test("who may is served, with an object of the own team where one is named", async () => {
  const allowed = cellsOf(harness.callers).filter(({ caller, rule }) => caller.may(rule));

  const answers = await eachOf(allowed, async (cell) => ({
    cell,
    answer: await harness.ask(cell, await harness.objects.fill(addressOf(cell.name), cell.caller)),
  }));

  const unserved = answers.filter(({ cell, answer }) => !isServed(cell, answer.status));
  expect(told(unserved.map(({ answer }) => answer))).toEqual([]);
});

test("what is open needs no key", async () => {
  const answers = await eachOf(named("open"), async (what) => {
    const [method = "", address = ""] = what.split(" ");
    const url = address.startsWith("/agent") ? `/api/v1${absent(address)}` : address.replace("*", "dom.js");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const body = method === "POST" ? { payload: "key=none", headers: form } : {};
    const answer = await harness.harness.server.inject({ method: method as "GET", url, ...body });
    return { what, status: answer.statusCode, text: answer.body };
  });

  // A wrong key at the sign-in, and addresses without the signature that opens them.
  const refuses = new Set(["POST /signin", "GET /agent/transcript-files", "GET /agent/artifacts/:uid/file"]);
  const refused = answers.filter(({ status, what }) => status >= 400 && !refuses.has(what));
  expect(told(refused)).toEqual([]);
  expect(told(answers.filter(({ status }) => status >= 500))).toEqual([]);
});

test("the pages show each visitor the own team's runs and send strangers to sign in", async () => {
  const { callers, objects, strangerTo } = harness;
  const visits = named("page").flatMap((name) => callers.map((caller) => ({ name, caller })));

  const answers = await eachOf(visits, async ({ name, caller }) => {
    const cookie = await harness.signIn(caller.key);
    const visit = async (url: string, headers: Record<string, string>) =>
      (await harness.harness.server.inject({ method: "GET", url, headers })).statusCode;
    const own = await objects.fill(addressOf(name), caller);
    const foreign = await objects.fill(addressOf(name), strangerTo(caller));
    const statuses = [await visit(own, { cookie }), await visit(own, {}), await visit(foreign, { cookie })];
    return { what: `${caller.name}: ${name}`, statuses, wanted: [200, 303, hasPlace(name) ? 404 : 200] };
  });

  for (const { what, statuses, wanted } of answers) expect([what, ...statuses]).toEqual([what, ...wanted]);
});

test("the pages' cookie writes nothing, whoever signed in", async () => {
  const { operator, objects } = harness;
  const cookie = await harness.signIn(operator.key);
  const writes = cellsOf([operator]).filter(({ name }) => !name.startsWith("GET "));

  const answers = await eachOf(writes, async ({ name, rule }) => {
    const [method = ""] = name.split(" ");
    const url = `/api/v1${await objects.fillOnce(addressOf(name), operator)}`;
    const payload = method === "DELETE" ? {} : { payload: rule.body?.(operator.uid) ?? {} };
    const request = { method: method as "POST", url, headers: { cookie }, ...payload };
    const answer = await harness.harness.server.inject(request);
    return { what: name, status: answer.statusCode, text: answer.body };
  });

  expect(otherThan(401, answers)).toEqual([]);
});

test("nobody says who creates a run, where it comes from or how it stands", async () => {
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

/** A refusal without what is new in each answer. */
function wordsOf(text: string): string {
  const { trace_id, instance, ...words } = JSON.parse(text);
  return JSON.stringify(words);
}
