import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { Scope } from "../../../src/core/model/people/api-key.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { type ApiDocument, operationsOf } from "../../support/openapi-operations.ts";
import { countRows } from "../../support/row-counts.ts";
import { call, createRun } from "./api-caller.ts";
import { PUBLIC_URL } from "./api-harness.ts";
import {
  type AuthorizationHarness,
  absent,
  addressOf,
  type Cell,
  cellsOf,
  describeAnswers,
  eachOf,
  otherThan,
  type RouteAnswer,
  startAuthorizationHarness,
  urlOf,
} from "./authorization-harness.ts";
import { ROUTES } from "./authorization-table.ts";

const DOCUMENT = resolve(import.meta.dirname, "../../../docs/openapi.json");
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 };
/** The scopes that each scope includes, as docs/api.md says. */
const INCLUDES: Readonly<Record<Scope, readonly string[]>> = {
  "runs:read": ["any", "runs:read"],
  "runs:write": ["any", "runs:read", "runs:write"],
  "settings:read": ["any", "settings:read"],
  "settings:write": ["any", "settings:read", "settings:write"],
  admin: ["any", "runs:read", "runs:write", "settings:read", "settings:write", "admin"],
};
const SCOPES = Object.keys(INCLUDES) as readonly Scope[];
/** How the answer says that the key lacks a scope. A handler may refuse for other reasons. */
const LACKS_SCOPE = "requires a key with the scope";

let harness: AuthorizationHarness;
beforeAll(async () => {
  harness = await startAuthorizationHarness();
});
afterAll(() => harness.close());

test("each operation of the OpenAPI document has an entry in the authorization table", async () => {
  const document = JSON.parse(await readFile(DOCUMENT, "utf8")) as ApiDocument;
  const operations = operationsOf(document);

  const missing = operations.filter(({ isPublic, name }) => {
    const entry = ROUTES[name.replace("/api/v1/agent", "/agent").replaceAll(/\{(\w+)\}/g, ":$1")];
    return isPublic ? entry !== "open" : typeof entry !== "object";
  });

  expect(operations.length).toBeGreaterThan(100);
  expect(missing.map(({ name }) => name)).toEqual([]);
});

describe("every operation answers 401 and changes nothing", () => {
  test.each(["wrong", "expired", "revoked", "of a disabled principal"] as const)(
    "every operation with a key that is %s answers 401 and changes nothing",
    async (kind) => {
      const key = await aDeadKey(kind);

      await expectRefused((cell) => harness.ask(cell, absent(addressOf(cell.name)), bearer(key)));
    },
  );

  test.each(["Bearer", "Basic YTpi", "Bearer two words", "Bearer ü", "key"])(
    "every operation with the header Authorization: %s answers 401 and changes nothing",
    async (authorization) => {
      await expectRefused((cell) => send(cell, { authorization }));
    },
  );

  test.each(["VIEWER", "EDITOR"] as const)(
    "every operation with a share link of the access %s answers 401, except where the table says so",
    async (access) => {
      const { cookie, runId } = await aGuest(access);
      const accepts = ({ rule }: Cell) =>
        rule.guest === "viewer" || (rule.guest === "editor" && access === "EDITOR");
      const ask = (cell: Cell) =>
        send(cell, { cookie, origin: PUBLIC_URL }, addressOf(cell.name).replace(":runId", runId));

      await expectRefused(ask, { isTested: (cell) => !accepts(cell) });

      const accepted = await eachOf(cellsOf([harness.admin]).filter(accepts), ask);
      expect(accepted.length).toBeGreaterThan(0);
      // The run has no file, which a guest learns only if the run is theirs.
      const isOfFile = ({ what }: RouteAnswer) => what.includes("/artifacts/:uid");
      expect(otherThan(404, accepted.filter(isOfFile))).toEqual([]);
      expect(
        otherThan(
          200,
          accepted.filter((answer) => !isOfFile(answer)),
        ),
      ).toEqual([]);
    },
  );
});

test("a write of another site with the pages' cookie is answered 403 and changes nothing", async () => {
  const cookie = await harness.signIn(harness.operator.key);
  const ofOtherSite = { cookie, origin: "https://evil.test", "sec-fetch-site": "cross-site" };
  const isWrite = ({ name }: Cell) => !name.startsWith("GET ");

  await expectRefused((cell) => send(cell, ofOtherSite), { isTested: isWrite, status: 403 });
});

