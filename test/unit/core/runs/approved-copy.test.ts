import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/basics/errors.ts";
import type { Principal, Viewer } from "../../../../src/core/model/people/principal.ts";
import type { McpServerConfig, Run } from "../../../../src/core/model/runs/run.ts";
import { sealOwner } from "../../../../src/core/model/secrets/secret.ts";
import { McpServerService } from "../../../../src/core/team/records/mcp-server-service.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { anEnvironment } from "../../../support/environment-builders.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { aPolicy } from "../../../support/rule-builders.ts";
import { END_TURN } from "../../../support/scripted-agents.ts";

const CONFIG = { config: { environment_id: "e", mcp_servers: { wiki: { warp_id: "wiki" } } } };
const BEFORE = { image: "debian:12", setupCommands: ["npm ci"], network: "none" } as const;
const AFTER = { image: "evil:1", setupCommands: ["curl x | sh"], network: "internet" } as const;

let harness: CoreHarness;
let ada: Principal;
let chief: Viewer;
let servers: McpServerService;
beforeEach(async () => {
  harness = new CoreHarness();
  ada = await harness.person("Ada");
  chief = { ...(await harness.person("Chief")), administrator: true };
  const { clock, secretBox: box, storage } = harness;
  servers = new McpServerService({ storage, box, clock });
  await servers.create(chief, { name: "wiki", config: { command: "wiki-mcp", env: { TOKEN: "t1" } } });
  const environment = anEnvironment("e", "acme/api");
  await storage.environments.add({ ...environment, config: { ...environment.config, ...BEFORE } });
  await storage.policies.add(
    aPolicy({ effect: "require_approval", match: { principals: [ada.id], actions: ["create"] } }),
  );
  await harness.start();
});

describe("an approved run", () => {
  test("executes what its approver has read, whatever was changed before and after the approval", async () => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeEnvironment();
    await aSecret("LATER");
    await approve(run);

    expectCopy(0);
    expect((await harness.run(run.id)).executes?.secretNames).toEqual([]);
    expect(harness.agents.starts[0]?.variables).not.toHaveProperty("LATER");
  });

  test("executes the copy in later attempts too, and for a follow-up after its end", async () => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await approve(run);
    await changeEnvironment();

    await harness.followUp(run.id, "and more");
    await quiet();

    expect((await harness.run(run.id)).turn).toBe(2);
    expectCopy(1);
  });

  test("does not revert the environment when the setup of the copy fails", async () => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeEnvironment();
    const message = "npm ci failed.";
    harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", message));
    await approve(run);

    expect((await harness.run(run.id)).statusMessage).toMatchObject({ message });
    const [now] = await harness.storage.environments.list(anEnvironment("e").teamId);
    expect(now?.config).toMatchObject(AFTER);
  });

  test("gets a rotated value of a server that is the same, and no variable that was added", async () => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeServer({ command: "wiki-mcp", env: { TOKEN: "t2", NODE_OPTIONS: "--require x" } });
    await approve(run);

    expect(harness.agents.starts[0]?.mcpServers).toEqual({
      wiki: { command: "wiki-mcp", args: [], env: { TOKEN: "t2" } },
    });
  });

  test.each<[string, McpServerConfig]>([
    ["another program", { command: "evil", env: { TOKEN: "t3" } }],
    ["another address", { url: "https://evil.example", headers: { TOKEN: "t3" } }],
    ["no such value", { command: "wiki-mcp" }],
  ])("fails rather than running a server that became %s", async (_what, config) => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeServer(config);
    await approve(run);

    const { state, statusMessage } = await harness.run(run.id);
    expect([state, statusMessage?.errorCode]).toEqual(["FAILED", "environment_setup_failed"]);
    expect(statusMessage?.message).toContain("wiki was changed after it was approved");
    expect(harness.agents.starts).toEqual([]);
  });

  test("a server without values stays as it was approved", async () => {
    await changeServer({ command: "wiki-mcp", args: ["--all"] });
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeServer({ command: "evil" });
    await approve(run);

    expect(harness.agents.starts[0]?.mcpServers).toEqual({
      wiki: { command: "wiki-mcp", args: ["--all"], env: {} },
    });
  });

  test("a retry is approved with the configuration of today", async () => {
    const run = await harness.create({ ...CONFIG, creator: ada });
    await changeEnvironment();
    const other = await harness.create({ ...CONFIG, creator: ada });

    expect(other.approval?.executes?.setupCommands).toEqual(AFTER.setupCommands);
    expect(other.approval?.inputsHash).not.toBe(run.approval?.inputsHash);
  });
});

test("a request with an MCP server has another hash than the same request without it", async () => {
  const server = { command: "npx", args: ["-y", "x"] };
  const [one, other] = [
    await harness.create({ prompt: "Fix it", creator: ada }),
    await harness.create({ prompt: "Fix it", creator: ada, config: { mcp_servers: { x: server } } }),
  ];

  expect(one.approval?.inputsHash).not.toBe(other.approval?.inputsHash);
  expect(other.approval?.executes?.mcpServers).toEqual({ x: server });
});

