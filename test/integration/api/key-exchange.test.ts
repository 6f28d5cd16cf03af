import { generateKeyPair, type JWTPayload, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  OIDC_CLIENT,
  type OidcIssuer,
  type SignOptions,
  startOidcIssuer,
} from "../../support/oidc-issuer.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const WORKFLOW = {
  aud: PUBLIC_URL,
  sub: "repo:acme/app:ref:refs/heads/main",
  repository: "acme/app",
  repository_id: "812345678",
  ref: "refs/heads/main",
  event_name: "push",
};

let issuer: OidcIssuer;
let harness: ApiHarness;
let service: string;
beforeAll(async () => {
  issuer = await startOidcIssuer("http://127.0.0.1/callback");
  harness = await startHarness({ webhookAllow: "127.0.0.1" });
  service = await addServiceAccount("CI of acme/app");
  await addPolicy({ name: "Main of acme/app" });
});
afterAll(async () => {
  await harness.close();
  await issuer.stop();
});

async function addServiceAccount(name: string): Promise<string> {
  const body = { type: "service_account", display_name: name };
  return (await call(harness, "/api/v1/agent/principals", { body })).body.uid;
}

interface NewPolicy {
  readonly name: string;
  readonly effect?: string;
  readonly priority?: number;
  readonly workflow?: object;
  readonly match?: object;
}

function addPolicy({ match, workflow, ...policy }: NewPolicy): Promise<Answer> {
  const wanted = {
    issuer: issuer.url,
    repository_ids: [WORKFLOW.repository_id],
    refs: ["refs/heads/main", "refs/tags/v*"],
    events: ["push", "schedule"],
    ...workflow,
  };
  const body = { effect: "allow", ...policy, match: { workflow: wanted, principals: [service], ...match } };
  return call(harness, "/api/v1/agent/policies", { body });
}

async function exchange(
  claims: JWTPayload = {},
  more: object = {},
  options: SignOptions = {},
): Promise<Answer> {
  return exchangeToken(await issuer.sign({ ...WORKFLOW, ...claims }, options), more);
}

function exchangeToken(token: string, more: object = {}): Promise<Answer> {
  return call(harness, "/api/v1/agent/keys/exchange", { body: { token, ...more }, key: null });
}

describe("a workflow that a policy names", () => {
  test("gets a key of the policy's principal that starts runs and ends within the hour", async () => {
    const answer = await exchange();

    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: "acme/app refs/heads/main (push)",
      scopes: ["runs:write"],
      principal_uid: service,
    });
    const { expires_at, key } = answer.body;
    const lifetime = Date.parse(expires_at) - harness.clock.now().getTime();
    expect(lifetime).toBeLessThanOrEqual(3_600_000);
    expect(lifetime).toBeGreaterThan(3_500_000);
    const run = await call(harness, "/api/v1/agent/runs", { body: { prompt: "say x" }, key });
    expect(run.status).toBe(200);
    expect((await call(harness, "/api/v1/agent/policies", { key })).status).toBe(403);
  });

  test("is in the audit as the account to which the key belongs", async () => {
    const { body } = await exchange();

    const entries = (await call(harness, `/api/v1/agent/audit?target_id=${body.id}`)).body.entries;
    expect(entries).toMatchObject([
      {
        action: "key.created",
        actor: { uid: service, type: "service_account", address: "127.0.0.1" },
        request_id: expect.any(String),
      },
    ]);
  });

  test("chooses a shorter lifetime, and none beyond an hour", async () => {
    const { body } = await exchange({}, { expires_in: 60 });

    expect(Date.parse(body.expires_at) - harness.clock.now().getTime()).toBeLessThanOrEqual(60_000);
    expect((await exchange({}, { expires_in: 3_601 })).status).toBe(400);
  });

  test("matches by the pattern of a tag", async () => {
    expect((await exchange({ ref: "refs/tags/v1.2.0" })).status).toBe(201);
  });
});

