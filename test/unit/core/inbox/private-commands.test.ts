import { beforeEach, describe, expect, test } from "vitest";
import { type PrivateCommand, PrivateCommands } from "../../../../src/core/inbox/private-commands.ts";
import { FIRST_TEAM } from "../../../../src/core/people/team.ts";
import { runRules } from "../../../../src/core/rules/run-rules.ts";
import { CoreHarness } from "../../../support/core-harness.ts";

const ADA = { subject: "memory:Ada", displayName: "Ada" };

let harness: CoreHarness;
let commands: PrivateCommands;
beforeEach(() => {
  harness = new CoreHarness();
  const { clock, pubsub, runs, storage } = harness;
  commands = new PrivateCommands({
    ...{ storage, clock, runs, policies: runRules({ storage, pubsub, clock }).policies },
    makeToken: () => ({ token: "t0ken", hash: "hash" }),
    publicUrl: () => "http://here",
  });
});

function answer(name: PrivateCommand["name"], changes: Partial<PrivateCommand> = {}): Promise<string> {
  const authorization = { allowed: true, permission: "member", roles: ["member"], author: ADA } as const;
  const where = { adapter: "memory", source: "SLACK", installation: "here", place: "C1" } as const;
  return commands.answer({ name, ...where, authorization, ...changes });
}

describe("private commands", () => {
  test("a link signs its author in", async () => {
    expect(await answer("link")).toContain("http://here/signin/link?token=t0ken");

    const link = await harness.storage.signInLinks.findByHash("hash", harness.clock.now());
    expect(link).toMatchObject({ teamId: FIRST_TEAM, principalId: (await harness.person()).id });
  });

  test("the status names the author's own runs, and none of others", async () => {
    expect(await answer("status")).toBe("You have no runs yet.");
    const { sessionId } = await harness.create({ prompt: "Fix it" });
    await harness.create({ prompt: "Break it", creator: await harness.person("Bob") });

    const text = await answer("status");

    expect(text).toContain(`"Fix it" is queued. http://here/sessions/${sessionId}`);
    expect(text).not.toContain("Break it");
  });

  test("whom the platform or a policy does not admit gets the reason and no principal", async () => {
    const guest = {
      allowed: true,
      permission: "guest",
      roles: ["guest"],
      author: ADA,
      refusal: "No guests.",
    } as const;
    const unknown = { allowed: false, reason: "Unknown." } as const;

    expect(await answer("link", { authorization: guest })).toBe("No guests.");
    expect(await answer("link", { authorization: unknown })).toBe("Unknown.");

    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
    expect(await harness.storage.signInLinks.findByHash("hash", harness.clock.now())).toBeUndefined();
  });

  test("an account that is switched off gets no link", async () => {
    const ada = await harness.person();
    await harness.storage.people.put({ ...ada, disabled: true });

    expect(await answer("link")).toMatch(/switched your account/);
  });
});
