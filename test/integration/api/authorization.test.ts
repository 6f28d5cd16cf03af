import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/ids.ts";
import { hasScope, type Scope } from "../../../src/core/people/api-key.ts";
import { isOperator } from "../../../src/core/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { collectRoutes, namesOf } from "../../support/all-routes.ts";
import { countRows } from "../../support/row-counts.ts";
import { type ApiBench, startBench } from "./api-bench.ts";
import { call } from "./api-caller.ts";
import { type Owner, TestObjects, type TestTeam } from "./authorization-objects.ts";
import { type Entry, ROUTES, type Rule } from "./authorization-table.ts";

/** Somebody of the matrix; an owner of their own team's objects. */
interface Caller extends Owner {
  readonly name: string;
  readonly key: string;
  may(rule: Rule): boolean;
}

let bench: ApiBench;
let objects: TestObjects;
let routes: readonly string[];
let callers: readonly Caller[];
/** Whose objects are another team's, for each caller. */
let strangers: ReadonlyMap<TeamId, Owner>;

beforeAll(async () => {
  routes = namesOf(
    await collectRoutes(async () => {
      bench = await startBench();
    }),
  );
  objects = new TestObjects(bench);
  const first = { id: FIRST_TEAM, key: bench.key };
  const [ours, theirs] = [await aTeam("ours"), await aTeam("theirs")];
  const operator = await aCaller("operator", first, bench.key);
  const admin = await aCaller("team administrator", ours, ours.key);
  callers = [
    operator,
    admin,
    await aCaller("member", ours, await aMember(ours, ["runs:write", "settings:write"])),
    await aCaller("read-only key", ours, await aMember(ours, ["runs:read", "settings:read"])),
    await aCaller("another team's administrator", theirs, theirs.key),
  ];
  strangers = new Map([
    [FIRST_TEAM, admin],
    [ours.id, operator],
    [theirs.id, admin],
  ]);
});
afterAll(async () => {
  await objects.close();
  await bench.close();
});

/** A team with its first administrator and key, made by an operator as the documentation says. */
async function aTeam(name: string): Promise<TestTeam> {
  const team = await call(bench, "/api/v1/agent/teams", { body: { name } });
  const { uid: team_uid } = team.body;
  const person = { type: "user", display_name: name, administrator: true, team_uid };
  const principal = await call(bench, "/api/v1/agent/principals", { body: person });
  const wanted = { name: "first", scopes: ["admin"], principal_uid: principal.body.uid };
  return { id: team_uid, key: (await call(bench, "/api/v1/agent/keys", { body: wanted })).body.key };
}

async function aMember({ id: teamId }: TestTeam, scopes: readonly Scope[]): Promise<string> {
  return bench.addUser(randomUUID(), { teamId, scopes });
}

async function aCaller(name: string, team: TestTeam, key: string): Promise<Caller> {
  const { body } = await call(bench, "/api/v1/agent/whoami", { key });
  const holder = {
    key: { scopes: body.key.scopes },
    principal: { administrator: body.principal.administrator },
  } as Parameters<typeof hasScope>[0];
  const operates = isOperator({ administrator: body.is_administrator, teamId: team.id, id: body.uid });
  const may = ({ needs }: Rule): boolean => {
    if (needs === "any") return true;
    return needs === "operator" ? operates : hasScope(holder, needs);
  };
  return { name, team, key, uid: body.principal.uid, may };
}

interface Cell {
  readonly name: string;
  readonly rule: Rule;
  readonly caller: Caller;
}

function ruled(): readonly (readonly [string, Rule])[] {
  return Object.entries(ROUTES).flatMap(([name, entry]) =>
    typeof entry === "object" ? [[name, entry] as const] : [],
  );
}

function named(kind: Entry): readonly string[] {
  return Object.entries(ROUTES).flatMap(([name, entry]) => (entry === kind ? [name] : []));
}

function cells(): readonly Cell[] {
  return ruled().flatMap(([name, rule]) => callers.map((caller) => ({ name, rule, caller })));
}

function urlOf(name: string): string {
  const entry = ROUTES[name];
  const address = typeof entry === "object" ? entry.address : undefined;
  return address ?? name.split(" ")[1] ?? "";
}

function hasPlace(name: string): boolean {
  return /[/=]:/.test(urlOf(name));
}

function absent(url: string): string {
  return url.replace(/:\w+/g, () => randomUUID());
}

