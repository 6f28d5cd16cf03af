import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { type Call, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const PATH = "/api/v1/agent/environments";
const CONFIG = {
  name: "Backend",
  description: "Where it is built",
  docker_image: "node:24",
  github_repos: [{ owner: "acme", repo: "api" }],
  sparse: ["services/api", "apps/[id]"],
  setup_commands: ["npm ci", "npm run build"],
  network: "internet",
  pull_request: "off",
  secrets: [{ name: "NPM_TOKEN" }],
};

let harness: ApiHarness;
let ann: string;
let bob: string;
beforeAll(async () => {
  harness = await startHarness();
  const scopes = ["runs:write", "settings:write"] as const;
  ann = await harness.addUser("ann", { scopes });
  bob = await harness.addUser("bob", { scopes });
});
afterAll(() => harness.close());

function create(config: object = CONFIG, rest: object = {}, options: Call = {}) {
  return call(harness, PATH, { body: { config, ...rest }, ...options });
}

describe("an environment", () => {
  test("an environment is created, read, changed and deleted", async () => {
    const created = await create();
    const { uid } = created.body;
    const changed = await call(harness, `${PATH}/${uid}`, {
      method: "PUT",
      body: { config: { name: "Frontend" } },
      key: ann,
    });
    const read = await call(harness, `${PATH}/${uid}`, { key: bob });
    const removed = await call(harness, `${PATH}/${uid}`, { method: "DELETE" });
    const afterDelete = await call(harness, `${PATH}/${uid}`);

    expect([created.status, changed.status, removed.status, afterDelete.status]).toEqual([
      201, 200, 200, 404,
    ]);
    expect(uid).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(created.body).toMatchObject({
      config: CONFIG,
      setup_failed: false,
      scope: { type: "Team" },
      creator: { type: "user", display_name: "Administrator" },
    });
    expect(read.body).toMatchObject({
      config: { name: "Frontend", github_repos: [], setup_commands: [], network: "none" },
      creator: { display_name: "Administrator" },
      last_editor: { display_name: "ann" },
    });
    expect(removed.body).toEqual({ success: true });
  });

  test("a personal environment is visible only to its creator and to administrators", async () => {
    const { uid } = (await create({ name: "Anns" }, { team: false }, { key: ann })).body;
    const listed = async (key: string) =>
      (await call(harness, PATH, { key })).body.environments.map(
        (environment: { uid: string }) => environment.uid,
      );

    expect(await listed(ann)).toContain(uid);
    expect(await listed(harness.key)).toContain(uid);
    expect(await listed(bob)).not.toContain(uid);
    expect((await call(harness, `${PATH}/${uid}`, { key: bob })).status).toBe(404);
    const put = { method: "PUT", body: { config: CONFIG }, key: bob };
    expect((await call(harness, `${PATH}/${uid}`, put)).status).toBe(404);
    expect((await call(harness, `${PATH}/${uid}`, { method: "DELETE", key: bob })).status).toBe(404);
    expect((await call(harness, `${PATH}/${uid}`, { key: ann })).body.scope).toMatchObject({ type: "User" });
  });

  test("folders are stored without a slash at their end, and null or none of them are all folders", async () => {
    const some = await create({ name: "x", sparse: ["services/api/", ".github"] });
    const all = [await create({ name: "x", sparse: [] }), await create({ name: "x", sparse: null })];

    expect(some.body.config.sparse).toEqual(["services/api", ".github"]);
    expect(all.map(({ body, status }) => [status, "sparse" in body.config])).toEqual([
      [201, false],
      [201, false],
    ]);
  });

  test.each([
    ...["", "/", "/etc", ".", "..", "../api", "services/../..", "services//api", "services/./api"],
    ...["-v", "--cone", "!services", "services\\api", "services\nlibs", "s".repeat(251)],
  ])("the folder %j is refused", async (folder) => {
    const refused = await create({ name: "x", sparse: [folder] });

    expect(refused.status).toBe(400);
    expect(refused.body.issues[0].path).toBe("config.sparse.0");
  });

  test.each<[string, object]>([
    ["without a name", { docker_image: "node" }],
    ["with an endless description", { name: "x", description: "d".repeat(241) }],
    ["with a hundred and one commands", { name: "x", setup_commands: Array(101).fill("true") }],
    ["with a hundred and one folders", { name: "x", sparse: Array(101).fill("a") }],
    ["with an endless command", { name: "x", setup_commands: ["c".repeat(4_097)] }],
    ["with a repository that leads elsewhere", { name: "x", github_repos: [{ owner: "..", repo: "api" }] }],
    ["with half a repository", { name: "x", github_repos: [{ owner: "acme" }] }],
    ["with another network", { name: "x", network: "some" }],
    ["with a variable that is no secret", { name: "x", secrets: [{ name: "PATH" }] }],
  ])("an environment %s is refused", async (_what, config) => {
    expect((await create(config)).status).toBe(400);
  });

  test.each([
    ["-v", /must be the name of an image/],
    ["host/../..", /must be the name of an image/],
    ["http://10.0.0.7/x", /must be the name of an image/],
    ["10.0.0.7:6379/x", /10\.0\.0\.7:6379.*ERRAND_IMAGE_REGISTRIES/],
    ["ghcr.io/acme/app", /ghcr\.io.*docker\.io, registry\.example\.com:5000\/team.*ERRAND_IMAGE_REGISTRIES/],
    ["registry.example.com:5000/other", /ERRAND_IMAGE_REGISTRIES/],
  ])("an environment with the image %s is refused with what to do", async (image, reason) => {
    const refused = await create({ name: "x", docker_image: image });

    expect(refused.status).toBe(400);
    expect(refused.body.issues).toEqual([
      {
        path: "config.docker_image",
        pointer: "/config/docker_image",
        message: expect.stringMatching(reason),
      },
    ]);
  });

  test("an environment of an earlier version keeps its image until the image is changed", async () => {
    const { body } = await create({ name: "x", docker_image: "node" });
    const { uid } = body;
    const stored = await harness.storage.environments.find(FIRST_TEAM, uid);
    expect.assert(stored !== undefined);
    await harness.storage.environments.replace({
      ...stored,
      config: { ...stored.config, image: "ghcr.io/acme/app" },
    });
    const replace = async (image: string) =>
      (
        await call(harness, `${PATH}/${uid}`, {
          method: "PUT",
          body: { config: { name: "y", docker_image: image } },
        })
      ).status;

    expect((await call(harness, `${PATH}/${uid}`)).body.config.docker_image).toBe("ghcr.io/acme/app");
    expect(await replace("ghcr.io/acme/app")).toBe(200);
    expect(await replace("ghcr.io/acme/other")).toBe(400);
  });

  test("an environment with values of the longest length is accepted, and unknown members are ignored", async () => {
    const config = {
      name: "x",
      description: "d".repeat(240),
      setup_commands: Array(100).fill("c".repeat(4_096)),
    };

    const created = await create({ ...config, colour: "blue" });

    expect(created.status).toBe(201);
    expect(created.body.config).toEqual({ ...config, github_repos: [], network: "none" });
  });

  test("writing an environment needs a key with the scope for settings", async () => {
    const reader = await harness.addUser("reader", { scopes: ["runs:write"] });

    expect((await create(CONFIG, {}, { key: reader })).status).toBe(403);
    expect((await call(harness, PATH, { key: reader })).status).toBe(200);
  });

  test("one idempotency key creates one environment", async () => {
    const headers = { "idempotency-key": "once" };
    const [first, again] = [await create(CONFIG, {}, { headers }), await create(CONFIG, {}, { headers })];

    expect(again.body).toEqual(first.body);
    expect([again.status, again.headers.get("idempotent-replay")]).toEqual([201, "true"]);
  });
});

test("environments are listed by their last change or by name", async () => {
  const key = await harness.addUser("cleo", { scopes: ["settings:write", "runs:read"] });
  const make = async (name: string) => (await create({ name }, { team: false }, { key })).body.uid;
  const [zebra, apple] = [await make("Zebra"), await make("Apple")];
  await call(harness, `${PATH}/${zebra}`, { method: "PUT", body: { config: { name: "Zebra" } }, key });
  const own = async (query: string) =>
    (await call(harness, `${PATH}${query}`, { key })).body.environments
      .map((environment: { uid: string }) => environment.uid)
      .filter((uid: string) => uid === zebra || uid === apple);

  expect(await own("")).toEqual([zebra, apple]);
  expect(await own("?sort_by=name")).toEqual([apple, zebra]);
  expect((await call(harness, `${PATH}?sort_by=age`, { key })).status).toBe(400);
});

describe("a run in an environment", () => {
  test("a run keeps its environment, is found by it, and appears in its history", async () => {
    const { uid } = (await create()).body;
    const id = await createRun(harness, { config: { environment_id: uid } });
    await harness.edit(id, (edit) => {
      edit.moveTo("PENDING");
      edit.moveTo("CLAIMED");
      edit.moveTo("INPROGRESS");
    });

    const run = (await call(harness, `/api/v1/agent/runs/${id}`)).body;
    const { body } = await call(harness, `${PATH}/${uid}`);

    expect(run.agent_config.environment_id).toBe(uid);
    expect(body.last_task_created).toMatchObject({ id, state: "INPROGRESS", prompt: "do it" });
    expect(body.last_task_run_timestamp).toBe(run.started_at);
    const runs = (await call(harness, `/api/v1/agent/runs?environment_id=${uid}`)).body.runs;
    expect(runs.map((each: { run_id: string }) => each.run_id)).toEqual([id]);
  });

  test("the history of a shared environment hides runs that the caller may not see", async () => {
    const { uid } = (await create()).body;
    const config = { environment_id: uid };
    const id = await createRun(harness, { config, team: false }, { key: ann });

    const told = async (key: string) =>
      (await call(harness, `${PATH}/${uid}`, { key })).body.last_task_created?.id;

    expect([await told(ann), await told(harness.key), await told(bob)]).toEqual([id, id, undefined]);
  });

  test.each(["unknown", "personal", "another team's"])(
    "a run in an environment that is %s is refused",
    async (which) => {
      const uid = await environmentThatIs(which);

      const answer = await call(harness, "/api/v1/agent/runs", {
        body: { prompt: "x", config: { environment_id: uid } },
        key: bob,
      });

      expect([answer.status, answer.body.detail]).toEqual([404, "There is no such environment."]);
    },
  );

  test("an administrator may create a run in any environment of the team", async () => {
    const uid = await environmentThatIs("personal");

    expect(await createRun(harness, { config: { environment_id: uid } })).toEqual(expect.any(String));
  });
});

async function environmentThatIs(which: string): Promise<string> {
  if (which === "unknown") {
    return "0123456789abcdefghijkl";
  }
  if (which === "personal") {
    return (await create(CONFIG, { team: false }, { key: ann })).body.uid;
  }
  const teamId = "00000000-0000-7000-8000-00000000000f" as never;
  if ((await harness.storage.teams.find(teamId)) === undefined) {
    await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
  }
  const key = await harness.addUser("stranger", { teamId, scopes: ["settings:write"] });
  return (await create(CONFIG, {}, { key })).body.uid;
}
