import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { PrincipalId } from "../../../../../src/core/basics/ids.ts";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { AgentStart } from "../../../../../src/core/ports/agent-runner.ts";
import { retryOf } from "../../../../../src/core/requests/prepare/retry-of.ts";
import { SecretService } from "../../../../../src/core/team/records/secret-service.ts";
import { createSecretBox } from "../../../../../src/secrets/secret-box.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

const TEAMS = "the-value-of-the-team";
const ADAS = "the-value-of-ada";
const BOBS = "the-value-of-bob";

let harness: CoreHarness;
let ada: Principal;
let bob: Principal;
beforeEach(async () => {
  harness = new CoreHarness();
  [ada, bob] = [await harness.person("Ada"), await harness.person("Bob")];
});

function set(editor: Principal, name: string, value: string, isTeamOwned = true) {
  const { clock, secretBox: box, storage } = harness;
  return new SecretService({ storage, box, clock }).put(editor, { name, isTeamOwned }, value);
}

async function perform(creator: Principal): Promise<Run> {
  const { id } = await harness.create({ creator });
  await quiet();
  return harness.run(id);
}

describe("the secrets of a run", () => {
  test("a run gets the secrets of the team, overridden by those of its creator", async () => {
    await set(ada, "BOTH", TEAMS);
    await set(ada, "TEAMS", TEAMS);
    await set(ada, "BOTH", ADAS, false);
    await set(bob, "BOBS", BOBS, false);
    await harness.start();

    await perform(ada);
    await perform(bob);

    const [adas, bobs] = harness.agents.starts.map(secretsOf);
    expect(adas).toEqual({ BOTH: ADAS, TEAMS });
    expect(bobs).toEqual({ BOTH: TEAMS, TEAMS, BOBS });
  });

  test("a run in the pull request of a fork gets no secrets, because programs of the fork run in it", async () => {
    await set(ada, "TEAMS", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    await harness.start();
    const head = { commit: "a".repeat(40), base: "main", fork: "rob/web" };

    await harness.create({ creator: ada, provenance: { repository: { full_name: "acme/web" }, head } });
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{}]);
  });

  test("a run in the pull request of a fork gets no MCP server that has values, and says so", async () => {
    await harness.start();
    const head = { commit: "a".repeat(40), base: "main", fork: "rob/web" };
    const mcp_servers = {
      plain: { command: "docs-server" },
      keyed: { command: "tracker", env: { TRACKER_KEY: TEAMS } },
      remote: { url: "https://mcp.example/sse", headers: { authorization: "Bearer x" } },
      templated: { url: `https://mcp.example/?key=\${KEY}` },
    };

    const { id } = await harness.create({
      creator: ada,
      config: { mcp_servers },
      provenance: { repository: { full_name: "acme/web" }, head },
    });
    await quiet();

    expect(harness.agents.starts.map(({ mcpServers }) => Object.keys(mcpServers))).toEqual([["plain"]]);
    expect((await harness.run(id)).warnings).toEqual(
      ["keyed", "remote", "templated"].map(
        (name) =>
          `The MCP server ${name} is left out: it has values, and programs of a fork run in this run.`,
      ),
    );
  });

  test("the token of the team for repositories never enters the sandbox, and is redacted", async () => {
    await set(ada, "GITHUB_TOKEN", TEAMS);
    await set(ada, "OTHER", ADAS);
    await set(bob, "GITHUB_TOKEN", BOBS, false);
    await harness.start();

    await perform(ada);
    await perform(bob);

    const [adas, bobs] = harness.agents.starts.map(secretsOf);
    expect(adas).toEqual({ OTHER: ADAS });
    expect(bobs).toEqual({ OTHER: ADAS, GITHUB_TOKEN: BOBS });
    expect(harness.workspaces.preparations.map(({ variables }) => variables)).toEqual([adas, bobs]);
  });

  test("a run does not get the secrets of a disabled creator, because other users may continue it", async () => {
    await set(ada, "TEAMS", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    const { id } = await harness.create({ creator: ada });
    await harness.storage.people.put({ ...ada, disabled: true });
    await harness.start();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ TEAMS }]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED" });
  });

  test("a run with a list of secrets gets only those of the team, and a missing one is a warning", async () => {
    await set(ada, "WANTED", TEAMS);
    await set(ada, "OTHER", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    const agent = await harness.person("Reviewer");
    await harness.storage.namedAgents.add({
      ...{ id: agent.id, teamId: agent.teamId, config: {}, others: {}, onBehalfOfEnabled: false },
      ...{ secretNames: ["WANTED", "ADAS"], createdAt: agent.createdAt, updatedAt: agent.createdAt },
    });
    await harness.start();

    const { id } = await harness.create({ creator: ada, agentUid: agent.id });
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ WANTED: TEAMS }]);
    expect((await harness.run(id)).warnings).toEqual([
      "The secret ADAS, which the agent of this run names, does not exist.",
    ]);
  });

  test("a run gets only the team's secrets that its configuration names, and a missing one is a warning", async () => {
    await set(ada, "WANTED", TEAMS);
    await set(ada, "OTHER", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    await harness.start();

    const secrets = [{ name: "WANTED" }, { name: "WANTED" }, { name: "GONE" }];
    const { id } = await harness.create({ creator: ada, config: { secrets } });
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ WANTED: TEAMS }]);
    expect((await harness.run(id)).warnings).toEqual([
      "The secret GONE, which the configuration of this run names, does not exist.",
    ]);
  });

  test("a run in an environment with a list gets only these secrets of the team", async () => {
    await set(ada, "WANTED", TEAMS);
    await set(ada, "OTHER", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    const site = anEnvironment("site");
    await harness.storage.environments.add({
      ...site,
      config: { ...site.config, secretNames: ["WANTED", "GONE"] },
    });
    await harness.start();

    const { id } = await harness.create({ creator: ada, config: { environment_id: "site" } });
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ WANTED: TEAMS }]);
    expect(harness.workspaces.preparations.map(({ variables }) => variables)).toEqual([{ WANTED: TEAMS }]);
    expect((await harness.run(id)).warnings).toEqual([
      "The secret GONE, which the environment of this run names, does not exist.",
    ]);
  });

  test("a run that another principal executes gets no personal secrets", async () => {
    await set(ada, "TEAMS", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    await set(bob, "BOBS", BOBS, false);
    await harness.start();

    await harness.create({ creator: ada, requester: bob });
    await harness.create({ creator: ada, requester: ada });
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ TEAMS }, { TEAMS }]);
  });

  test("the secrets of a run are redacted from its events, answer, questions and end", async () => {
    await set(ada, "BOTH", TEAMS);
    await set(ada, "BOTH", ADAS, false);
    const { promise: aBatchLater, resolve: goOn } = Promise.withResolvers<void>();
    harness.agents.scripts.push(async ({ observer, say }) => {
      observer.update({
        kind: "agent.tool_call",
        toolCallId: "1",
        rawOutput: Buffer.from(ADAS).toString("base64"),
      });
      observer.update({ kind: "agent.other", name: ADAS, data: { [TEAMS]: [ADAS] } });
      say("It is the-value-");
      await aBatchLater;
      say("of-ada.");
      throw new AppError("internal_error", `It broke over ${ADAS}`, { reason: "agent_process_failed" });
    });
    await harness.start();

    const { id } = await harness.create({ creator: ada });
    await quiet();
    await harness.clock.advance(50);
    goOn();
    await quiet();
    const run = await harness.run(id);

    const text = JSON.stringify([run, await harness.events(run.id)]);
    expect(text).not.toContain("the-value-");
    expect(text).not.toContain(Buffer.from(ADAS).toString("base64"));
    expect(text).toContain("It broke over [redacted]");
    const words = (await harness.events(id)).map(({ body }) =>
      body.kind === "agent.message" ? body.text : "",
    );
    expect(words.join("")).toBe("It is [redacted].");
  });

  test("secrets of other users are not redacted, because redaction would let a caller guess them", async () => {
    await set(bob, "BOBS", BOBS, false);
    harness.agents.scripts.push(async ({ say }) => {
      say(`Is it ${BOBS}?`);
      return END_TURN;
    });
    await harness.start();

    expect((await perform(ada)).answer).toBe(`Is it ${BOBS}?`);
  });

  test("a secret that cannot be opened fails the run and is named", async () => {
    await set(ada, "FINE", TEAMS);
    const sealed = createSecretBox([Buffer.alloc(32, 9).toString("base64url")]).seal(ADAS, "secret");
    await harness.storage.secrets.replace({ ...(await set(ada, "BROKEN", ADAS)), sealed });
    await harness.start();

    const run = await perform(ada);

    expect(run).toMatchObject({
      state: "FAILED",
      statusMessage: {
        message: "The secret BROKEN cannot be opened.",
        errorCode: "environment_setup_failed",
      },
    });
    expect(harness.agents.starts).toEqual([]);
    expect(JSON.stringify(await harness.events(run.id))).not.toContain(ADAS);
  });

  test("secrets whose rows were swapped fail the run", async () => {
    const [one, two] = [await set(ada, "ONE", TEAMS), await set(ada, "TWO", ADAS)];
    await harness.storage.secrets.replace({ ...one, sealed: two.sealed });
    await harness.start();

    expect((await perform(ada)).statusMessage?.message).toBe("The secret ONE cannot be opened.");
  });

  test("stored secrets that are too large together fail the run before its agent starts", async () => {
    // Secrets of a former version, which had no limit for all of a team together.
    const former = { ...harness.secretBox, bytesOf: () => 0 };
    const { clock, storage } = harness;
    const service = new SecretService({ storage, box: former, clock });
    for (let index = 0; index < 17; index += 1) {
      await service.put(ada, { name: `LARGE_${index}`, isTeamOwned: true }, "x".repeat(64 * 1024));
    }
    await harness.start();

    expect(await perform(ada)).toMatchObject({
      state: "FAILED",
      statusMessage: { errorCode: "environment_setup_failed", message: expect.stringContaining("too large") },
    });
  });

  test("an agent with personal secrets never takes a guest's follow-up, and the next one has only the team's", async () => {
    await set(ada, "TEAMS", TEAMS);
    await set(ada, "ADAS", ADAS, false);
    const { promise: whenTold, resolve: goOn } = Promise.withResolvers<void>();
    harness.agents.scripts.push(async ({ say }) => {
      await whenTold;
      say("First.");
      return END_TURN;
    });
    harness.agents.scripts.push(async ({ say }) => {
      say(`Left in a file: ${ADAS}`);
      return END_TURN;
    });
    await harness.start();
    const { id, teamId } = await harness.create({ creator: ada });
    await quiet();
    const guest = {
      id: "0197f3a2-0000-7000-8000-00000000000a" as PrincipalId,
      ...{ teamId, administrator: false, onlyRunId: id },
      invitation: { by: ada, mayFollowUp: true },
    };

    const input = { message: "Print it.", authorId: guest.id, byGuest: true, delivery: "steer" } as const;
    await harness.runs.followUps.send(id, guest, input);
    goOn();
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ TEAMS, ADAS }, { TEAMS }]);
    expect(harness.agents.prompts).toEqual(["Fix it", "Print it."]);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", answer: "Left in a file: [redacted]" });
    expect(JSON.stringify(await harness.events(id))).not.toContain(ADAS);
  });

  test.each(["queue", "steer"] as const)(
    "an agent with personal secrets never takes another member's %s follow-up, also not in a later turn",
    async (delivery) => {
      await set(ada, "ADAS", ADAS, false);
      const { promise: firstTurn, resolve: endFirstTurn } = Promise.withResolvers<void>();
      harness.agents.scripts.push(async () => {
        await firstTurn;
        return END_TURN;
      });
      await harness.start();
      const { id } = await harness.create({ creator: ada });
      await quiet();

      await harness.runs.followUps.send(id, bob, { message: "Print it.", authorId: bob.id, delivery });
      endFirstTurn();
      await quiet();
      await harness.followUp(id, "Go on.");

      expect(harness.agents.steered).toEqual([]);
      expect(harness.agents.prompts).toEqual(["Fix it", "Print it.", "Go on."]);
      expect(harness.agents.starts.map(secretsOf)).toEqual([{ ADAS }, {}, {}]);
    },
  );

  test("an agent without personal secrets takes the follow-ups of other members in its own process", async () => {
    await set(ada, "TEAMS", TEAMS);
    const { promise: firstTurn, resolve: endFirstTurn } = Promise.withResolvers<void>();
    harness.agents.scripts.push(async () => {
      await firstTurn;
      return END_TURN;
    });
    await harness.start();
    const { id } = await harness.create({ creator: ada });
    await quiet();

    await harness.runs.followUps.send(id, bob, { message: "And this.", authorId: bob.id, delivery: "queue" });
    endFirstTurn();
    await quiet();

    expect(harness.agents.prompts).toEqual(["Fix it", "And this."]);
    expect(harness.agents.starts).toHaveLength(1);
  });

  test("a run whose held follow-up another member wrote or changed starts without personal secrets", async () => {
    await set(ada, "ADAS", ADAS, false);
    const { id } = await harness.create({ creator: ada });
    await harness.runs.followUps.send(id, bob, {
      message: "First this.",
      authorId: bob.id,
      delivery: "queue",
    });
    const changed = await harness.create({ creator: ada });
    const { followUpId = "" } = await harness.runs.followUps.send(changed.id, ada, {
      message: "First this.",
      authorId: ada.id,
      delivery: "queue",
    });
    const target = { runId: changed.id, followUpId };
    await harness.runs.followUps.rewrite(target, { ...bob, administrator: true }, "Print it.");

    await harness.start();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{}, {}]);
  });

  test("a retry by another member gets the personal secrets of neither", async () => {
    await set(ada, "ADAS", ADAS, false);
    await set(bob, "BOBS", BOBS, false);
    await harness.start();
    const run = await perform(ada);

    await harness.runs.create(retryOf(run, { creator: bob, source: "API", inputs: [] }));
    await quiet();
    await harness.runs.create(retryOf(run, { creator: ada, source: "API", inputs: [] }));
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ ADAS }, {}, { ADAS }]);
  });

  test("secrets are opened again for each attempt", async () => {
    await set(ada, "TOKEN", TEAMS);
    await harness.start();
    const { id } = await perform(ada);
    await set(ada, "TOKEN", ADAS);

    await harness.followUp(id, "Again");
    await quiet();

    expect(harness.agents.starts.map(secretsOf)).toEqual([{ TOKEN: TEAMS }, { TOKEN: ADAS }]);
  });
});

/** Returns the variables of an agent without those that the platform sets. */
function secretsOf({ variables: { ERRAND_ARTIFACTS_DIR: _ours, ...secrets } }: AgentStart) {
  return secrets;
}
