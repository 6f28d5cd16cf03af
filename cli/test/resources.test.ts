import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { FaultyProxy } from "../../clients/typescript/test/faulty-proxy.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import { withConnection } from "../../src/storage/connection.ts";
import { CliHarness } from "./cli-harness.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const harness = await CliHarness.start();
afterAll(() => harness.stop());
const { errand, json, output } = harness;
const { cli } = harness.parts;

const NO_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

interface Case {
  readonly group: string;
  readonly id: "id" | "uid";
  readonly create: readonly string[];
  /** What the new record has. */
  readonly created: object;
  readonly edit: readonly string[];
  readonly edited: object;
  /** By what it is named. */
  readonly name: string;
  readonly removed?: RegExp;
}

const CASES: readonly Case[] = [
  {
    group: "keys",
    id: "id",
    create: ["--name", "CI key", "--scope", "runs:read", "--scope", "runs:write", "--days", "7"],
    created: { name: "CI key", scopes: ["runs:read", "runs:write"], key: expect.stringMatching(/^errand_/) },
    edit: ["--name", "CI key 2"],
    edited: { name: "CI key 2" },
    name: "CI key 2",
    removed: /^Revoked key CI key 2\.$/m,
  },
  {
    group: "people",
    id: "uid",
    create: ["--type", "user", "--name", "Ada", "--email", "ada@example.com"],
    created: { display_name: "Ada", type: "user", administrator: false },
    edit: ["--administrator"],
    edited: { display_name: "Ada", administrator: true },
    name: "ada@example.com",
    removed: /^Disabled person or program Ada\.$/m,
  },
  {
    group: "teams",
    id: "uid",
    create: ["--name", "Second team"],
    created: { name: "Second team", sharing: "off" },
    edit: ["--sharing", "viewer"],
    edited: { name: "Second team", sharing: "viewer" },
    name: "Second team",
  },
  {
    group: "routing",
    id: "id",
    create: ["--name", "site", "--match", "places=acme/*,acme/site", "--priority", "5"],
    created: { name: "site", match: { places: ["acme/*", "acme/site"] }, priority: 5, enabled: true },
    edit: ["--no-enabled"],
    edited: { name: "site", match: { places: ["acme/*", "acme/site"] }, priority: 5, enabled: false },
    name: "site",
    removed: /^Deleted routing rule site\.$/m,
  },
  {
    group: "webhooks",
    id: "id",
    create: ["--to", "https://hooks.example.com/errand", "--event", "run.failed"],
    created: { events: ["run.failed"], secret: expect.stringMatching(/^whsec_/) },
    edit: ["--no-enabled", "--description", "of the tests"],
    edited: { enabled: false, description: "of the tests" },
    name: "https://hooks.example.com/errand",
    removed: /^Deleted webhook https:\/\/hooks/m,
  },
];

describe.each(CASES)("$group", ({ create, created, edit, edited, group, id, name, removed }) => {
  test("one is created, listed, shown, changed by options and by a file, and removed", async () => {
    const made = await json([group, "create", ...create]);
    expect(made).toMatchObject(created);
    const changed = await json([group, "edit", made[id], ...edit]);
    expect(changed).toMatchObject(edited);
    expect(
      await json([group, "update", name, "--file", "-"], { input: JSON.stringify(changes(changed)) }),
    ).toMatchObject(edited);
    expect(await json([group, "get", name])).toMatchObject(edited);
    expect(await output([group, "list"])).toContain(made[id]);

    if (removed !== undefined) {
      expect((await errand([group, "delete", name])).stderr).toContain("Add --yes.");
      expect((await errand([group, "delete", name, "--yes"])).stderr).toMatch(removed);
    }
  });

  test("an unknown one, a change of nothing and a wrong value are said in words", async () => {
    const unknown = await errand([group, "get", "nothing like it"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/^errand: There is no .+"nothing like it"\.\n→ List them with: errand /),
    ]);
    expect((await errand([group, "edit", "x"])).stderr).toContain("Nothing is to be changed.");
    const wrong = await errand([group, "create", "--file", "-"], { input: '{"name": 5}' });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^errand: Invalid request/)]);
  });

  /** What a file with the whole request has: for a PUT all members, for a PATCH one is enough. */
  function changes(record: Readonly<Record<string, unknown>>): object {
    const members = { routing: ["name", "priority", "enabled", "match"], people: ["display_name"] }[group];
    return Object.fromEntries(
      (members ?? [group === "webhooks" ? "description" : "name"]).map((member) => [member, record[member]]),
    );
  }
});

