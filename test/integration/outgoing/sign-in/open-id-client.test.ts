import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PersonNeeded, type SignInAttempt } from "../../../../src/core/ports/sign-in-provider.ts";
import { OpenIdClient } from "../../../../src/outgoing/sign-in/open-id-client.ts";
import { type AnsweringServer, answerJson, startAnsweringServer } from "../../../support/answering-server.ts";

const CLIENT = { clientId: "errand", clientSecret: "a secret of the client, long enough" };
const ATTEMPT: SignInAttempt = {
  redirectUri: "http://127.0.0.1:8787/signin/oidc/callback",
  state: "the state of this browser",
  nonce: "the nonce of this browser",
  verifier: "a verifier of this browser that is at least 43 characters long",
};
const OWN = generateKeyPairSync("rsa", { modulusLength: 2048 });
const OTHER = generateKeyPairSync("rsa", { modulusLength: 2048 });

type Json = Readonly<Record<string, unknown>>;

let issuer: AnsweringServer;
let client: OpenIdClient;
let token: string;
let info: Json;
/** What the issuer answers instead of a token, and with which status. */
let refusal: { readonly body: Json; readonly status: number } | undefined;
/** The ways to send the client's secret that the metadata list, and the only one that the issuer takes. */
let methods: readonly string[] | undefined;
let taken: "basic" | "post" | "any" | "none";
let refreshed: Json;
/** Whether the ID token says everything that the configuration looks at. */
let isEnough: boolean;

/** An issuer whose tokens a test forges. Its metadata allow everything that tokens can be signed with. */
beforeAll(async () => {
  issuer = await startAnsweringServer();
  issuer.answer = (response, { headers, url }) => {
    const answers: Readonly<Record<string, Json>> = {
      "/.well-known/openid-configuration": {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        jwks_uri: `${issuer.url}/keys`,
        userinfo_endpoint: `${issuer.url}/userinfo`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
        ...(methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods }),
      },
      "/keys": { keys: [{ ...OWN.publicKey.export({ format: "jwk" }), alg: "RS256", use: "sig" }] },
      "/token": { access_token: "an access token", token_type: "Bearer", id_token: token, ...refreshed },
      "/userinfo": info,
    };
    const way = headers.authorization?.startsWith("Basic ") === true ? "basic" : "post";
    if (url === "/token" && taken !== "any" && taken !== way) {
      answerJson(response, { error: "invalid_client" }, 401);
      return;
    }
    if (url === "/token" && refusal !== undefined) {
      answerJson(response, refusal.body, refusal.status);
      return;
    }
    answerJson(response, answers[url] ?? {}, answers[url] === undefined ? 404 : 200);
  };
});
afterAll(() => issuer.stop());
beforeEach(() => {
  issuer.requests.length = 0;
  client = new OpenIdClient({
    ...CLIENT,
    issuer: issuer.url,
    scopes: "openid email profile",
    suffices: () => isEnough,
  });
  token = signed(claims());
  info = { sub: "ann" };
  [refusal, methods, taken, refreshed, isEnough] = [undefined, undefined, "any", {}, false];
});