describe("a key with one scope alone may use the operations that need it, and no other", () => {
  test.each(SCOPES.flatMap((scope) => [[scope, "user"] as const, [scope, "service_account"] as const]))(
    "a key with the scope %s alone, of a %s, may use the operations that need it and no other",
    async (scope, type) => {
      const key = await aKey(scope, type);
      const cells = cellsOf([harness.admin]);

      const answers = await eachOf(cells, async (cell) => ({
        cell,
        answer: await harness.ask(cell, absent(addressOf(cell.name)), bearer(key)),
      }));

      const wrong = answers.filter(({ cell: { rule }, answer }) => {
        const isRefused = answer.status === 403 && answer.text.includes(LACKS_SCOPE);
        return rule.needs !== "operator" && isRefused === INCLUDES[scope].includes(rule.needs);
      });
      const operators = answers.filter(({ cell }) => cell.rule.needs === "operator");
      expect(describeAnswers(wrong.map(({ answer }) => answer))).toEqual([]);
      expect(
        otherThan(
          403,
          operators.map(({ answer }) => answer),
        ),
      ).toEqual([]);
      expect(answers.filter(({ answer }) => answer.status === 401)).toEqual([]);
    },
  );
});

function bearer(key: string) {
  return { authorization: `Bearer ${key}` };
}

async function expectRefused(
  ask: (cell: Cell) => Promise<RouteAnswer>,
  { isTested = () => true, status = 401 }: { isTested?: (cell: Cell) => boolean; status?: number } = {},
): Promise<void> {
  const cells = cellsOf([harness.admin]).filter(isTested);
  const before = await countRows(harness.harness.databaseUrl);

  const answers = await eachOf(cells, ask);

  expect(cells.length).toBeGreaterThan(50);
  expect(otherThan(status, answers)).toEqual([]);
  expect(await countRows(harness.harness.databaseUrl)).toEqual(before);
}

/** Sends a valid request of the route with these headers and without a key. */
async function send(
  { name, rule, caller }: Cell,
  headers: Record<string, string>,
  address = addressOf(name),
): Promise<RouteAnswer> {
  const [method = ""] = name.split(" ");
  const hasBody = method !== "GET" && method !== "DELETE";
  const answer = await harness.harness.server.inject({
    method: method as "GET",
    url: urlOf(absent(address)),
    headers: { accept: "application/json", ...headers },
    ...(hasBody ? { payload: rule.body?.(caller.uid) ?? {} } : {}),
  });
  return { what: name, status: answer.statusCode, text: answer.body };
}

/** A key of a new principal of the administrator's team. */
async function aKey(scope: Scope, type: "user" | "service_account"): Promise<string> {
  const { admin, harness: api } = harness;
  const administrator = scope === "admin";
  const person = { type, display_name: randomUUID(), administrator };
  const principal = await call(api, "/api/v1/agent/principals", { body: person, key: admin.key });
  const body = { name: randomUUID(), scopes: [scope], principal_uid: principal.body.uid };
  return (await call(api, "/api/v1/agent/keys", { body, key: admin.key })).body.key;
}

async function aDeadKey(kind: "wrong" | "expired" | "revoked" | "of a disabled principal"): Promise<string> {
  const { admin, harness: api } = harness;
  const name = randomUUID();
  const key = await api.addUser(name, {
    teamId: admin.team.id as TeamId,
    scopes: ["runs:write", "settings:write"],
  });
  switch (kind) {
    case "wrong":
      return `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
    case "revoked":
      await api.revoke(key);
      return key;
    case "expired":
      await write("UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE name = $1", name);
      return key;
    case "of a disabled principal":
      await write("UPDATE principals SET disabled = true WHERE display_name = $1", name);
      return key;
    default:
      return kind satisfies never;
  }
}

function write(sql: string, value: string): Promise<unknown> {
  return withConnection(harness.harness.databaseUrl, SESSION, async (client) => {
    const { rowCount } = await client.query(sql, [value]);
    expect(rowCount).toBe(1);
  });
}

/** Opens a new share link, as the guest's browser does. The guest sends the run's cookie with every request. */
async function aGuest(
  access: "VIEWER" | "EDITOR",
): Promise<{ readonly cookie: string; readonly runId: string }> {
  const { admin, harness: api } = harness;
  const team = `/api/v1/agent/teams/${admin.team.id}`;
  await call(api, team, { method: "PATCH", body: { sharing: "editor" }, key: admin.key });
  const runId = await createRun(api, {}, { key: admin.key });
  const links = `/api/v1/agent/runs/${runId}/share-links`;
  const link = await call(api, links, { body: { access }, key: admin.key });
  expect(link.status).toBe(201);
  const { pathname, search } = new URL(link.body.url);
  const { headers } = await call(api, `${pathname}${search}`, { key: null });
  const ofRun = headers.getSetCookie().find((line) => line.includes(`/agent/runs/${runId}`)) ?? "";
  return { runId, cookie: ofRun.split(";")[0] ?? "" };
}
