import cookie from "@fastify/cookie";
import { type FastifyInstance, fastify } from "fastify";
import { expect, test } from "vitest";
import { createKeyHasher, newApiKey } from "../../../../src/api/auth/api-keys.ts";
import { SessionCookies } from "../../../../src/api/auth/cookies.ts";
import { Signer } from "../../../../src/api/http/signer.ts";
import { systemClock } from "../../../../src/app/system.ts";

const KEY_HASH = createKeyHasher("s")("a key");

test("an API key is 256 random bits behind the prefix errand_", () => {
  const keys = Array.from({ length: 100 }, newApiKey);

  expect(new Set(keys).size).toBe(100);
  for (const key of keys) {
    expect(key).toMatch(/^errand_[A-Za-z0-9_-]{43}$/);
  }
});

test("the stored hash depends on the API key and on the secret", () => {
  const hashes = [createKeyHasher("s")("a"), createKeyHasher("s")("b"), createKeyHasher("t")("a")];

  expect(new Set(hashes).size).toBe(3);
  expect(createKeyHasher("s")("a")).toBe(hashes[0]);
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
});

test("a signature is not valid for another purpose or under another secret", () => {
  const signature = new Signer("s", "cookie").sign("x");

  expect(new Signer("s", "cookie").verify("x", signature)).toBe(true);
  expect(new Signer("s", "cursor").verify("x", signature)).toBe(false);
  expect(new Signer("t", "cookie").verify("x", signature)).toBe(false);
  expect(new Signer("s", "cookie").verify("x", "")).toBe(false);
});

test.each([
  ["http://127.0.0.1:8787", false],
  ["http://localhost", false],
  ["http://[::1]:8787", false],
  ["http://errand.example", true],
  ["https://errand.example", true],
  ["https://127.0.0.1", true],
  ["http://127.0.0.1.example", true],
])("a cookie of %s is for HTTPS alone: %s", async (publicUrl, isSecure) => {
  const server = await cookieServer(publicUrl);

  const cookie = String((await server.inject("/issue")).headers["set-cookie"]);

  expect(cookie.includes("; Secure")).toBe(isSecure);
  expect(cookie.startsWith("__Host-")).toBe(isSecure);
});

test("the session cookie is found among other cookies", async () => {
  const server = await cookieServer("http://localhost");
  const [pair] = String((await server.inject("/issue")).headers["set-cookie"]).split(";");
  const read = async (headers: { cookie?: string }) => (await server.inject({ url: "/read", headers })).body;

  expect(await read({ cookie: `a=b; ${pair}; c=d` })).toBe(KEY_HASH);
  expect(await read({ cookie: "a=b" })).toBe("none");
  expect(await read({ cookie: "a=%; ;=; __proto__=x" })).toBe("none");
  expect(await read({})).toBe("none");
});

/** A server that issues and reads the session cookie. */
async function cookieServer(publicUrl: string): Promise<FastifyInstance> {
  const cookies = new SessionCookies({
    sessionSecret: "s",
    publicUrl: () => publicUrl,
    clock: systemClock,
  });
  const server = fastify();
  await server.register(cookie);
  server.get("/issue", async (_request, reply) => {
    cookies.issue(reply, KEY_HASH);
    return "issued";
  });
  server.get("/read", async (request) => cookies.read(request) ?? "none");
  return server;
}
