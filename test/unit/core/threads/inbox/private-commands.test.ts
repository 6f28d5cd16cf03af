import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { type NamedFinding, ok, warn } from "../../../../../src/core/ports/check.ts";
import { runRules } from "../../../../../src/core/team/policies/run-rules.ts";
import {
  type PrivateCommand,
  PrivateCommands,
} from "../../../../../src/core/threads/inbox/private-commands.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";

const BOB = { subject: "memory:Bob", displayName: "Bob" };
const ADA = { subject: "memory:Ada", displayName: "Ada" };

let harness: CoreHarness;
let commands: PrivateCommands;
let findings: readonly NamedFinding[];
beforeEach(() => {
  findings = [{ name: "database", ...ok("It answers.") }];
  harness = new CoreHarness();
  const { clock, pubsub, runs, storage } = harness;
  commands = new PrivateCommands({
    ...{ storage, clock, runs, policies: runRules({ storage, pubsub, clock }).policies },
    requestDefaults: harness.requestDefaults,
    joins: harness.joins,
    gitUrl: "https://github.com",
    doctor: { examine: async () => findings },
    digest: sha256,
    makeToken: () => ({ token: "t0ken", hash: "hash" }),
    publicUrl: () => "http://here",
  });
});

function answer(name: PrivateCommand["name"], changes: Partial<PrivateCommand> = {}): Promise<string> {
  const authorization = { allowed: true, permission: "member", roles: ["member"], author: ADA } as const;
  const where = { adapter: "memory", source: "SLACK", installation: "here", place: "C1" } as const;
  const requestId = randomUUID();
  return commands.answer({ name, text: "", ...where, authorization, requestId, ...changes });
}

