import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});
afterAll(() => fixture?.close());

test("a run whose repository is renamed while it works pushes there, and opens and updates its pull request", async () => {
  const { api, github, gitHost } = fixture;
  const { fullName, owner } = github.repo;
  const renamed = `${owner}/gadgets`;
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand sleep 3; write notes.txt hello");
  await waitFor(() => issue.cards.length > 0, { what: "the card", timeoutMs: WAIT_LIMIT_MS });
  await api.waitForState(issue.runId, "INPROGRESS", WAIT_LIMIT_MS);

  github.renameRepository("gadgets");
  await gitHost.rename(fullName, renamed);
  const card = await issue.untilCard("Done", /Its pull request:/);
  const [, number] = new RegExp(`/${renamed}/pull/(\\d+)`).exec(card.body) ?? [];
  await issue.comment("@errand write notes.txt again");
  await issue.untilCard("Done", /turn 2/);

  const [opened] = github.pullRequests().slice(-1);
  expect(opened?.number).toBe(Number(number));
  expect(await gitHost.repositories.read(renamed, opened?.branch ?? "", "notes.txt")).toBe("again\n");
  const updates = github.calls("PATCH", new RegExp(`/repos/${renamed}/pulls/${number}$`));
  expect(updates.map(({ outcome }) => outcome)).toContain("200");
  const { warnings } = await api.getRun(issue.runId);
  expect(warnings ?? []).toEqual([]);
  await fixture.checkInvariants();
});
