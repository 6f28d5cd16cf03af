import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiDocument, type Operation, operationsOf } from "../../support/openapi-operations.ts";
import { type Answer, call } from "./api-caller.ts";
import { type AuthorizationHarness, startAuthorizationHarness } from "./authorization-harness.ts";
import { ROUTES } from "./authorization-table.ts";

/** Edits of what no single address reads, so that there is no ETag to send back. */
const UNTAGGED_EDITS: Readonly<Record<string, string>> = {
  "DELETE /agent/identity-links/:linkId": "a link is created and deleted, never changed",
  "DELETE /agent/installations/guides/:adapter/settings": "removes all stored settings",
  "DELETE /agent/principals/:uid/keys": "ends a collection",
  "DELETE /agent/principals/:uid/sign-ins": "ends a collection",
  "DELETE /agent/runs/:runId/draft-comments/:draftId": "a note that only its author sees and changes",
  "DELETE /agent/runs/:runId/share-links/:linkId": "a link is created and deleted, never changed",
  "DELETE /agent/sign-ins/:signInId": "a sign-in is ended, never changed",
  "PUT /agent/installations/guides/:adapter/app": "the app is kept by the platform",
  "PUT /agent/runs/:runId/draft-comments/:draftId": "a note that only its author sees and changes",
  "PUT /agent/teams/:uid/quotas": "names each limit that it changes",
};
const UNTAGGED_READS: Readonly<Record<string, string>> = {
  "GET /agent/artifacts/:uid": "its addresses are signed anew at each read",
  "GET /agent/conversations/:conversationId": "a part of a log",
  "GET /agent/change-files/:owner/:name": "a file",
};
/** Members of the body of a second edit, where the body of the authorization table would change nothing. */
const SECOND_EDIT: Readonly<Record<string, object>> = {
  "PATCH /agent/installations/:installationId": { name: "Second" },
  "PATCH /agent/runs/:runId": { title: "Second" },
  "PATCH /agent/runs/:runId/followups/:followupId": { message: "second" },
  "PATCH /agent/threads/:threadId": { verbosity: "normal" },
  "PATCH /agent/webhooks/:webhookId": { description: "second" },
  "PATCH /agent/principals/:uid": { display_name: "Second" },
};

let harness: AuthorizationHarness;
let operations: readonly (Operation & { readonly route: string; readonly headers: readonly string[] })[];
beforeAll(async () => {
  harness = await startAuthorizationHarness();
  const document = harness.harness.server.swagger() as unknown as ApiDocument;
  operations = operationsOf(document).map((operation) => {
    const { parameters = [] } = document.paths[operation.path]?.[operation.method.toLowerCase()] ?? {};
    const headers = parameters.filter((each) => each.in === "header").map(({ name }) => name);
    const route = `${operation.method} ${operation.path.replace("/api/v1", "").replaceAll(/\{(\w+)\}/g, ":$1")}`;
    return { ...operation, route, headers };
  });
});
afterAll(() => harness.close());

test("each edit in the OpenAPI document has If-Match, or a reason why not", () => {
  const edits = operations.filter(({ method }) => ["PUT", "PATCH", "DELETE"].includes(method));

  const without = edits.filter(({ headers }) => !headers.includes("If-Match")).map(({ route }) => route);

  expect(without.sort()).toEqual(Object.keys(UNTAGGED_EDITS).sort());
});

test("each read of one resource in the OpenAPI document has an ETag, or a reason why not", () => {
  const reads = operations.filter(({ method, path }) => method === "GET" && path.endsWith("}"));

  const without = reads.filter(({ headers }) => !headers.includes("If-None-Match")).map(({ route }) => route);

  expect(without.sort()).toEqual(Object.keys(UNTAGGED_READS).sort());
});

interface Case {
  /** The edit with its parameters, as the authorization table has it. */
  readonly route: string;
  readonly address: string;
  send(ifMatch: string | undefined, more?: object): Promise<Answer>;
  read(headers?: Record<string, string>): Promise<Answer>;
}

async function aCase(route: string): Promise<Case> {
  const [method = "", url = ""] = route.split(" ");
  const { admin, harness: server, objects } = harness;
  const key = admin.key;
  const entry = ROUTES[route];
  const address = `/api/v1${await objects.fill(url, admin)}`;
  const body = typeof entry === "object" ? entry.body : undefined;
  return {
    route,
    address,
    read: (headers = {}) => call(server, address, { key, headers }),
    send: (ifMatch, more = {}) =>
      call(server, address, {
        method,
        key,
        headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
        ...(method === "DELETE" ? {} : { body: { ...body?.(admin.uid), ...more } }),
      }),
  };
}

async function each(method: RegExp, check: (one: Case) => Promise<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  const routes = operations.filter((one) => method.test(one.method) && one.headers.includes("If-Match"));
  expect(routes.length).toBeGreaterThan(8);
  for (const { route } of routes) {
    found.push([route, await check(await aCase(route))]);
  }
  return found;
}

