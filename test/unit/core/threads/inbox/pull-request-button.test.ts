import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { aPolicy, aRoutingRule } from "../../../../support/rule-builders.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const FORBIDDEN = "Permission to acme/widgets.git denied to errand[bot].";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK", proposesChanges: true };
  harness.adapter.roles.set("memory:Ada", ["member"]);
  await harness.start();
  await harness.storage.environments.add(anEnvironment("web", "acme/widgets"));
  changed("one\n");
});

function changed(ofTurn: string): void {
  const { sinceClone, sinceSnapshot } = harness.changes;
  sinceSnapshot.set("acme/widgets", ofTurn);
  sinceClone.set("acme/widgets", `${sinceClone.get("acme/widgets") ?? ""}${ofTurn}`);
}

async function ask(text: string): Promise<Run> {
  harness.agents.scripts.push(async ({ say }) => {
    say("Done.");
    return END_TURN;
  });
  await harness.receive({ text });
  return ended();
}

function ended(): Promise<Run> {
  const look = async () => {
    const run = await harness.currentRun();
    return run.lease === undefined && run.state === "SUCCEEDED" && run;
  };
  return waitFor(look, { what: "the run to be free", everyMs: 2 });
}

/** The agent did not change anything since its last turn. */
async function press({ id }: Pick<Run, "id">): Promise<string> {
  harness.changes.sinceSnapshot.clear();
  return harness.receive({ text: "", buttonAction: { kind: "pull_request", runId: id } });
}

function answers() {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.flatMap((notice) =>
    notice.kind === "message" && notice.purpose === "answer" ? [notice] : [],
  );
}

describe("the button that creates a pull request", () => {
  test("makes one of an ended run without its agent, and the thread says where it is", async () => {
    const run = await ask("env=web pr=off Fix it");
    expect(answers().map(({ offersPullRequest }) => offersPullRequest)).toEqual([run.id]);
    const started = harness.agents.starts.length;

    expect(await press(run)).toBe("follow_up");
    const after = await ended();

    const [draft] = harness.pullRequests.drafts;
    expect(draft).toMatchObject({ isDraft: true, summary: "Done.", repository: { name: "widgets" } });
    expect(harness.agents.starts).toHaveLength(started);
    expect(after).toMatchObject({ state: "SUCCEEDED", turn: 2, pullRequest: expect.any(String) });
    expect(answers().at(-1)).toMatchObject({
      text: `The pull request: ${after.pullRequest}`,
      landed: [{ repository: "acme/widgets", pullRequest: after.pullRequest, isDraft: true }],
    });
    expect(answers().at(-1)).not.toHaveProperty("offersPullRequest");
  });

  test("makes one pull request, however often it is pressed", async () => {
    const run = await ask("env=web pr=off Fix it");
    await press(run);
    const { pullRequest } = await ended();

    expect(await press(run)).toBe("replied");

    expect(harness.repliesShown().at(-1)).toBe(`The changes are in a pull request: ${pullRequest}`);
    expect(harness.pullRequests.drafts).toHaveLength(1);
  });

  test("keeps it up to date with later turns of the run", async () => {
    await press(await ask("env=web pr=off Fix it"));
    await ended();

    changed("two\n");
    await ask("And the lexer");

    expect(harness.changes.pushes).toHaveLength(2);
    expect(new Set(harness.changes.pushes.map(({ branch }) => branch)).size).toBe(1);
    expect(harness.pullRequests.count).toBe(1);
  });

  test("gives the agent the follow-ups that came meanwhile, and none of its own words", async () => {
    const run = await ask("env=web pr=off Fix it");
    let open = () => {};
    harness.changes.pushGates.push(new Promise((resolve) => (open = resolve)));
    await press(run);
    await harness.receive({ text: "Rename it" });
    open();
    await waitFor(() => harness.agents.prompts.length === 2, { what: "the follow-up", everyMs: 2 });
    await ended();

    expect(harness.agents.prompts.at(-1)).toBe("Rename it");
    expect(harness.pullRequests.count).toBe(1);
  });

  test("says that a run at work has to end first", async () => {
    const run = await harness.aBlockedRun();

    expect(await press(run)).toBe("replied");

    expect(harness.repliesShown().at(-1)).toMatch(
      /at work.*\n?Ask for the pull request once it has answered/,
    );
    expect((await harness.currentRun()).state).toBe("BLOCKED");
  });

  test("obeys the policies for follow-ups of the person who presses it", async () => {
    const run = await ask("env=web pr=off Fix it");
    await harness.storage.policies.add(
      aPolicy({ effect: "deny", reason: "Not on Fridays.", match: { actions: ["follow_up"] } }),
    );

    expect(await press(run)).toBe("refused");

    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("says why the host or the missing credentials allow none", async () => {
    const run = await ask("env=web pr=off Fix it");
    harness.changes.pushFaults.push(new AppError("not_authorized", FORBIDDEN));
    await press(run);
    await ended();

    expect(answers().at(-1)?.unpushed?.words).toContain(FORBIDDEN);
    expect(answers().at(-1)?.offersPullRequest).toBe(run.id);
    await press(run);
    expect((await ended()).outcome).not.toHaveProperty("refused");
    expect(harness.pullRequests.count).toBe(1);
  });

  test("says that there is nothing to make one of", async () => {
    const run = await ask("env=web pr=off Fix it");
    harness.changes.sinceClone.clear();

    await press(run);
    await ended();

    expect(answers().at(-1)?.text).toMatch(/no pull request, because .* no changes/);
  });

  test("does nothing for a run of another thread", async () => {
    await ask("env=web pr=off Fix it");

    expect(await press(await harness.create())).toBe("replied");
    expect(harness.pullRequests.drafts).toEqual([]);
  });

  test("works on a run whose budget is used up", async () => {
    await harness.storage.routingRules.add(aRoutingRule({ config: { budget: { max_turns: 1 } } }));
    const run = await ask("repo=acme/widgets pr=off Fix it");
    expect(run.config.budget).toEqual({ max_turns: 1 });

    await press(run);
    await ended();

    expect(harness.pullRequests.count).toBe(1);
  });
});

describe("a pull request that only a default wants", () => {
  test("is left out where the host lets Errand write nothing, and the answer says why", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      harness.gateways.last.refuse({ owner: "acme", name: "widgets", message: FORBIDDEN });
      say("Done.");
      return END_TURN;
    });
    harness.changes.pushFaults.push(new AppError("not_authorized", FORBIDDEN));
    await harness.receive({ text: "env=web Fix it" });
    const { outcome, statusMessage, warnings } = await ended();

    expect([outcome?.refused, warnings]).toEqual([undefined, undefined]);
    expect(statusMessage?.message).toBe(`No pull request was made, because the host says: ${FORBIDDEN}`);
    expect(answers().at(-1)?.unpushed?.words).toContain("An administrator gives Errand");
  });

  test("is left out without credentials, and the answer says why", async () => {
    harness.pullRequests.isClosed = true;

    const { statusMessage } = await ask("env=web Fix it");

    expect(statusMessage?.message).toBe(
      "No pull request was made, because the team has no credentials for one.",
    );
    expect(answers().at(-1)?.unpushed?.words).toContain(statusMessage?.message);
  });
});
