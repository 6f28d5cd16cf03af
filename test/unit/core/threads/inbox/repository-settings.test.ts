import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RepositorySettings } from "../../../../../src/core/model/repositories/repository-settings.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { aPolicy, aRoutingRule } from "../../../../support/rule-builders.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const HOME = { repository: { full_name: "acme/web" } };

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

function settings(changes: Partial<RepositorySettings>): RepositorySettings {
  return {
    config: {},
    off: [],
    refusals: "comment",
    mistakes: [],
    mistakeAt: (member, problem) => `file: ${member} ${problem}`,
    ...changes,
  };
}

describe("the configuration of a new run", () => {
  test("the words of the request come before the file, the file before the routing rule", async () => {
    const [ofFile, ofRule] = [anEnvironment("file"), anEnvironment("rule")];
    await harness.storage.environments.add(ofFile);
    await harness.storage.environments.add(ofRule);
    const config = { base_prompt: "Of the rule", budget: { max_turns: 3 }, model_id: "rule-model" };
    await harness.storage.routingRules.add(aRoutingRule({ environmentId: ofRule.id, config }));
    harness.adapter.settings = settings({
      environment: "FILE",
      config: { base_prompt: "Of the file", model_id: "file-model", pull_request: "ready" },
    });

    await harness.receive({ text: "model=own-model Fix it", provenance: HOME, place: "acme/web" });

    const run = await harness.currentRun();
    expect(run.config).toEqual({
      environment_id: ofFile.id,
      base_prompt: "Of the file",
      model_id: "own-model",
      pull_request: "ready",
      budget: { max_turns: 3 },
    });
    expect(run.provenance.config_layers).toMatchObject({
      environment_id: "repository_file",
      base_prompt: "repository_file",
      model_id: "request",
      pull_request: "repository_file",
      budget: "routing_rule",
    });
  });

  test("a request that names another repository gets nothing of the file", async () => {
    harness.adapter.settings = settings({ config: { base_prompt: "Of the file" } });

    await harness.receive({ text: "repo=acme/api Fix it", provenance: HOME, place: "acme/web" });

    expect((await harness.currentRun()).config.base_prompt).toBeUndefined();
  });

  test("a request without an environment gets none from the file", async () => {
    const environment = anEnvironment("file");
    await harness.storage.environments.add(environment);
    harness.adapter.settings = settings({ environment: environment.id, config: { base_prompt: "Be brief" } });

    await harness.receive({ text: "env=none Fix it", provenance: HOME });

    expect((await harness.currentRun()).config).toEqual({ base_prompt: "Be brief" });
  });

  test("what the server does not have is left out, and card and page say so", async () => {
    harness.adapter.settings = settings({
      environment: "Nowhere",
      config: { harness: { type: "unknown" }, base_prompt: "Be brief" },
      mistakes: ["file: colour is unknown."],
    });

    expect(await harness.receive({ provenance: HOME })).toBe("run_created");

    const mistakes = [
      "file: colour is unknown.",
      "file: environment is left out. There is no environment Nowhere. Your team has none.",
      'file: agent is left out. There is no agent named "unknown" here.',
    ];
    const run = await harness.currentRun();
    expect(run.config).toEqual({ base_prompt: "Be brief" });
    expect(run.warnings).toEqual(mistakes);
    expect(harness.cardsShown().at(-1)?.message).toBe(mistakes.join("\n"));
  });

  test("policies apply to what the file chooses", async () => {
    const policy = aPolicy({ effect: "deny", reason: "Not this one.", match: { agents: ["other"] } });
    await harness.storage.policies.add(policy);
    harness.adapter.settings = settings({ config: { harness: { type: "other" } } });

    expect(await harness.receive({ provenance: HOME })).toBe("refused");

    expect(harness.repliesShown()).toEqual(["Not this one."]);
  });
});

describe("a kind of request that is off", () => {
  test("starts nothing, and its author learns why", async () => {
    harness.adapter.settings = settings({ off: ["label", "mention"] });

    expect(await harness.receive({ requestKind: "label" })).toBe("refused");
    expect(await harness.receive({ requestKind: "command" })).toBe("run_created");

    expect(harness.repliesShown()).toEqual(["file: triggers.label is off, so this starts nothing."]);
  });

  test("continues no run either, but `stop` and `status` work", async () => {
    await harness.receive({});
    harness.adapter.settings = settings({ off: ["mention"] });

    expect(await harness.receive({ requestKind: "mention", text: "and this" })).toBe("refused");
    expect(await harness.receive({ requestKind: "mention", text: "status" })).toBe("replied");

    expect(harness.agents.prompts).toEqual(["Fix it"]);
  });

  test("is refused without a word where nobody named the bot", async () => {
    harness.adapter.settings = settings({ off: ["changes_requested"] });

    expect(await harness.receive({ requestKind: "changes_requested" })).toBe("refused");

    expect(harness.adapter.thread(KEY)).toEqual([]);
  });
});

test.each([
  ["silent", []],
  ["reaction", [{ kind: "ended", messageRef: "ref", end: "failed" }]],
] as const)("a refusal can be %s", async (refusals, notices) => {
  harness.adapter.settings = settings({ refusals });
  harness.adapter.refused.set("memory:Ada", "Members only.");

  expect(await harness.receive({})).toBe("refused");

  expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toEqual(notices);
});

test("while a restriction of the file cannot be read, nothing is done", async () => {
  harness.adapter.settings = settings({ unreadable: "file, line 3: `trigers` is unknown." });

  expect(await harness.receive({})).toBe("refused");

  expect(harness.repliesShown()).toEqual([
    "I do nothing here until this is repaired: file, line 3: `trigers` is unknown.",
  ]);
});

test("a request waits for a file that cannot be read now", async () => {
  harness.adapter.settings = new AppError("resource_unavailable", "GitHub is down.");
  await harness.receive({});
  expect(harness.dispositions()).toEqual([]);

  harness.adapter.settings = undefined;
  await harness.clock.advance(60_000);

  expect(harness.dispositions()).toEqual(["run_created"]);
});