function expected(found: readonly unknown[], value: unknown): unknown[] {
  return found.map((one) => [(one as unknown[])[0], value]);
}

const STALE = '"AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA"';

describe("every editable resource", () => {
  test("a read with the tag of the last answer is 304 without a body", async () => {
    const found = await each(/PUT|PATCH/, async ({ read }) => {
      const first = await read();
      const tag = first.headers.get("etag") ?? "";
      const again = await read({ "if-none-match": `${STALE}, W/${tag}` });
      return [
        first.status,
        /^"[\w-]{16}\.[\w-]{22}"$/.test(tag),
        again.status,
        again.text,
        again.headers.get("etag") === tag,
      ];
    });

    expect(found).toEqual(expected(found, [200, true, 304, "", true]));
  });

  test("an edit of an older version is refused, names the current one, and changes nothing", async () => {
    const found = await each(/PUT|PATCH|DELETE/, async ({ read, send }) => {
      const before = await read();
      const { status, body, headers } = await send(STALE);
      const after = await read();
      const version = before.headers.get("etag")?.split(".")[0] ?? "none";
      return [
        status,
        body.code,
        body.retryable,
        headers.get("x-should-retry"),
        body.current_etag.startsWith(version),
        after.headers.get("etag") === before.headers.get("etag"),
      ];
    });

    expect(found).toEqual(expected(found, [412, "conflict", false, "false", true, true]));
  });

  test("of two edits of the same version at the same moment one is done and one is refused", async () => {
    const found = await each(/PUT|PATCH/, async ({ read, route, send }) => {
      const tag = (await read()).headers.get("etag") ?? "";
      // An edit that changes nothing makes no version.
      const more = route.includes("installations") ? { name: "Renamed" } : {};
      const answers = await Promise.all([send(tag, more), send(`W/${tag}`, more)]);
      return answers.map(({ status }) => status).sort();
    });

    expect(found).toEqual(expected(found, [200, 412]));
  });

  test("the answer of an edit has the tag for the next one, and * is every version", async () => {
    const found = await each(/PUT|PATCH/, async ({ route, send }) => {
      const first = await send("*");
      const second = await send(first.headers.get("etag") ?? "none", SECOND_EDIT[route]);
      return [first.status, second.status, second.headers.get("etag") !== first.headers.get("etag")];
    });

    expect(found).toEqual(expected(found, [200, 200, true]));
  });

  test("a deletion of the version that was read is done", async () => {
    const found = await each(/DELETE/, async ({ route, read, send }) => {
      const tag = (await read()).headers.get("etag") ?? "";
      const { status } = await send(tag);
      // The run has not ended.
      return status === (route === "DELETE /agent/runs/:runId" ? 409 : status < 300 ? status : 200);
    });

    expect(found).toEqual(expected(found, true));
  });
});

test("an edit of an address without versions is refused when it names one", async () => {
  const found: unknown[] = [];
  for (const route of Object.keys(UNTAGGED_EDITS).filter((one) => !/guides|quotas/.test(one))) {
    found.push([route, (await (await aCase(route)).send(STALE)).status]);
  }

  expect(found).toEqual(expected(found, 412));
});

test("a tag without quotation marks is named as the fault", async () => {
  const { send } = await aCase("PATCH /agent/teams/:uid");

  const { status, body } = await send("abc");

  expect([status, body.issues[0].path]).toEqual([400, "If-Match"]);
});

test("an answer that is repeated for its Idempotency-Key is not compared again", async () => {
  const { address, read } = await aCase("PATCH /agent/runs/:runId");
  const options = {
    method: "PATCH",
    key: harness.admin.key,
    body: { title: "Once" },
    headers: { "if-match": (await read()).headers.get("etag") ?? "", "idempotency-key": "tag-1" },
  };

  const first = await call(harness.harness, address, options);
  const again = await call(harness.harness, address, options);

  expect([first.status, again.status, again.headers.get("idempotent-replay")]).toEqual([200, 200, "true"]);
});

test("what changes by itself leaves an edit allowed, and a read is new", async () => {
  const { address, read, send } = await aCase("PATCH /agent/runs/:runId");
  const before = await read();
  await call(harness.harness, `${address}/cancel`, { method: "POST", key: harness.admin.key });

  const after = await read({ "if-none-match": before.headers.get("etag") ?? "" });

  expect([after.status, after.headers.get("etag") === before.headers.get("etag")]).toEqual([200, false]);
  expect((await send(before.headers.get("etag") ?? "")).status).toBe(200);
});

test("a browser may keep these answers for itself, except those about secrets", async () => {
  const run = await (await aCase("PATCH /agent/runs/:runId")).read();
  const secret = await (await aCase("DELETE /agent/secrets/:name")).read();

  expect(run.headers.get("cache-control")).toBe("private, no-cache");
  expect(secret.headers.get("cache-control")).toBe("no-store");
});