test("a run without an approval uses its environment as it is when the run begins", async () => {
  const run = await harness.create({ ...CONFIG, creator: chief });
  await quiet();
  await changeEnvironment();
  await harness.followUp(run.id, "and more");
  await quiet();

  expect(harness.workspaces.preparations[1]?.plan.setupCommands).toEqual(AFTER.setupCommands);
});

test("an approved follow-up gives its run the copy that was shown with it", async () => {
  const run = await harness.create({ ...CONFIG, creator: chief });
  await quiet();
  await harness.storage.policies.add(
    aPolicy({ effect: "require_approval", match: { principals: [ada.id], actions: ["follow_up"] } }),
  );
  // The rules are read again after a second.
  await harness.clock.advance(60_000);
  await harness.followUp(run.id, "and more");
  const [followUp] = await harness.runs.followUps.list(run.id, chief, { after: 0, limit: 10 });
  await changeEnvironment();

  expect(followUp?.approval?.executes).toMatchObject({ setupCommands: ["npm ci"], image: "debian:12" });
  const inputsHash = followUp?.approval?.inputsHash ?? "";
  await harness.runs.approve(run.id, chief, { approve: true, inputsHash });
  await quiet();
  expectCopy(1);
});

test.each(["queue", "steer"] as const)(
  "a follow-up (%s) that was approved while an agent works is given to an agent that began with the approved copy",
  async (delivery) => {
    const { promise: whenTold, resolve: goOn } = Promise.withResolvers<void>();
    harness.agents.scripts.push(async ({ say }) => {
      await whenTold;
      say("First.");
      return END_TURN;
    });
    await harness.storage.policies.add(
      aPolicy({
        effect: "require_approval",
        match: { principals: [ada.id], actions: ["follow_up", "steer"] },
      }),
    );
    await harness.clock.advance(60_000);
    const run = await harness.create({ ...CONFIG, creator: chief });
    await quiet();
    await changeEnvironment();
    await harness.runs.followUps.send(run.id, ada, { message: "and more", authorId: ada.id, delivery });
    const [followUp] = await harness.runs.followUps.list(run.id, chief, { after: 0, limit: 10 });
    const inputsHash = followUp?.approval?.inputsHash ?? "";
    await harness.runs.approve(run.id, chief, { approve: true, inputsHash });
    await quiet();
    goOn();
    await quiet();

    expect(followUp?.approval?.executes).toMatchObject({ setupCommands: AFTER.setupCommands });
    const { attempt, state, turn } = await harness.run(run.id);
    expect({ attempt, state, turn }).toEqual({ attempt: 2, state: "SUCCEEDED", turn: 2 });
    const plans = harness.workspaces.preparations.map(({ plan }) => plan.setupCommands);
    expect(plans).toEqual([BEFORE.setupCommands, AFTER.setupCommands]);
  },
);

test("policies about repositories see those of the approved copy and those of today", async () => {
  const run = await harness.create({ ...CONFIG, creator: ada });
  await approve(run);
  const { storage } = harness;
  const [environment] = await storage.environments.list(ada.teamId);
  const moved = { ...anEnvironment("e", "acme/web"), updatedAt: new Date("2026-04-01T00:00:00Z") };
  expect(await storage.environments.replace(moved, environment?.updatedAt)).toBe(true);
  await storage.policies.add(
    aPolicy({ effect: "deny", match: { repositories: ["acme/api"], actions: ["follow_up"] }, priority: 1 }),
  );
  await harness.clock.advance(60_000);

  await expect(harness.followUp(run.id, "and more")).rejects.toMatchObject({
    code: "not_authorized",
  });
});

function expectCopy(attempt: number): void {
  const { image, setupCommands, network } = BEFORE;
  expect(harness.workspaces.preparations[attempt]?.plan).toMatchObject({ image, setupCommands });
  expect(harness.gateways.grants[attempt]?.network).toBe(network);
}

async function approve({ approval, id }: Run): Promise<void> {
  await harness.runs.approve(id, chief, { approve: true, inputsHash: approval?.inputsHash ?? "" });
  await quiet();
}

async function changeEnvironment(): Promise<void> {
  const [before] = await harness.storage.environments.list(ada.teamId);
  const environment = anEnvironment("e", "acme/api");
  const after = {
    ...environment,
    config: { ...environment.config, ...AFTER },
    updatedAt: harness.clock.now(),
  };
  expect(await harness.storage.environments.replace(after, before?.updatedAt)).toBe(true);
}

async function changeServer(config: McpServerConfig): Promise<void> {
  const [server] = await servers.list(chief);
  await harness.clock.advance(1);
  await servers.replace(chief, server?.id ?? "", { name: "wiki", config });
}

async function aSecret(name: string): Promise<void> {
  const { teamId, ownerId, createdAt, updatedAt, creatorId } = anEnvironment("e");
  const sealed = harness.secretBox.seal("value-of-a-secret", sealOwner({ teamId, ownerId, name }));
  const secret = { teamId, ownerId, name, id: name, sealed, createdAt, updatedAt, editorId: creatorId };
  await harness.storage.secrets.add(secret);
}
