import { beforeEach, describe, expect, test } from "vitest";
import { newId, type TeamId } from "../../../../../src/core/basics/ids.ts";
import { runRules } from "../../../../../src/core/team/policies/run-rules.ts";
import { PersonViews } from "../../../../../src/core/threads/inbox/person-views.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";

let harness: CoreHarness;
let views: PersonViews;
beforeEach(() => {
  harness = new CoreHarness();
  const { clock, pubsub, runs, storage } = harness;
  const entry = { description: "", installed: true, needs: [], models: [] };
  views = new PersonViews({
    agents: {
      list: async () => [
        { ...entry, name: "claude", displayName: "Claude", usable: true },
        { ...entry, name: "codex", displayName: "Codex", usable: false },
      ],
    },
    policies: runRules({ storage, pubsub, clock }).policies,
    runs,
    joins: harness.joins,
    storage,
  });
});

function asked(name: string, role: "member" | "guest" = "member") {
  const author = { subject: `memory:${name}`, displayName: name };
  const authorization = {
    allowed: true,
    permission: role,
    roles: [role],
    author,
    refusal: "No guests.",
  } as const;
  return { adapter: "memory", source: "SLACK", installation: "here", authorization } as const;
}

describe("the form", () => {
  test("offers the agents that can do a run", async () => {
    expect(await views.form(asked("Ada"))).toEqual({ agents: [{ name: "claude", displayName: "Claude" }] });
  });

  test("is not for people whom the rules do not admit, and makes them no principal", async () => {
    expect(await views.form(asked("Eve", "guest"))).toEqual({
      refusal: expect.stringMatching(/^No guests\./),
    });
    const { teamId } = await harness.person();
    expect((await harness.storage.people.list(teamId)).map(({ displayName }) => displayName)).not.toContain(
      "Eve",
    );
  });
});

describe("the overview", () => {
  test("has the reader's runs, and those that wait for the reader's decision", async () => {
    const ada = await harness.person();
    const bob = await harness.person("Bob");
    await harness.storage.people.put({ ...ada, administrator: true });
    await harness.storage.policies.add(aPolicy({ effect: "require_approval" }));
    await harness.create({ prompt: "Deploy it", creator: bob });

    expect(await views.home(asked("Bob"))).toMatchObject({ mine: [{ title: "Deploy it" }], waiting: [] });
    expect(await views.home(asked("Ada"))).toEqual({
      mine: [],
      waiting: [
        {
          title: "Deploy it",
          state: expect.stringMatching(/wait/),
          link: expect.stringMatching(/^http.*sessions/),
        },
      ],
    });
  });

  test("names no run of another person, and nothing to people whom the rules do not admit", async () => {
    await harness.create({ prompt: "Secret", creator: await harness.person("Bob") });

    expect(await views.home(asked("Ada"))).toEqual({ mine: [], waiting: [] });
    expect(await views.home(asked("Bob", "guest"))).toEqual({ refusal: expect.stringMatching(/^No guests/) });
  });
});

describe("the preview of a run", () => {
  test("is for people of the team, and says where the run works and what came of it", async () => {
    const run = await harness.create({ prompt: "Fix it" });

    for (const key of [{ id: run.id }, { sessionId: run.sessionId }]) {
      expect(await views.preview(asked("Ada"), key)).toMatchObject({
        ...{ runId: run.id, title: "Fix it", state: "QUEUED", workspace: { repositories: [] } },
        sessionLink: `http://here/sessions/${run.sessionId}`,
      });
    }
  });

  test("is not for people whom the rules do not admit, nor for runs that do not exist", async () => {
    const run = await harness.create({ prompt: "Fix it" });

    expect(await views.preview(asked("Eve", "guest"), { id: run.id })).toBeUndefined();
    expect(await views.preview(asked("Ada"), { sessionId: "none" })).toBeUndefined();
  });

  test("is not for a run of one person, because others read the conversation", async () => {
    const creator = await harness.person("Ada");
    const run = await harness.create({ prompt: "Fix it", creator, teamOwned: false });

    expect(await views.preview(asked("Ada"), { id: run.id })).toBeUndefined();
  });

  test("is not for a run of another team", async () => {
    const run = await harness.create({ prompt: "Fix it" });
    const { installations } = harness.storage;
    const here = await installations.ensure("memory", "here");
    await installations.update({ ...here, teamId: newId<TeamId>(new Date()) });

    expect(await views.preview(asked("Ada"), { id: run.id })).toBeUndefined();
  });
});