/** The change of the other one arrives after this one has read the record. */
describe("two administrators", () => {
  test.each([
    ["keys", "/agent/keys", "id", ["--name", "shared"], { name: "theirs" }],
    [
      "people",
      "/agent/principals",
      "uid",
      ["--type", "user", "--name", "shared"],
      { display_name: "theirs" },
    ],
    ["environments", "/agent/environments", "uid", ["--name", "shared"], { config: { name: "theirs" } }],
  ])(
    "do not overwrite each other in %s, and the second is told",
    async (group, path, id, options, theirs) => {
      const made = await json([group, "create", ...options]);
      const proxy = await FaultyProxy.start(harness.parts.service.url);
      onTestFinished(() => proxy.stop());
      proxy.before = async ({ method }) => {
        if (method === "PUT" || method === "PATCH") {
          await output(["api", method, `${path}/${made[id]}`, "--body", "-"], {
            input: JSON.stringify(theirs),
          });
        }
      };

      const mine = await errand([group, "edit", made[id], "--name", "mine"], {
        env: { ERRAND_URL: proxy.url },
      });

      expect([mine.code, mine.stderr]).toEqual([
        1,
        expect.stringMatching(/changed meanwhile[\s\S]*→ Look at it with get/),
      ]);
      expect(JSON.stringify(await json([group, "get", made[id]]))).toContain("theirs");
    },
  );
});