describe("no key is given", () => {
  test.each([
    ["another repository with the same name", { repository_id: "1" }, 403],
    ["another ref", { ref: "refs/heads/feature" }, 403],
    ["a ref that begins like it", { ref: "refs/heads/main2" }, 403],
    ["another event", { event_name: "workflow_dispatch" }, 403],
    ["another audience", { aud: "https://elsewhere.example.com" }, 403],
    ["another issuer", { iss: "https://issuer.example.com" }, 401],
    ["no repository", { repository_id: undefined }, 401],
    ["a repository that is not text", { repository_id: 812_345_678 }, 401],
    ["no ref", { ref: undefined }, 401],
  ])("to %s", async (_, claims, status) => {
    const answer = await exchange(claims);

    expect(answer.status).toBe(status);
    expect(answer.body.key).toBeUndefined();
  });

  test("the refusal names what a policy would have to name", async () => {
    const { body } = await exchange({ ref: "refs/heads/feature" });

    expect(body.detail).toBe(
      "No policy gives workflows with repository id 812345678 (acme/app), ref refs/heads/feature and event push a key.",
    );
  });

  test("for a token that has expired, is signed by another key, or by none", async () => {
    const { privateKey } = await generateKeyPair("RS256");
    const { privateKey: small } = await generateKeyPair("ES256");
    const answers = await Promise.all([
      exchange({}, {}, { expires: Math.floor(Date.now() / 1_000) - 60 }),
      exchange({}, {}, { key: privateKey }),
      exchange({}, {}, { key: small, header: { alg: "ES256" } }),
      exchange({}, {}, { header: { kid: "unknown" } }),
      exchangeToken(new UnsecuredJWT({ iss: issuer.url, ...WORKFLOW }).setExpirationTime("5m").encode()),
      exchangeToken("nonsense"),
      exchangeToken(`${"a".repeat(5_000)}.${"b".repeat(5_000)}.c`),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(Array.from(answers, () => 401));
  });

  test("to workflows of pull requests, also by a policy that was stored without the check", async () => {
    const refused = await addPolicy({ name: "Pull requests", workflow: { events: ["pull_request_target"] } });
    expect(refused.status).toBe(400);
    const [known] = await harness.storage.policies.list((await harness.storage.teams.list())[0]?.id as never);
    if (known?.match.workflow === undefined) {
      throw new Error("The first policy is the one of the test.");
    }
    const workflow = { ...known.match.workflow, events: ["pull_request", "pull_request_target"] };
    await harness.storage.policies.add({
      ...known,
      id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70",
      name: "Stored",
      match: { ...known.match, workflow },
    });

    const [one, other] = await Promise.all([
      exchange({ event_name: "pull_request" }),
      exchange({ event_name: "pull_request_target" }),
    ]);

    expect([one.status, other.status]).toEqual([403, 403]);
  });

  test("when a policy before it denies this workflow", async () => {
    const workflow = { repository_ids: ["55"] };
    await addPolicy({ name: "Repository 55", workflow });
    expect((await exchange({ repository_id: "55" })).status).toBe(201);

    await addPolicy({ name: "No more", effect: "deny", priority: 1, workflow });

    expect((await exchange({ repository_id: "55" })).status).toBe(403);
  });

  test("when its principal is disabled", async () => {
    const other = await addServiceAccount("Gone");
    await addPolicy({ name: "Gone", workflow: { repository_ids: ["77"] }, match: { principals: [other] } });
    await call(harness, `/api/v1/agent/principals/${other}`, { method: "PATCH", body: { disabled: true } });

    const answer = await exchange({ repository_id: "77" });

    expect(answer.status).toBe(403);
    expect(answer.body.detail).toBe('The principal that the policy "Gone" names is disabled or gone.');
  });
});

test("a workflow that two teams name must say which team it means", async () => {
  const team = (await call(harness, "/api/v1/agent/teams", { body: { name: "Second" } })).body;
  await harness.addUser("Ada", { teamId: team.uid });
  const [own] = await harness.storage.people.list(team.uid);
  const [known] = await harness.storage.policies.list((await harness.storage.teams.list())[0]?.id as never);
  if (own === undefined || known === undefined) {
    throw new Error("The team has a principal.");
  }
  const workflow = { issuer: issuer.url, repositoryIds: ["99"], refs: ["*"], events: ["push"] };
  const policy = { ...known, teamId: team.uid, match: { workflow, principals: [own.id] } };
  await harness.storage.policies.add({ ...policy, id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d71" });
  expect((await exchange({ repository_id: "99" })).body.principal_uid).toBe(own.id);
  await addPolicy({ name: "Repository 99", workflow: { repository_ids: ["99"] } });

  const unclear = await exchange({ repository_id: "99" });
  const named = await exchange({ repository_id: "99" }, { team_uid: team.uid });

  expect(unclear.status).toBe(403);
  expect(unclear.body.remedy).toBe("Name the team in `team_uid`.");
  expect(named.body.principal_uid).toBe(own.id);
});

describe("a policy about workflows", () => {
  test.each([
    ["another condition", { match: { sources: ["API"] } }],
    ["no principal", { match: { principals: undefined } }],
    ["two principals", { match: { principals: [crypto.randomUUID(), crypto.randomUUID()] } }],
    ["the effect require_approval", { effect: "require_approval" }],
    ["an issuer that is not a URL", { workflow: { issuer: "actions" } }],
    ["an unknown member", { workflow: { branches: ["main"] } }],
  ])("is refused with %s", async (name, policy) => {
    expect((await addPolicy({ name, ...policy })).status).toBe(400);
  });

  test("decides on no action", async () => {
    const denied = await addPolicy({
      name: "Denies",
      effect: "deny",
      priority: -5,
      workflow: { refs: ["*"] },
    });
    expect(denied.status).toBe(201);

    const verdict = await call(harness, "/api/v1/agent/policies/evaluate", {
      body: { action: "create", principal_uid: service },
    });

    expect(verdict.body.effect).toBe("allow");
    await call(harness, `/api/v1/agent/policies/${denied.body.id}`, { method: "DELETE" });
  });

  test("comes back as it was sent", async () => {
    const { body } = await addPolicy({
      name: "As sent",
      workflow: { audience: "errand", repository_ids: ["3"] },
    });

    expect(body.match).toEqual({
      principals: [service],
      workflow: {
        issuer: issuer.url,
        audience: "errand",
        repository_ids: ["3"],
        refs: ["refs/heads/main", "refs/tags/v*"],
        events: ["push", "schedule"],
      },
    });
  });
});

test("an issuer that does not answer is told apart from a bad token, and asked again", async () => {
  const late = await startOidcIssuer(OIDC_CLIENT.clientId);
  try {
    await addPolicy({ name: "Late", workflow: { issuer: late.url, repository_ids: ["4"] } });
    const token = await late.sign({ ...WORKFLOW, repository_id: "4" });
    late.isDown = true;
    const unanswered = await exchangeToken(token);
    expect(unanswered.status).toBe(401);
    expect(unanswered.body).toMatchObject({
      detail: "The issuer of this token does not answer as it should.",
      retryable: true,
    });
    late.isDown = false;

    expect((await exchangeToken(token)).status).toBe(201);
  } finally {
    await late.stop();
  }
});

test("the server does not connect to an issuer in its own network that its operator has not allowed", async () => {
  const guarded = await startHarness();
  const inner = await startOidcIssuer(OIDC_CLIENT.clientId);
  try {
    const principals = [
      (
        await call(guarded, "/api/v1/agent/principals", {
          body: { type: "service_account", display_name: "CI" },
        })
      ).body.uid,
    ];
    const workflow = { issuer: inner.url, repository_ids: ["1"], refs: ["*"], events: ["push"] };
    await call(guarded, "/api/v1/agent/policies", {
      body: { name: "Inner", effect: "allow", match: { workflow, principals } },
    });

    const answer = await call(guarded, "/api/v1/agent/keys/exchange", {
      body: { token: await inner.sign({ ...WORKFLOW, repository_id: "1" }) },
      key: null,
    });

    expect(answer.status).toBe(401);
    expect(inner.requests).toBe(0);
  } finally {
    await inner.stop();
    await guarded.close();
  }
});