function claims(changes: Json = {}): Json {
  const now = nowSeconds();
  const right = { iss: issuer.url, aud: CLIENT.clientId, sub: "ann", nonce: ATTEMPT.nonce };
  return { ...right, iat: now, exp: now + 600, ...changes };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function part(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function signed(payload: Json, key: KeyObject = OWN.privateKey): string {
  const text = `${part({ alg: "RS256" })}.${part(payload)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

function signedWithSecret(payload: Json, secret: string | Buffer): string {
  const text = `${part({ alg: "HS256" })}.${part(payload)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

async function comeBack(changes: Readonly<Record<string, string>> = {}): Promise<Json> {
  const callback = new URL(ATTEMPT.redirectUri);
  callback.search = new URLSearchParams({ code: "a code", state: ATTEMPT.state, ...changes }).toString();
  return (await client.prove(callback, ATTEMPT)).claims;
}

describe("an OpenID Connect client", () => {
  test("the claims of a token that proves everything are returned", async () => {
    token = signed(claims({ name: "Ann" }));

    expect(await comeBack()).toMatchObject({ iss: issuer.url, sub: "ann", name: "Ann" });
  });

  test("the code is exchanged with the verifier whose hash the address had", async () => {
    const { searchParams } = await client.authorizationUrl(ATTEMPT);
    await comeBack();

    const { body = "" } = issuer.requests.find(({ url }) => url === "/token") ?? {};
    const sent = new URLSearchParams(body);
    const verifier = Buffer.from(sent.get("code_verifier") ?? "");
    const hash = await crypto.subtle.digest("SHA-256", verifier);
    expect(sent.get("code_verifier")).toBe(ATTEMPT.verifier);
    expect(searchParams.get("code_challenge")).toBe(Buffer.from(hash).toString("base64url"));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      code_challenge_method: "S256",
      redirect_uri: ATTEMPT.redirectUri,
      state: ATTEMPT.state,
      nonce: ATTEMPT.nonce,
    });
  });

  test.each<[string, () => string]>([
    ["no signature and the algorithm none", () => `${part({ alg: "none" })}.${part(claims())}.`],
    ["the signature of another key", () => signed(claims(), OTHER.privateKey)],
    ["a changed payload", () => signed(claims()).replace(/\..*\./, `.${part(claims({ sub: "eve" }))}.`)],
    ["a signature by the client's secret", () => signedWithSecret(claims(), CLIENT.clientSecret)],
    [
      "a signature by the public key as a secret",
      () => signedWithSecret(claims(), OWN.publicKey.export({ type: "spki", format: "pem" })),
    ],
    ["another issuer", () => signed(claims({ iss: "https://evil.example" }))],
    ["another audience", () => signed(claims({ aud: "another client" }))],
    ["several audiences without the authorized party", () => signed(claims({ aud: ["errand", "other"] }))],
    ["another authorized party", () => signed(claims({ aud: ["errand", "other"], azp: "other" }))],
    ["another nonce", () => signed(claims({ nonce: "of another browser" }))],
    ["no nonce", () => signed(claims({ nonce: undefined }))],
    ["no subject", () => signed(claims({ sub: undefined }))],
    ["an end in the past", () => signed(claims({ exp: nowSeconds() - 90 }))],
    ["a beginning in the future", () => signed(claims({ nbf: nowSeconds() + 90 }))],
  ])("a token with %s proves nothing", async (_what, forge) => {
    token = forge();

    await expect(comeBack()).rejects.toMatchObject({ code: "authentication_required" });
  });

  test.each([
    ["begins in less than a minute", { nbf: nowSeconds() + 45 }],
    ["ended less than a minute ago", { exp: nowSeconds() - 45 }],
  ])("a token that %s is accepted, because clocks differ", async (_what, changes) => {
    token = signed(claims(changes));

    expect(await comeBack()).toMatchObject({ sub: "ann" });
  });

  test.each([
    ["another state", { state: "of another browser" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["an error", { error: "access_denied" }],
  ])("a callback with %s proves nothing, and its code is not sent", async (_what, changes) => {
    await expect(comeBack(changes)).rejects.toMatchObject({ code: "authentication_required" });
    expect(issuer.requests.map(({ url }) => url)).not.toContain("/token");
  });

  test("the user info of another subject proves nothing", async () => {
    info = { sub: "eve", email: "eve@acme.test", email_verified: true };

    await expect(comeBack()).rejects.toMatchObject({ code: "authentication_required" });
  });

  test("the verification of one address is not taken for another", async () => {
    token = signed(claims({ email: "boss@acme.test" }));
    info = { sub: "ann", email: "ann@acme.test", email_verified: true, groups: ["eng"] };

    const found = await comeBack();

    expect(found).toMatchObject({ email: "boss@acme.test", groups: ["eng"] });
    expect(found).not.toHaveProperty("email_verified");
  });

  test("an issuer that does not answer is asked again at the next sign-in", async () => {
    const { answer } = issuer;
    issuer.answer = (response) => answerJson(response, {}, 503);
    await expect(client.authorizationUrl(ATTEMPT)).rejects.toThrow();

    issuer.answer = answer;

    expect((await client.authorizationUrl(ATTEMPT)).pathname).toBe("/authorize");
  });
});

describe("the client's secret", () => {
  test.each<[string, readonly string[] | undefined, "basic" | "post"]>([
    ["lists nothing and takes it in a header", undefined, "basic"],
    ["lists nothing and takes it in the body", undefined, "post"],
    ["lists only the header", ["client_secret_basic"], "basic"],
    ["lists only the body", ["client_secret_post"], "post"],
    [
      "lists both and takes this client's only in the header",
      ["client_secret_basic", "client_secret_post"],
      "basic",
    ],
    [
      "lists both and takes this client's only in the body",
      ["client_secret_basic", "client_secret_post"],
      "post",
    ],
  ])(
    "an issuer that %s accepts the client, and is asked in the right way from then on",
    async (_what, listed, way) => {
      [methods, taken] = [listed, way];

      await comeBack();
      const first = tokenRequests();
      await comeBack();

      expect(first).toBeLessThan(3);
      expect(tokenRequests() - first).toBe(1);
    },
  );

  test("an issuer that refuses the client in both ways is named as the reason", async () => {
    taken = "none";

    await expect(comeBack()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/refuses the client id or its secret.*client_secret_post/) },
    });
  });

  function tokenRequests(): number {
    return issuer.requests.filter(({ url }) => url === "/token").length;
  }
});

describe("the question without the browser", () => {
  const ANN = { iss: "", sub: "ann", refreshToken: "a refresh token" };
  const refresh = () => client.refresh({ ...ANN, iss: issuer.url });

  test("the claims of the new token and of the user info come with the next refresh token", async () => {
    token = signed(claims({ nonce: undefined }));
    info = { sub: "ann", groups: ["eng"] };
    refreshed = { refresh_token: "the next" };

    expect(await refresh()).toMatchObject({
      outcome: "proven",
      claims: { iss: issuer.url, sub: "ann", groups: ["eng"] },
      refreshToken: "the next",
    });
  });

  test("an issuer that sends no ID token is asked for the user info of the same person", async () => {
    refreshed = { id_token: undefined };
    info = { sub: "ann", groups: ["eng"] };

    expect(await refresh()).toMatchObject({
      outcome: "proven",
      claims: { sub: "ann", groups: ["eng"] },
      refreshToken: "a refresh token",
    });
  });

  test("an answer for another person is a refusal", async () => {
    token = signed(claims({ sub: "eve", nonce: undefined }));

    expect(await refresh()).toMatchObject({ outcome: "refused" });
  });

  test.each([
    ["invalid_grant", 400, "refused"],
    ["interaction_required", 400, "refused"],
    ["login_required", 400, "refused"],
    ["access_denied", 403, "refused"],
    ["unauthorized_client", 400, "unclear"],
    ["unsupported_grant_type", 400, "unclear"],
    ["invalid_request", 400, "unanswered"],
    ["invalid_client", 401, "unanswered"],
    ["temporarily_unavailable", 503, "unanswered"],
    ["server_error", 500, "unanswered"],
    ["slow_down", 429, "unanswered"],
  ])("the answer %s with %i means: %s", async (error, status, outcome) => {
    refusal = { body: { error }, status };

    expect(await refresh()).toMatchObject({ outcome });
  });

  test("a refresh token that was used before the user info failed is not lost", async () => {
    token = signed(claims({ nonce: undefined }));
    refreshed = { refresh_token: "the next" };
    const { answer } = issuer;
    issuer.answer = (response, request) =>
      request.url === "/userinfo" ? answerJson(response, {}, 502) : answer(response, request);

    const answered = await refresh();

    issuer.answer = answer;
    expect(answered).toMatchObject({ outcome: "unanswered", refreshToken: "the next" });
  });

  test("no reason contains a token or what the issuer says in its own words", async () => {
    const body = {
      error: "invalid_grant",
      error_description: "Ann (ann@acme.test) left with a refresh token",
    };
    refusal = { body, status: 400 };
    const refused = await refresh();
    refusal = { body: { error: "<b>ann@acme.test" }, status: 400 };

    const reasons = JSON.stringify([refused, { ...(await refresh()), refreshToken: undefined }]);

    expect(reasons).toContain("invalid_grant");
    expect(reasons).not.toMatch(/acme|a refresh token/);
  });
});

describe("a silent sign-in", () => {
  test("the issuer is asked to ask nothing", async () => {
    const silent = await client.authorizationUrl({ ...ATTEMPT, isSilent: true });
    const usual = await client.authorizationUrl(ATTEMPT);

    expect([silent, usual].map(({ searchParams }) => searchParams.get("prompt"))).toEqual(["none", null]);
  });

  test.each(["login_required", "interaction_required", "consent_required", "account_selection_required"])(
    "the answer %s says that the person is needed, and only with the state of this browser",
    async (error) => {
      await expect(comeBack({ error })).rejects.toBeInstanceOf(PersonNeeded);
      await expect(comeBack({ error, state: "forged" })).rejects.not.toBeInstanceOf(PersonNeeded);
    },
  );

  test("an error of the issuer says nothing of the person", async () => {
    await expect(comeBack({ error: "server_error" })).rejects.not.toBeInstanceOf(PersonNeeded);
  });
});
