import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyHasher, newToken } from "../../../src/api/auth/api-keys.ts";
import { sha256 } from "../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { createSignInLink } from "../../../src/core/team/keys/sign-in-service.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, SECRET, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { failedSignIns: 100 } });
});
afterAll(() => harness.close());

const API = "/api/v1/agent";
const OWN = { origin: PUBLIC_URL, "sec-fetch-site": "same-origin" };
const RUN = "/runs/0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";

async function aLink(name: string): Promise<{ token: string; url: string; uid: string }> {
  const principal = await harness.storage.people.ensure(FIRST_TEAM, `chat:${name}`, name);
  const hash = createKeyHasher(SECRET);
  const link = await createSignInLink(
    {
      digest: sha256,
      storage: harness.storage,
      clock: harness.clock,
      publicUrl: () => PUBLIC_URL,
      makeToken: () => {
        const token = newToken();
        return { token, hash: hash(token) };
      },
    },
    principal,
    { subject: `chat:${name}`, requestId: randomUUID() },
  );
  const url = link?.url ?? "";
  return { url, token: new URL(url).searchParams.get("token") ?? "", uid: principal.id };
}

function open(url: string, method = "GET"): Promise<Answer> {
  return call(harness, url.replace(PUBLIC_URL, ""), { method, key: null });
}

function use(token: string, more: { next?: string; headers?: Record<string, string> } = {}): Promise<Answer> {
  const { headers = OWN, next = "/" } = more;
  return call(harness, "/signin/link", {
    method: "POST",
    body: new URLSearchParams({ token, next }).toString(),
    key: null,
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
  });
}

