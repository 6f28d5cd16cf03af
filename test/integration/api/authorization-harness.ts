import { randomUUID } from "node:crypto";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { hasScope, type KeyHolder, type Scope } from "../../../src/core/model/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { collectRoutes, namesOf } from "../../support/all-routes.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { MANAGER, type Owner, TestObjects, type TestTeam } from "./authorization-objects.ts";
import { type Entry, ROUTES, type Rule } from "./authorization-table.ts";

/** A caller of the matrix, who also owns objects of the own team. */
export interface Caller extends Owner {
  readonly name: string;
  readonly key: string;
  may(rule: Pick<Rule, "needs">): boolean;
}

/** A caller and the route that they request. */
export interface Cell {
  readonly name: string;
  readonly rule: Rule;
  readonly caller: Caller;
}

export interface RouteAnswer {
  readonly what: string;
  readonly status: number;
  readonly text: string;
}

/** Three teams with five callers, and all routes of the server. */
export interface AuthorizationHarness {
  readonly harness: ApiHarness;
  readonly objects: TestObjects;
  readonly routes: readonly string[];
  readonly operator: Caller;
  readonly admin: Caller;
  readonly member: Caller;
  /** The administrator of another team. */
  readonly stranger: Caller;
  readonly callers: readonly Caller[];
  /** Returns an owner in another team than the caller's. */
  strangerTo(caller: Caller): Owner;
  /** Sends a request to the server without the network. */
  ask(cell: Cell, path: string, headers?: Readonly<Record<string, string>>): Promise<RouteAnswer>;
  /** Signs in to the pages with the key and returns the cookie. */
  signIn(key: string): Promise<string>;
  close(): Promise<void>;
}

export async function startAuthorizationHarness(): Promise<AuthorizationHarness> {
  const started: ApiHarness[] = [];
  const routes = namesOf(
    await collectRoutes(async () => started.push(await startHarness({ appManagers: [MANAGER] }))),
  );
  const [harness] = started;
  if (harness === undefined) {
    throw new Error("No server was started.");
  }
  const objects = new TestObjects(harness);
  const [ours, theirs] = [await aTeam(harness, "ours"), await aTeam(harness, "theirs")];
  const aCaller = callerMaker(harness);
  const operator = await aCaller("operator", { id: FIRST_TEAM, key: harness.key });
  const admin = await aCaller("team administrator", ours);
  const member = await aCaller("member", ours, ["runs:write", "settings:write"]);
  const reader = await aCaller("read-only key", ours, ["runs:read", "settings:read"]);
  const stranger = await aCaller("another team's administrator", theirs);
  return {
    ...{ harness, objects, routes, operator, admin, member, stranger },
    callers: [operator, admin, member, reader, stranger],
    strangerTo: ({ team }) => (team === ours ? operator : admin),
    ask: (cell, path, headers = { authorization: `Bearer ${cell.caller.key}` }) =>
      ask(harness, cell, path, headers),
    signIn: async (key) => {
      const answer = await harness.server.inject({ method: "POST", url: "/signin", payload: { key } });
      return String(answer.headers["set-cookie"]).split(";")[0] ?? "";
    },
    close: async () => {
      await objects.close();
      await harness.close();
    },
  };
}

/** Creates a team with its first administrator and key, as an operator does by the documentation. */
async function aTeam(harness: ApiHarness, name: string): Promise<TestTeam> {
  const team = await call(harness, "/api/v1/agent/teams", { body: { name } });
  const { uid: team_uid } = team.body;
  const person = { type: "user", display_name: name, administrator: true, team_uid };
  const principal = await call(harness, "/api/v1/agent/principals", { body: person });
  const keyRequest = { name: "first", scopes: ["admin"], principal_uid: principal.body.uid };
  return { id: team_uid, key: (await call(harness, "/api/v1/agent/keys", { body: keyRequest })).body.key };
}

/** Returns a factory of callers: the team's first key, or a new member with these scopes. */
function callerMaker(harness: ApiHarness) {
  return async (name: string, team: TestTeam, scopes?: readonly Scope[]): Promise<Caller> => {
    const more = { teamId: team.id as TeamId, scopes: scopes ?? [] };
    const key = scopes === undefined ? team.key : await harness.addUser(randomUUID(), more);
    const {
      principal,
      scopes: held,
      is_operator,
    } = (await call(harness, "/api/v1/agent/whoami", { key })).body;
    const holder = { scopes: held, principal } as KeyHolder;
    const may: Caller["may"] = ({ needs }) => {
      if (needs === "any") {
        return true;
      }
      return needs === "operator" ? is_operator : hasScope(holder, needs);
    };
    return { name, team, key, uid: principal.uid, may };
  };
}

async function ask(
  { server }: ApiHarness,
  { name, rule, caller }: Cell,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<RouteAnswer> {
  const [method = ""] = name.split(" ");
  const body = method === "GET" || method === "DELETE" ? undefined : (rule.body?.(caller.uid) ?? {});
  const answer = await server.inject({
    method: method as "GET",
    url: urlOf(path),
    headers: { accept: "application/json", ...headers },
    ...(body === undefined ? {} : { payload: body }),
  });
  return { status: answer.statusCode, text: answer.body, what: `${caller.name}: ${name}` };
}

export function cellsOf(callers: readonly Caller[]): readonly Cell[] {
  return Object.entries(ROUTES).flatMap(([name, rule]) =>
    typeof rule === "object" ? callers.map((caller) => ({ name, rule, caller })) : [],
  );
}

export function named(kind: Entry): readonly string[] {
  return Object.entries(ROUTES).flatMap(([name, entry]) => (entry === kind ? [name] : []));
}

export function addressOf(name: string): string {
  const entry = ROUTES[name];
  const address = typeof entry === "object" ? entry.address : undefined;
  return address ?? name.split(" ")[1] ?? "";
}

export function hasPlace(name: string): boolean {
  return /[/=]:/.test(addressOf(name));
}

/** Returns the address with ids that no object has. */
export function absent(address: string): string {
  return address.replace(/:\w+/g, () => randomUUID());
}

export function isServed({ caller, rule }: Cell, status: number): boolean {
  const isMember = !caller.may({ needs: "admin" });
  const expectedStatus = (isMember ? rule.memberAnswers : undefined) ?? rule.answers;
  return expectedStatus === undefined ? status < 400 : status === expectedStatus;
}

/** Maps the items with limited concurrency. */
export async function eachOf<T, R>(items: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += 8) {
    done.push(...(await Promise.all(items.slice(from, from + 8).map(work))));
  }
  return done;
}

/** Lists the answers with another status in readable form. */
export function otherThan(expectedStatus: number, answers: readonly RouteAnswer[]): readonly string[] {
  return describeAnswers(answers.filter(({ status }) => status !== expectedStatus));
}

export function describeAnswers(answers: readonly RouteAnswer[]): readonly string[] {
  return answers.map(({ what, status, text }) => `${what} → ${status} ${text.slice(0, 200)}`);
}

/** The address on the server of a path of the authorization table. Only the API has a prefix. */
export function urlOf(path: string): string {
  return path.startsWith("/agent") ? `/api/v1${path}` : path;
}