describe("further commands of the groups", () => {
  test("a name of a revoked key names the one that works", async () => {
    const first = await json(["keys", "create", "--name", "named twice"]);
    await output(["keys", "delete", first.id, "--yes"]);
    const second = await json(["keys", "create", "--name", "named twice"]);

    expect((await json(["keys", "get", "named twice"])).id).toBe(second.id);
  });

  test("an MCP server is described by options", async () => {
    const server = ["mcp-servers", "create", "--name", "local", "--command", "npx", "--arg", "files"];
    expect((await json(server)).config).toMatchObject({ command: "npx", args: ["files"] });
    const address = ["mcp-servers", "update", "local", "--address", "https://mcp.example.com/"];
    expect((await json(address)).config).toMatchObject({ url: "https://mcp.example.com/" });
    await output(["mcp-servers", "delete", "local", "--yes"]);
  });

  test("a key is rotated, and a conflict is said in words", async () => {
    const { id } = await json(["keys", "create", "--name", "rotated"]);
    const next = await json(["keys", "rotate", id, "--overlap", "60"]);
    await output(["teams", "create", "--name", "only once"]);
    const twice = await errand(["teams", "create", "--name", "only once"]);

    expect([next.id === id, next.key]).toEqual([false, expect.stringMatching(/^errand_/)]);
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("another team has this name")]);
    const last = await errand(["people", "delete", "Administrator", "--yes"]);
    expect([last.code, last.stderr]).toEqual([
      2,
      expect.stringMatching(/last administrator\.\n→ Make another/),
    ]);
  });

  test("a webhook is tested, its secret is rotated, and its deliveries are listed", async () => {
    const { id, secret } = await json(["webhooks", "create", "--to", "https://hooks.example.com/other"]);
    const delivery = await json(["webhooks", "test", id]);
    const rotated = await json(["webhooks", "rotate-secret", id]);

    expect(delivery).toMatchObject({ webhook_id: id, type: "webhook.test" });
    expect([rotated.id, rotated.secret === secret]).toEqual([id, false]);
    expect(await output(["webhooks", "deliveries", id])).toContain(delivery.id);
    const replayed = await json(["webhooks", "replay", "https://hooks.example.com/other", delivery.id]);
    expect(replayed).toMatchObject({ id: delivery.id, webhook_id: id });
    const unknown = await errand(["webhooks", "replay", id, NO_ID]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/^errand: .*delivery/i)]);
    const nowhere = await errand(["webhooks", "replay", "https://hooks.example.com/none", delivery.id]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("There is no webhook")]);
    await output(["webhooks", "delete", id, "--yes"]);
  });

  test("the messages to the webhook of a run are listed and sent again by the run", async () => {
    const body = {
      prompt: "say done",
      webhook: { url: "https://hooks.example.com/run", secret: `whsec_${"A".repeat(32)}` },
    };
    const run = JSON.parse(
      await output(["api", "POST", "/agent/runs", "--body", "-"], { input: JSON.stringify(body) }),
    );
    await errand(["watch", run.run_id]);

    const [delivery] = await json(["webhooks", "deliveries", run.run_id]);
    expect(await json(["webhooks", "replay", run.run_id, delivery.id])).toMatchObject({
      id: delivery.id,
      run_id: run.run_id,
    });
  });

  test("quotas are replaced as a whole and listed", async () => {
    await output(["quotas", "set", "--limit", "runs_per_day=900", "--limit", "queued_runs=50"]);
    expect(await output(["quotas", "list"])).toMatch(/runs_per_day\t900\t\d+\tteam/);
    expect((await errand(["quotas", "set", "--limit", "odd=1"])).code).toBe(2);
    await output(["quotas", "set", "--file", "-"], { input: '{"quotas": []}' });
    expect(await output(["quotas", "list"])).toBe("");
  });

  test("the inbox, the notices, the workers, the audit log and the doctor are below admin", async () => {
    expect(await output(["admin", "audit", "list", "--action", "team.created", "--limit", "5"])).toContain(
      "team.created",
    );
    expect(await output(["admin", "audit"])).toContain("key.created");
    expect(await json(["admin", "workers", "list"])).toEqual([]);
    expect(await output(["admin", "inbox", "list", "--disposition", "failed"])).toBe("");
    expect(await output(["admin", "notices", "list", "--state", "dead"])).toBe("");
    for (const group of ["inbox", "notices"]) {
      const { code, stderr } = await errand(["admin", group, "retry", NO_ID]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^errand: .+\n(→ .+\n)?request id: /)]);
    }
    expect((await errand(["admin", "doctor"])).stdout).toMatch(/^\w+.*\t(ok|warn)\t/);
  });

  test("the installations of the apps are listed, found by their name, and edited", async () => {
    const session = { applicationName: "errand tests", queryLimitMs: 30_000 };
    await withConnection(harness.parts.database.url, session, (client) =>
      client.query(
        "INSERT INTO installations (id, team_id, adapter, external_id, name) VALUES ($1, $2, 'slack', 'T0ACME', 'Acme')",
        [NO_ID, FIRST_TEAM],
      ),
    );

    expect(await output(["admin", "installations", "list"])).toMatch(/^slack\tT0ACME\tAcme\t/);
    const edited = await json(["admin", "installations", "edit", "Acme", "--no-enabled"]);
    expect(edited).toMatchObject({ id: NO_ID, enabled: false });
    expect(await json(["admin", "installations", "get", "T0ACME"])).toMatchObject({
      name: "Acme",
      enabled: false,
    });
  });

  test("a key that was made is shown once, with a hint on a terminal", async () => {
    const terminal = cli.terminal(["keys", "create", "--name", "shown"], { env: harness.env });

    expect(await terminal.ended()).toBe(0);
    await terminal.waitForText(/key +errand_\w+[\s\S]*Keep the key: it is not shown again\./);
  });

  test("a person without the right is refused with exit code 4", async () => {
    const { key } = await json(["keys", "create", "--name", "weak", "--scope", "runs:read"]);
    const { code, stderr } = await errand(["keys", "create", "--name", "x"], {
      env: { ERRAND_API_KEY: key },
    });

    expect([code, stderr]).toEqual([4, expect.stringMatching(/^errand: /)]);
  });

  test("folders, network and pull requests of an environment are chosen by options", async () => {
    const options = ["--network", "internet", "--pr", "draft", "--sparse", "web", "--sparse", "libs/core"];
    const created = await json(["environments", "create", "--name", "networked", ...options]);
    const updated = await json(["environments", "update", "networked", "--network", "none"]);

    const kept = { sparse: ["web", "libs/core"], pull_request: "draft" };
    expect(created.config).toMatchObject({ ...kept, network: "internet" });
    expect(updated.config).toMatchObject({ ...kept, network: "none" });
    await output(["environments", "delete", "networked", "--yes"]);
  });
});