function cookieOf(answer: Answer): string {
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

describe("a sign-in link", () => {
  test("opening a link does not use it up, and its button signs in", async () => {
    const { token, uid, url } = await aLink("lea");

    const pages = [await open(url), await open(url, "HEAD"), await open(`${url}&next=${RUN}`)];
    const used = await use(token, { next: RUN });
    const who = await call(harness, `${API}/whoami`, { key: null, headers: { cookie: cookieOf(used) } });

    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(pages[0]?.text).toContain("Sign in as lea");
    expect(pages[0]?.headers.get("set-cookie")).toBeNull();
    expect(pages[2]?.text).toContain(`value="${RUN}"`);
    expect([used.status, used.headers.get("location")]).toEqual([303, RUN]);
    expect(who.body).toMatchObject({ principal: { uid }, sign_in: { method: "link" } });
  });

  test("a link works once, even for concurrent requests", async () => {
    const { token, url } = await aLink("once");

    const answers = await Promise.all(Array.from({ length: 10 }, () => use(token)));

    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(9);
    expect((await open(url)).status).toBe(410);
  });

  test("a link ends after ten minutes", async () => {
    const { token, url } = await aLink("late");
    harness.clock.aheadMs += 10 * 60_000;

    expect([(await open(url)).status, (await use(token)).status]).toEqual([410, 410]);
    expect(await harness.storage.signInLinks.prune()).toBeGreaterThan(0);
  });

  test("a link of a disabled principal signs nobody in", async () => {
    const { token, uid, url } = await aLink("disabled");
    await call(harness, `${API}/principals/${uid}`, { method: "PATCH", body: { disabled: true } });

    expect([(await open(url)).status, (await use(token)).status]).toEqual([410, 410]);
  });

  test("another site cannot sign a visitor in", async () => {
    const { token } = await aLink("victim");

    const answer = await use(token, {
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });

    expect([answer.status, (await use(token)).status]).toEqual([403, 303]);
  });

  test("a link never leads to another site", async () => {
    const { token } = await aLink("away");

    expect((await use(token, { next: "//evil.example/" })).headers.get("location")).toBe("/");
  });

  test("the audit log names who used the link, and not its token", async () => {
    const { token, uid } = await aLink("audited");
    await use(token);

    const { entries } = (await call(harness, `${API}/audit?limit=20`)).body;

    const ofLink = entries.filter(({ action }: { action: string }) => action === "sign_in_link.updated");
    expect(ofLink[0]).toMatchObject({ actor: { uid, type: "user", address: "127.0.0.1" } });
    expect(JSON.stringify(entries)).not.toContain(token);
  });
});

describe("joining an account", () => {
  async function signedIn(name: string): Promise<{ cookie: string; uid: string }> {
    const { token, uid } = await aLink(name);
    return { cookie: cookieOf(await use(token)), uid };
  }

  function join(token: string, headers: Record<string, string>): Promise<Answer> {
    return call(harness, "/signin/link/join", {
      method: "POST",
      body: new URLSearchParams({ token }).toString(),
      key: null,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    });
  }

  async function ownerOf(name: string): Promise<string | undefined> {
    return (await harness.storage.identities.find(FIRST_TEAM, `chat:${name}`))?.principalId;
  }

  test("a person who is signed in sees both names, and the button joins the account once", async () => {
    const { cookie, uid } = await signedIn("erin");
    const { token, uid: other, url } = await aLink("erin-in-chat");

    const page = await call(harness, url.replace(PUBLIC_URL, ""), { key: null, headers: { cookie } });
    expect(page.text).toContain("Join the account with erin<");
    expect(page.text).toContain("chat:erin-in-chat");
    expect(await ownerOf("erin-in-chat")).toBe(other);

    expect((await join(token, { ...OWN, cookie })).status).toBe(200);
    expect(await ownerOf("erin-in-chat")).toBe(uid);
    expect((await join(token, { ...OWN, cookie })).status).toBe(410);
    expect((await use(token)).status).toBe(410);
    const [before] = await harness.storage.people.getMany([
      other as Parameters<typeof harness.storage.people.getMany>[0][number],
    ]);
    expect(before?.disabled).toBe(true);
  });

  test("nobody joins an account without being signed in, from another site or after ten minutes", async () => {
    const { cookie } = await signedIn("frank");
    const { token, uid } = await aLink("frank-in-chat");
    const elsewhere = { origin: "https://evil.example", "sec-fetch-site": "cross-site", cookie };

    expect((await join(token, OWN)).status).toBe(410);
    expect((await join(token, elsewhere)).status).toBe(403);
    expect((await call(harness, "/signin/link/join", { key: null, headers: { cookie } })).status).toBe(405);
    harness.clock.aheadMs += 10 * 60_000;
    expect((await join(token, { ...OWN, cookie })).status).toBe(410);

    expect(await ownerOf("frank-in-chat")).toBe(uid);
  });

  test("an account whose owner has changed since is not joined, and one's own link only signs in", async () => {
    const { cookie } = await signedIn("grace");
    const { token } = await aLink("grace-in-chat");
    const third = await harness.storage.people.ensure(FIRST_TEAM, "chat:third", "third");
    await harness.storage.identities.link(FIRST_TEAM, "chat:grace-in-chat", third.id);
    const own = await aLink("grace");

    expect((await join(token, { ...OWN, cookie })).status).toBe(410);
    expect((await join(own.token, { ...OWN, cookie })).status).toBe(410);
    const page = await call(harness, own.url.replace(PUBLIC_URL, ""), { key: null, headers: { cookie } });

    expect(page.text).toContain("Sign in as grace");
    expect(await ownerOf("grace-in-chat")).toBe(third.id);
  });

  test("a sign-in by a key that allows less than its principal, or that expires, joins no account", async () => {
    const keys = [
      { scopes: ["runs:read"] },
      { scopes: ["runs:write", "settings:read"] },
      { scopes: ["admin"], expires_in_days: 1 },
    ];

    for (const [index, limits] of keys.entries()) {
      const created = await call(harness, `${API}/keys`, { body: { name: "limited", ...limits } });
      const cookie = await signedInBy(created.body.key);
      const { token, uid, url } = await aLink(`limited-${index}`);

      const page = await call(harness, url.replace(PUBLIC_URL, ""), { key: null, headers: { cookie } });

      expect(page.text).toContain(`Sign in as limited-${index}`);
      expect((await join(token, { ...OWN, cookie })).status).toBe(410);
      expect(await ownerOf(`limited-${index}`)).toBe(uid);
    }
  });

  test("a sign-in by a key that allows all that its principal may do joins an account", async () => {
    const cookie = await signedInBy(harness.key);
    const { token, uid } = await aLink("of-the-administrator");

    expect((await join(token, { ...OWN, cookie })).status).toBe(200);
    expect(await ownerOf("of-the-administrator")).not.toBe(uid);
  });

  async function signedInBy(key: string): Promise<string> {
    return cookieOf(await call(harness, "/signin", { body: { key }, key: null }));
  }
});