describe("private commands", () => {
  test("a link signs its author in", async () => {
    expect(await answer("link")).toContain("http://here/signin/link?token=t0ken");

    const link = await harness.storage.signInLinks.findByHash("hash", harness.clock.now());
    const principalId = (await harness.person()).id;
    expect(link).toMatchObject({ teamId: FIRST_TEAM, principalId, subject: "memory:Ada" });
  });

  test("a copy of a command gets no link, and a new command gets one", async () => {
    expect(await answer("link", { requestId: "first" })).toContain("/signin/link?token=");
    expect(await answer("link", { requestId: "first" })).toMatch(/already got its link/);

    expect(await answer("link", { requestId: "second" })).toContain("/signin/link?token=");
  });

  test("everybody sets defaults of their own, which precede nothing of another person", async () => {
    await harness.storage.environments.add(anEnvironment("env1"));

    expect(await answer("settings")).toMatch(
      /^Your defaults: none\.\nThe defaults of this channel.*: none\./,
    );
    expect(await answer("settings", { text: "env=ENV1 model=m" })).toContain(
      "Your defaults: `env=env1 model=m`.",
    );
    expect(await answer("settings", { text: "repo=acme/web pr=off" })).toContain(
      "`repo=acme/web model=m pr=off`",
    );
    const bob = {
      allowed: true,
      permission: "m",
      roles: ["member"],
      author: BOB,
    } as const;
    expect(await answer("settings", { authorization: bob })).toContain("Your defaults: none.");

    const { id } = await harness.person();
    const own = { repository: "acme/web", model_id: "m", pull_request: "off" };
    expect(await harness.requestDefaults.get(FIRST_TEAM, { principalId: id })).toEqual(own);
    expect(await answer("settings", { text: "env=env1" })).toContain("`env=env1 model=m`");
    expect(await answer("settings", { text: "clear" })).toContain("Your defaults: none.");
  });

  test("the setting of pull requests needs no repository, and stays when the environment changes", async () => {
    await harness.storage.environments.add(anEnvironment("env1", "acme/web"));

    expect(await answer("settings", { text: "pr=off" })).toContain("Your defaults: `pr=off`.");
    expect(await answer("settings", { text: "env=env1" })).toContain("Your defaults: `env=env1 pr=off`.");
    expect(await answer("settings", { text: "repo=https://github.com/acme/web/pull/3" })).toContain(
      "Your defaults: `repo=acme/web`.",
    );
  });

  test("only an administrator sets the defaults of a channel", async () => {
    await harness.storage.environments.add(anEnvironment("env1"));
    const text = "channel env=env1";
    expect(await answer("settings", { text })).toMatch(/Only administrators/);
    await harness.storage.people.put({ ...(await harness.person()), administrator: true });

    expect(await answer("settings", { text })).toContain("precede yours: `env=env1`.");
    expect(await answer("settings", { place: "C2" })).toContain("precede yours: none.");
    const place = { adapter: "memory", installation: "here", place: "C1" };
    expect(await harness.requestDefaults.get(FIRST_TEAM, place)).toEqual({ environment_id: "env1" });
  });

  test("the environment of another person is named neither as a default nor among those that exist", async () => {
    const ada = await harness.person();
    await harness.storage.people.put({ ...ada, administrator: true });
    await harness.storage.environments.add(anEnvironment("shared"));
    await harness.storage.environments.add({ ...anEnvironment("secret-project"), ownerId: ada.id });
    const authorization = { allowed: true, permission: "member", roles: ["member"], author: BOB } as const;

    expect(await answer("settings", { text: "channel env=secret-project" })).toContain(
      "`env=secret-project`",
    );

    expect(await answer("settings", { authorization })).toContain("precede yours: `env=(of another person)`");
    expect(await answer("settings", { authorization, text: "env=secret-project" })).toBe(
      "There is no environment secret-project. There are: shared.",
    );
    expect(await answer("settings", { text: "env=nowhere" })).toMatch(/There are: shared\.$/);
  });

  test.each([
    ["env=nowhere", /no environment nowhere/],
    ["repo=acme", /^`repo=` must be owner\/name$/],
    ["colour=red", /do not know the setting colour=red/],
  ])("the setting %j is refused in words and changes nothing", async (text, reason) => {
    expect(await answer("settings", { text })).toMatch(reason);

    expect(await answer("settings")).toContain("Your defaults: none.");
  });

  test("the doctor tells operators what is wrong, and nobody else", async () => {
    expect(await answer("doctor")).toMatch(/Only administrators/);
    await harness.storage.people.put({ ...(await harness.person()), administrator: true });
    expect(await answer("doctor")).toBe("All 1 checks are ok.");

    findings = [...findings, { name: "dead_notices", ...warn("2 were given up.", "Retry them.") }];

    expect(await answer("doctor")).toBe("• ⚠️ dead_notices: 2 were given up. Retry them.");
  });

  test.each(["runs", "status"] as const)(
    "%s names the author's own runs, and none of others",
    async (name) => {
      expect(await answer(name)).toBe("You have no runs yet.");
      const { sessionId } = await harness.create({ prompt: "Fix it" });
      await harness.create({ prompt: "Break it", creator: await harness.person("Bob") });

      const text = await answer(name);

      expect(text).toContain(`"Fix it" is queued. http://here/sessions/${sessionId}`);
      expect(text).not.toContain("Break it");
    },
  );

  test("an account that the platform or a policy does not admit gets the reason and no principal", async () => {
    const guest = {
      allowed: true,
      permission: "guest",
      roles: ["guest"],
      author: ADA,
      refusal: "No guests.",
    } as const;
    const unknown = { allowed: false, reason: "Unknown." } as const;

    expect(await answer("link", { authorization: guest })).toMatch(
      /^No guests\. The rule is “Built in: outsiders.*An administrator can change the rules\.$/,
    );
    expect(await answer("link", { authorization: unknown })).toBe("Unknown.");

    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
    expect(await harness.storage.signInLinks.findByHash("hash", harness.clock.now())).toBeUndefined();
  });

  test("nobody gets a link in an installation that is switched off", async () => {
    const { installations, signInLinks } = harness.storage;
    await installations.update({ ...(await installations.ensure("memory", "here")), enabled: false });

    expect(await answer("link")).toMatch(/not switched on here/);
    expect(await signInLinks.findByHash("hash", harness.clock.now())).toBeUndefined();
  });

  test("an account that is switched off gets no link", async () => {
    const ada = await harness.person();
    await harness.storage.people.put({ ...ada, disabled: true });

    expect(await answer("link")).toMatch(/switched your account/);
  });
});
