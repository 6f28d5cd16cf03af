import { randomUUID } from "node:crypto";
import type { TeamId } from "../../../src/core/ids.ts";
import { hasScope, type KeyHolder, type Scope } from "../../../src/core/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { collectRoutes, namesOf } from "../../support/all-routes.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { type Owner, TestObjects, type TestTeam } from "./authorization-objects.ts";
import { type Entry, ROUTES, type Rule } from "./authorization-table.ts";

/** Somebody of the matrix; an owner of the own team's objects. */
export interface Caller extends Owner {
  readonly name: string;
  readonly key: string;
  may(rule: Pick<Rule, "needs">): boolean;
}

/** Somebody and something they ask for. */
export interface Cell {
  readonly name: string;
  readonly rule: Rule;
  readonly caller: Caller;
}

export interface Asked {
  readonly what: string;
  readonly status: number;
  readonly text: string;
}

/** Three teams with five people, and all that the server can be asked. */
export interface AuthorizationHarness {
  readonly harness: ApiHarness;
  readonly objects: TestObjects;
  readonly routes: readonly string[];
  readonly operator: Caller;
  readonly admin: Caller;
  readonly member: Caller;
  /** Another team's administrator. */
  readonly stranger: Caller;
  readonly callers: readonly Caller[];
  /** Somebody of another team than the caller's. */
  strangerTo(caller: Caller): Owner;
  /** Asks the server itself, without the network between. */
  ask(cell: Cell, path: string, key?: string | null): Promise<Asked>;
  /** The cookie of whoever signed in to the pages with the key. */
  signIn(key: string): Promise<string>;
  close(): Promise<void>;
}

export async function startAuthorizationHarness(): Promise<AuthorizationHarness> {
  const started: ApiHarness[] = [];
  const routes = namesOf(await collectRoutes(async () => started.push(await startHarness())));
  const [harness] = started;
  if (harness === undefined) throw new Error("No server was started.");
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
    ask: (cell, path, key = cell.caller.key) => ask(harness, cell, path, key),
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

/** A team with its first administrator and key, made by an operator as the documentation says. */
async function aTeam(harness: ApiHarness, name: string): Promise<TestTeam> {
  const team = await call(harness, "/api/v1/agent/teams", { body: { name } });
  const { uid: team_uid } = team.body;
  const person = { type: "user", display_name: name, administrator: true, team_uid };
  const principal = await call(harness, "/api/v1/agent/principals", { body: person });
  const wanted = { name: "first", scopes: ["admin"], principal_uid: principal.body.uid };
  return { id: team_uid, key: (await call(harness, "/api/v1/agent/keys", { body: wanted })).body.key };
}

/** Whoever holds the team's own key, or a new member with these scopes. */
function callerMaker(harness: ApiHarness) {
  return async (name: string, team: TestTeam, scopes?: readonly Scope[]): Promise<Caller> => {
    const more = { teamId: team.id as TeamId, scopes: scopes ?? [] };
    const key = scopes === undefined ? team.key : await harness.addUser(randomUUID(), more);
    const { principal, key: held, is_operator } = (await call(harness, "/api/v1/agent/whoami", { key })).body;
    const holder = { key: held, principal } as KeyHolder;
    const may: Caller["may"] = ({ needs }) => {
      if (needs === "any") return true;
      return needs === "operator" ? is_operator : hasScope(holder, needs);
    };
    return { name, team, key, uid: principal.uid, may };
  };
}

async function ask(
  { server }: ApiHarness,
  { name, rule, caller }: Cell,
  path: string,
  key: string | null,
): Promise<Asked> {
  const [method = ""] = name.split(" ");
  const body = method === "GET" || method === "DELETE" ? undefined : (rule.body?.(caller.uid) ?? {});
  const answer = await server.inject({
    method: method as "GET",
    url: path.startsWith("/agent") ? `/api/v1${path}` : path,
    headers: { accept: "application/json", ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
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

/** The address with ids that nothing has. */
export function absent(address: string): string {
  return address.replace(/:\w+/g, () => randomUUID());
}

export function isServed({ caller, rule }: Cell, status: number): boolean {
  const isMember = !caller.may({ needs: "admin" });
  const wanted = (isMember ? rule.memberAnswers : undefined) ?? rule.answers;
  return wanted === undefined ? status < 400 : status === wanted;
}

/** A few at a time. */
export async function eachOf<T, R>(given: readonly T[], work: (one: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let from = 0; from < given.length; from += 8)
    done.push(...(await Promise.all(given.slice(from, from + 8).map(work))));
  return done;
}

/** Those that were answered otherwise, for people to read. */
export function otherThan(wanted: number, answers: readonly Asked[]): readonly string[] {
  return told(answers.filter(({ status }) => status !== wanted));
}

export function told(answers: readonly Asked[]): readonly string[] {
  return answers.map(({ what, status, text }) => `${what} → ${status} ${text.slice(0, 200)}`);
}
