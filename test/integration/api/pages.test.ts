import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { openStream } from "./event-reader.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { failedSignIns: 3 } });
});
afterAll(() => harness.close());

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const RUNS = "/api/v1/agent/runs";

function signIn(members: Record<string, string>): Promise<Answer> {
  const body = new URLSearchParams(members).toString();
  return call(harness, "/signin", { method: "POST", body, headers: FORM, key: null });
}

function cookieOf({ headers }: Answer): string {
  return headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function visit(
  path: string,
  cookie: string,
  options: Parameters<typeof call>[2] = {},
): Promise<Answer> {
  return call(harness, path, { ...options, key: null, headers: { cookie, ...options.headers } });
}

test.each([
  ["/signin", "Sign in", true],
  ["/problems/conflict", "Conflict", true],
  ["/runs/unknown/nothing", "There is nothing at this address", false],
])("the page %s has the title %s, and search engines may list it: %s", async (path, title, isListed) => {
  const { text } = await call(harness, path, { key: null, headers: { accept: "text/html" } });

  expect(text).toContain(`<title>${title} · Errand</title>`);
  expect(text.includes('<meta name="robots" content="noindex">')).toBe(!isListed);
  expect(text).not.toContain("{{");
  expect(text.match(/<main>/g)).toHaveLength(1);
});

describe("signing in", () => {
  test("signing in with a key returns to the requested page with a cookie that holds no key", async () => {
    const id = await createRun(harness);

    const away = await visit(`/runs/${id}`, "");
    const form = await visit(away.headers.get("location") ?? "", "");
    const answer = await signIn({ key: ` ${harness.key} `, next: `/runs/${id}` });

    expect([away.status, away.headers.get("location")]).toEqual([303, `/signin?next=%2Fruns%2F${id}`]);
    expect(form.text).toContain(`value="/runs/${id}"`);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/runs/${id}`]);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^errand_session=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(harness.key);
    expect((await visit(`/runs/${id}`, cookieOf(answer))).status).toBe(200);
  });

  test("signing in works with JSON", async () => {
    const answer = await call(harness, "/signin", { body: { key: harness.key, next: "/" }, key: null });

    expect([answer.status, answer.body]).toEqual([200, { next: "/" }]);
    expect(cookieOf(answer)).toMatch(/^errand_session=/);
  });

  test.each(["/?state=FAILED&q=flaky%20test", "/system", "/mcp-servers"])(
    "signing in leads to the page %s that was opened",
    async (next) => {
      const { headers } = await signIn({ key: harness.key, next });

      expect(headers.get("location")).toBe(next);
    },
  );

  test.each([
    "https://evil.example",
    "//evil.example",
    "/?next=\r\nset-cookie:x",
    "/?//evil.example",
    "/signin/oidc",
    "/api/v1/agent/runs",
    "/\\evil.example",
    "/runs/../x",
    "javascript:alert(1)",
    "/runs/x",
  ])("signing in never redirects to %s", async (next) => {
    const answer = await signIn({ key: harness.key, next });
    const form = await visit(`/signin?next=${encodeURIComponent(next)}`, "");

    expect(answer.headers.get("location")).toBe("/");
    expect(form.text).toContain('name="next" value="/"');
  });

  test.each(["cross-site", "same-site"])(
    "signing in from a form of another server, %s, is refused",
    async (site) => {
      const headers = { ...FORM, "sec-fetch-site": site };

      const answer = await call(harness, "/signin", {
        method: "POST",
        body: `key=${harness.key}`,
        headers,
        key: null,
      });

      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
    },
  );

  test("signing in with a wrong key fails, and repeated failures block the address for a minute", async () => {
    const wrong = await signIn({ key: "errand_wrong", next: "/" });
    const wrongJson = await call(harness, "/signin", { body: { key: "" }, key: null });
    await signIn({ key: "errand_wrong" });
    const barred = await signIn({ key: harness.key });
    const inBrowser = await call(harness, "/signin", {
      method: "POST",
      body: new URLSearchParams({ key: harness.key }).toString(),
      headers: { ...FORM, accept: "text/html,*/*;q=0.8" },
      key: null,
    });
    harness.clock.aheadMs += 61_000;
    const later = await signIn({ key: harness.key });

    expect([wrong.status, wrong.headers.get("set-cookie")]).toEqual([401, null]);
    expect(wrong.text).toContain("This key was not accepted.");
    expect([wrongJson.status, wrongJson.body.code]).toEqual([401, "authentication_required"]);
    expect([barred.status, barred.body.code]).toEqual([429, "resource_unavailable"]);
    expect(Number(barred.headers.get("retry-after"))).toBeGreaterThan(50);
    expect([inBrowser.status, inBrowser.headers.get("content-type")]).toEqual([
      429,
      "text/html; charset=utf-8",
    ]);
    expect(inBrowser.text).toContain("Too many sign-ins have failed from here.");
    expect(later.status).toBe(303);
  });

  test("concurrent sign-ins are not tried more often than the limit", async () => {
    harness.clock.aheadMs += 61_000;
    const answers = await Promise.all(Array.from({ length: 12 }, () => signIn({ key: "errand_wrong" })));
    harness.clock.aheadMs += 61_000;

    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 401),
      ...Array.from({ length: 9 }, () => 429),
    ]);
  });

  test("a successful sign-in is not counted", async () => {
    const statuses: number[] = [];
    for (let times = 0; times < 5; times += 1) {
      statuses.push((await signIn({ key: harness.key })).status);
    }

    expect(statuses).toEqual([303, 303, 303, 303, 303]);
  });

  test("failed sign-ins are counted per IPv6 network, because one caller has all its addresses", async () => {
    const signInFrom = async (remoteAddress: string) => {
      const payload = { key: "errand_wrong" };
      return (await harness.server.inject({ method: "POST", url: "/signin", payload, remoteAddress }))
        .statusCode;
    };
    const guesses = [1, 2, 3, 4, 5].map((host) => `2001:db8:0:1::${host}`);

    const statuses: number[] = [];
    for (const address of guesses) {
      statuses.push(await signInFrom(address));
    }

    expect([statuses.includes(429), await signInFrom("2001:db8:0:2::1")]).toEqual([true, 401]);
  });
});

describe("the cookie of the pages", () => {
  test("the cookie of the pages permits reading without an Origin, and no write", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));
    const id = await createRun(harness);
    const json = { headers: { accept: "application/json" } };

    const reads = [
      await visit(RUNS, cookie),
      await visit(`${RUNS}/${id}`, cookie),
      await visit(`${RUNS}/${id}/events`, cookie, json),
    ];
    const writes = [
      await visit(RUNS, cookie, { body: { prompt: "x" } }),
      await visit(`${RUNS}/${id}/cancel`, cookie, { method: "POST" }),
      await visit(`${RUNS}/${id}/followups`, cookie, { body: { message: "x" } }),
    ];

    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(writes.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  test("the cookie does not help a request with a wrong key", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));

    expect((await visit(RUNS, cookie, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  test("the cookie and its stream end with the key that opened them", async () => {
    const own = await startHarness({ limits: { heartbeatMs: 20, callerCheckMs: 20 } });
    const id = await createRun(own);
    const signedIn = await call(own, "/signin", { body: { key: own.key }, key: null });
    const options = { key: null, headers: { cookie: cookieOf(signedIn) } };
    const stream = await openStream(own, id, options);
    await waitFor(() => stream.comments.length >= 2, { what: "two heartbeats" });
    const wasOpen = !stream.isOver;

    await own.storage.administrators.set("of another key", "of…");
    const [read, page] = [await call(own, RUNS, options), await call(own, "/", options)];
    await stream.untilOver();
    await own.close();

    expect([wasOpen, read.status, page.status]).toEqual([true, 401, 303]);
  });

  test("signing out deletes the cookie, and other sites cannot request it", async () => {
    const signOut = (headers: Record<string, string>) =>
      call(harness, "/signout", { method: "POST", body: "", headers, key: null });

    const [form, json] = [await signOut(FORM), await signOut({})];
    const foreign = await signOut({ ...FORM, "sec-fetch-site": "cross-site" });

    expect([form.status, form.headers.get("location")]).toEqual([303, "/signin"]);
    expect(form.headers.get("set-cookie")).toMatch(/^errand_session=; Max-Age=0; Path=\/; /);
    expect([json.status, json.body]).toEqual([200, { next: "/signin" }]);
    expect([foreign.status, foreign.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("a changed or expired cookie is refused", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));
    const [name = "", id = "", expires = "", signature = ""] = cookie.split(/[=.]/);
    const forged = [
      `${name}=${id}.${Number(expires) + 1}.${signature}`,
      `${name}=${id}.${expires}.${signature}x`,
      `${name}=${"0".repeat(64)}.${expires}.${signature}`,
      `${name}=`,
      `${name}=..`,
    ];

    for (const value of forged) {
      expect([value, (await visit(RUNS, value)).status]).toEqual([value, 401]);
    }
    expect((await visit(RUNS, cookie)).status).toBe(200);
    harness.clock.aheadMs += 12 * 3_600_000 + 1_000;
    expect((await visit(RUNS, cookie)).status).toBe(401);
    expect((await visit("/", cookie)).status).toBe(303);
  });
});

describe("the pages", () => {
  test("the pages show a run by run id and by session id to callers who may see it", async () => {
    const [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
    const id = await createRun(harness, { team: false }, { key: ann });
    const { session_id: session } = (await call(harness, `${RUNS}/${id}`)).body;
    const [anns, bens] = [cookieOf(await signIn({ key: ann })), cookieOf(await signIn({ key: ben }))];

    const [byRun, bySession] = [await visit(`/runs/${id}`, anns), await visit(`/sessions/${session}`, anns)];
    const hidden = [
      await visit(`/runs/${id}`, bens),
      await visit(`/sessions/${session}`, bens),
      await visit("/runs/x", bens),
    ];

    const shown = [`name="errand-run" content="${id}"`, 'name="errand-visitor" content="member"'];
    for (const text of shown) {
      expect([byRun.text, bySession.text].map((page) => page.includes(text))).toEqual([true, true]);
    }
    expect(byRun.headers.get("cache-control")).toBe("no-store");
    expect(hidden.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(hidden[0]?.text).toContain("There is no such run");
  });

  test("the pages load nothing that the content policy forbids", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));
    const id = await createRun(harness);

    for (const path of ["/", "/new", "/signin", "/problems/conflict", `/runs/${id}`]) {
      const { text, headers } = await visit(path, cookie);
      expect(headers.get("content-security-policy")).toMatch(/(^|;)script-src 'self'(;|$)/);
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=|https?:/);
      const files = Array.from(text.matchAll(/(?:src|href)="(\/(?:assets|app)\/[^"]+)"/g), ([, file]) =>
        String(file),
      );
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) {
        expect([file, (await visit(file, "")).status]).toEqual([file, 200]);
      }
    }
  });

  test("each page of the app allows styles by a nonce of its own", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));

    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { text, headers } = await visit("/", cookie);
        const nonce = /csp-nonce" nonce="([\w-]{20,})"/.exec(text)?.[1];
        expect(headers.get("content-security-policy")).toContain(`style-src 'self' 'nonce-${nonce}'`);
        return nonce;
      }),
    );

    expect(nonces[0]).not.toBe(nonces[1]);
  });

  test("the files of the app are kept by browsers, and its pages are not", async () => {
    const cookie = cookieOf(await signIn({ key: harness.key }));
    const page = await visit("/", cookie);
    const [, file = ""] = /src="(\/app\/[^"]+)"/.exec(page.text) ?? [];

    const script = await visit(file, "");

    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test.each([
    ["a browser", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"],
    ["a program", "*/*", "application/problem+json; charset=utf-8"],
  ])("%s meets an unknown address as %s", async (_name, accept, type) => {
    const { headers, status, text } = await visit("/nothing/here", "", { headers: { accept } });

    expect([status, headers.get("content-type")]).toEqual([404, type]);
    expect(text).toContain("here is nothing at this address");
  });

  test("an error of the API is JSON for a browser too", async () => {
    const { headers } = await visit("/api/v1/agent/nothing", "", { headers: { accept: "text/html" } });

    expect(headers.get("content-type")).toContain("application/problem+json");
  });

  test("the pages serve their own files and no others", async () => {
    const statuses = await Promise.all(
      [
        "/assets/sign.css",
        "/assets/nothing.js",
        "/assets/..%2fmessage.html",
        "/app/..%2findex.html",
        "/assets/",
      ].map(async (path) => (await visit(path, "")).status),
    );

    expect(statuses[0]).toBe(200);
    expect(statuses.slice(1).every((status) => status === 404 || status === 403)).toBe(true);
  });
});