/** Asks the server itself, without the network between. */
async function ask({ name, rule, caller }: Cell, path: string, key: string | null = caller.key) {
  const [method = ""] = name.split(" ");
  const body = method === "GET" || method === "DELETE" ? undefined : (rule.body?.(caller.uid) ?? {});
  const answer = await bench.server.inject({
    method: method as "GET",
    url: path.startsWith("/agent") ? `/api/v1${path}` : path,
    headers: { accept: "application/json", ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: answer.statusCode, text: answer.body, what: `${caller.name}: ${name}` };
}

async function eachOf<T, R>(given: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let from = 0; from < given.length; from += 8)
    done.push(...(await Promise.all(given.slice(from, from + 8).map(work))));
  return done;
}

function others(answers: readonly { status: number; what: string; text?: string }[], wanted: number) {
  return answers
    .filter(({ status }) => status !== wanted)
    .map(({ what, status, text = "" }) => `${what} → ${status} ${text.slice(0, 200)}`);
}

test("every route of the server stands in the table, and nothing else", () => {
  expect([...new Set(routes)].toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

describe("who may not", () => {
  test("has no key: 401 everywhere, whether or not there is such an object", async () => {
    const [caller] = callers;
    if (caller === undefined) throw new Error("Nobody is there.");
    const bare = ruled().map(([name, rule]) => ({ name, rule, caller }));

    const answers = await eachOf(bare, (cell) => ask(cell, absent(urlOf(cell.name)), null));

    expect(others(answers, 401)).toEqual([]);
  });

  test("has a key that may not do this: 403, and nothing is stored", async () => {
    const refused = cells().filter(({ caller, rule }) => !caller.may(rule));
    const filled = await eachOf(refused, async (cell) => ({
      cell,
      path: await objects.fillOnce(urlOf(cell.name), cell.caller),
    }));
    const before = await countRows(bench.databaseUrl);

    const answers = await eachOf(filled, ({ cell, path }) => ask(cell, path));

    expect(refused.length).toBeGreaterThan(30);
    expect(others(answers, 403)).toEqual([]);
    expect(await countRows(bench.databaseUrl)).toEqual(before);
  });
});

describe("another team's object", () => {
  test("is not found, in the very words in which nothing is found, and stays as it is", async () => {
    const allowed = cells().filter(
      ({ caller, name, rule }) =>
        hasPlace(name) && caller.may(rule) && !(rule.operatorSeesAll && caller.team.id === FIRST_TEAM),
    );
    const filled = await eachOf(allowed, async (cell) => {
      const stranger = strangers.get(cell.caller.team.id) ?? cell.caller;
      const url = urlOf(cell.name);
      return { cell, foreign: await objects.fillOnce(url, stranger), missing: absent(url) };
    });
    const before = await countRows(bench.databaseUrl);

    const answers = await eachOf(filled, async ({ cell, foreign, missing }) => {
      const [theirs, none] = [await ask(cell, foreign), await ask(cell, missing)];
      return { ...theirs, isSame: wordsOf(theirs.text) === wordsOf(none.text), none };
    });

    expect(others(answers, 404)).toEqual([]);
    expect(
      others(
        answers.map(({ none }) => none),
        404,
      ),
    ).toEqual([]);
    expect(answers.filter(({ isSame }) => !isSame).map(({ what }) => what)).toEqual([]);
    expect(await countRows(bench.databaseUrl)).toEqual(before);
  });

  test("is there for operators where the installation is theirs to manage", async () => {
    const [operator] = callers;
    const stranger = strangers.get(FIRST_TEAM);
    if (operator === undefined || stranger === undefined) throw new Error("Nobody is there.");
    const open = ruled().filter(([, rule]) => rule.operatorSeesAll);

    const answers = await eachOf(open, async ([name, rule]) =>
      ask({ name, rule, caller: operator }, await objects.fill(urlOf(name), stranger)),
    );

    expect(answers.length).toBeGreaterThan(0);
    expect(others(answers, 200)).toEqual([]);
  });
});

describe("a private run of a colleague", () => {
  const isOfRun = (name: string) => /^\w+ \/agent\/(runs|tasks|conversations)\/:/.test(name);

  test("is not found by members, and by administrators it is", async () => {
    const wanted = cells().filter(
      ({ caller, name, rule }) => isOfRun(name) && caller.may(rule) && caller.team === callers[1]?.team,
    );

    const answers = await eachOf(wanted, async (cell) => {
      const path = await objects.fill(urlOf(cell.name), callers[1] ?? cell.caller, { team: false });
      return { ...(await ask(cell, path)), isAdmin: cell.caller.name === "team administrator" };
    });

    expect(
      others(
        answers.filter(({ isAdmin }) => !isAdmin),
        404,
      ),
    ).toEqual([]);
    expect(answers.filter(({ isAdmin, status }) => isAdmin && status >= 400)).toEqual([]);
  });
});

test("who may is served, with an object of the own team where one is named", async () => {
  const allowed = cells().filter(({ caller, rule }) => caller.may(rule));

  const answers = await eachOf(allowed, async (cell) => {
    const answer = await ask(cell, await objects.fill(urlOf(cell.name), cell.caller));
    const { answers: wanted } = cell.rule;
    return { ...answer, isAsWanted: wanted === undefined ? answer.status < 400 : answer.status === wanted };
  });

  expect(
    others(
      answers.filter(({ isAsWanted }) => !isAsWanted),
      0,
    ),
  ).toEqual([]);
});

test("what is open needs no key", async () => {
  const answers = await eachOf(named("open"), async (name) => {
    const [method = "", url = ""] = name.split(" ");
    const path = url.startsWith("/agent") ? `/api/v1${absent(url)}` : url.replace("*", "dom.js");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const body = method === "POST" ? { payload: "key=none", headers: form } : {};
    const { statusCode: status } = await bench.server.inject({ method: method as "GET", url: path, ...body });
    return { status, what: name };
  });

  // A wrong key at the sign-in, and addresses without the signature that opens them.
  const refused = new Set(["POST /signin", "GET /agent/transcript-files", "GET /agent/artifacts/:uid/file"]);
  expect(answers.filter(({ status, what }) => status >= 400 && !refused.has(what))).toEqual([]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
});

test("the pages show each visitor the own team's runs and send strangers to sign in", async () => {
  const visits = named("page").flatMap((name) => callers.map((caller) => ({ name, caller })));

  const answers = await eachOf(visits, async ({ name, caller }) => {
    const [url, cookie] = [urlOf(name), await signIn(caller.key)];
    const visit = async (path: string, headers: Record<string, string>) =>
      (await bench.server.inject({ method: "GET", url: path, headers })).statusCode;
    const own = await objects.fill(url, caller);
    const foreign = await objects.fill(url, strangers.get(caller.team.id) ?? caller);
    const statuses = [await visit(own, { cookie }), await visit(own, {}), await visit(foreign, { cookie })];
    return { what: `${caller.name}: ${name}`, statuses, wanted: [200, 303, hasPlace(name) ? 404 : 200] };
  });

  for (const { what, statuses, wanted } of answers) expect([what, ...statuses]).toEqual([what, ...wanted]);
});

test("the pages' cookie writes nothing, whoever signed in", async () => {
  const [operator] = callers;
  if (operator === undefined) throw new Error("Nobody is there.");
  const cookie = await signIn(operator.key);
  const writes = ruled().filter(([name]) => !name.startsWith("GET "));

  const answers = await eachOf(writes, async ([name, rule]) => {
    const [method = ""] = name.split(" ");
    const path = await objects.fillOnce(urlOf(name), operator);
    const payload = method === "DELETE" ? {} : { payload: rule.body?.(operator.uid) ?? {} };
    const answer = await bench.server.inject({
      method: method as "POST",
      url: `/api/v1${path}`,
      headers: { cookie },
      ...payload,
    });
    return { status: answer.statusCode, what: name };
  });

  expect(others(answers, 401)).toEqual([]);
});

test("nobody says who creates a run, where it comes from or how it stands", async () => {
  const [, admin, member] = callers;
  if (admin === undefined || member === undefined) throw new Error("Nobody is there.");
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

  const answer = await call(bench, "/api/v1/agent/runs", {
    body: { prompt: "x", ...forged },
    key: member.key,
    headers: { "x-run-source": "SLACK" },
  });
  const { body: run } = await call(bench, `/api/v1/agent/runs/${answer.body.run_id}`, { key: member.key });

  expect(run).toMatchObject({ creator: { uid: member.uid }, source: "API", state: "QUEUED" });
  expect(run.run_id).not.toBe(forged.run_id);
  expect(run.session_id).not.toBe(forged.session_id);
  expect(run).not.toHaveProperty("provenance.actor");
  expect(Date.parse(run.created_at)).toBeGreaterThan(Date.parse("2021-01-01"));
});

async function signIn(key: string): Promise<string> {
  const answer = await bench.server.inject({ method: "POST", url: "/signin", payload: { key } });
  return String(answer.headers["set-cookie"]).split(";")[0] ?? "";
}

/** A refusal without what is new in each answer. */
function wordsOf(text: string): string {
  const { trace_id, instance, ...words } = JSON.parse(text);
  return JSON.stringify(words);
}
