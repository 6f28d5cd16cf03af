import { beforeEach, describe, expect, test } from "vitest";
import { inheritConfig, withoutPlace } from "../../../../../src/core/requests/routing/route-request.ts";
import { planOf } from "../../../../../src/core/runs/executed/workspace-plan.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aRun } from "../../../../support/run-builders.ts";

const GUESS = { repository: "acme/web", repository_guessed: true };
const REASON = "There is no repository acme/web that this server may read.";
const TEXT = `The run works without the repository acme/web, which nobody named and which could not be read. ${REASON}`;

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

test("a run without its guessed repository says so before everything else, warns, and tells the agent once", async () => {
  harness.workspaces.unread = { repository: "acme/web", reason: REASON };
  await harness.start();
  const { id } = await harness.create({ config: GUESS });
  await quiet();
  harness.workspaces.unread = undefined;

  await harness.followUp(id, "Go on");

  const run = await harness.run(id);
  expect(run).toMatchObject({ state: "SUCCEEDED", warnings: [TEXT] });
  const kinds = (await harness.events(id)).map(({ body }) => body.kind);
  const said = kinds.filter((kind) => kind.startsWith("agent.") || kind.startsWith("workspace."));
  expect(said.slice(0, 3)).toEqual(["agent.notice", "workspace.ready", "agent.started"]);
  expect(harness.agents.prompts).toEqual([`(${TEXT})\n\nFix it`, "Go on"]);
});

test("a run whose clones lack files warns, and tells the agent once", async () => {
  harness.workspaces.lacks = ["The large files are not there."];
  await harness.start();
  const { id } = await harness.create({});
  await quiet();
  harness.workspaces.lacks = undefined;

  await harness.followUp(id, "Go on");

  expect((await harness.run(id)).warnings).toEqual(["The large files are not there."]);
  expect(harness.agents.prompts).toEqual(["(The large files are not there.)\n\nFix it", "Go on"]);
});

test.each([
  ["a guess", GUESS, [{ owner: "acme", name: "web", isGuessed: true }]],
  ["a named repository", { repository: "acme/web" }, [{ owner: "acme", name: "web" }]],
  ["false", { ...GUESS, repository_guessed: false }, [{ owner: "acme", name: "web" }]],
  ["no repository", { repository_guessed: true }, []],
])("%s in the configuration makes this plan", (_what, config, repositories) => {
  expect(planOf(aRun({ config }), undefined).repositories).toEqual(repositories);
});

test("a guess of the repository in which the run was requested is no guess", () => {
  const run = aRun({ config: GUESS, provenance: { repository: { id: 1, full_name: "acme/web" } } });

  expect(planOf(run, undefined).repositories).toEqual([{ owner: "acme", name: "web" }]);
});

describe("what becomes of a guess", () => {
  test("a later run of the conversation keeps it, unless its request names a repository", () => {
    const before = aRun({ config: GUESS });

    expect(inheritConfig(before, {}).config).toEqual(GUESS);
    expect(inheritConfig(before, { repository: "acme/api" }).config).toEqual({ repository: "acme/web" });
  });

  test("a configuration without its place has none", () => {
    expect(withoutPlace({ ...GUESS, ref: "main", model_id: "large" })).toEqual({ model_id: "large" });
  });
});
