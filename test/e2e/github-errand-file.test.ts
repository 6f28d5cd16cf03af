import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const FILE = ".github/errand.yml";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});
afterAll(() => fixture?.close());

/** A maintainer pushes the file, and the service has handled the event. */
async function push(text: string): Promise<void> {
  await fixture.sendGithub(await fixture.github.commitFile(FILE, text));
  await fixture.dispositions(1);
}

test("a run follows the file of its repository, and its card says what is wrong there", async () => {
  const { api, github } = fixture;
  await push("base_prompt: Be brief\nmodel: 4\npull_request:\n  open: ready\n");
  const issue = await GithubIssue.open(fixture);

  await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:|Pull request/);

  expect(card.body).toContain("> `.github/errand.yml`, line 2: `model` must be a text.");
  expect(await api.getRun(issue.runId)).toMatchObject({
    agent_config: { base_prompt: "Be brief", pull_request: "ready" },
    provenance: { config_layers: { base_prompt: "repository_file" } },
    warnings: ["`.github/errand.yml`, line 2: `model` must be a text."],
  });
  expect(asRecord(github.calls("POST", /\/pulls$/).at(-1)?.body).draft).toBe(false);
});

test("a request that the file turns off is refused, and works again after the repair", async () => {
  await push("triggers:\n  mention: false\n");
  const issue = await GithubIssue.open(fixture);

  await issue.comment("@errand say hello");
  await issue.untilReply(/line 2: `triggers\.mention` is off/);
  await push("pull_request: draft\n");
  await issue.comment("@errand say hello again");
  await issue.untilReply(/do nothing here until this is repaired: `\.github\/errand\.yml`, line 1/);
  await push("{}\n");
  await issue.comment("@errand say hello at last");

  await issue.untilCard("Done");
});

test("a draft gets the labels that the repository has, and becomes ready once its checks pass", async () => {
  const { github } = fixture;
  await github.createLabel("errand");
  await push("pull_request:\n  ready_when_green: true\n  labels: [errand, unknown]\n");
  const issue = await GithubIssue.open(fixture);

  await issue.comment("@errand write notes.txt hello");
  const [answer] = await issue.untilAnswers(1);
  const number = github.pullRequests().at(-1)?.number ?? 0;
  const isDraft = () => github.pullRequests().find((each) => each.number === number)?.isDraft;

  expect(await github.labelsOf(number)).toEqual(["errand"]);
  expect(answer).toMatch(
    /line 3: .*pull_request\.labels.* could not be put \(unknown\): the repository has no such/,
  );
  expect(isDraft()).toBe(true);

  await github.passChecks(number, ["build"]);
  await fixture.sendGithub(await github.endSuite(number, "success"));
  await waitFor(() => isDraft() === false, {
    what: "the pull request to be ready",
    timeoutMs: WAIT_LIMIT_MS,
  });

  github.makeDraft(number);
  await fixture.sendGithub(await github.endSuite(number, "success"));
  await fixture.dispositions(3);
  expect(isDraft()).toBe(true);
});

test.each([
  ["a check fails", async (number: number) => fixture.github.failChecks(number, ["lint"])],
  ["the file does not say it any more", async () => push("{}\n")],
])("a draft stays a draft if %s", async (_what, change) => {
  const { github } = fixture;
  await push("pull_request:\n  ready_when_green: true\ntriggers:\n  failing_checks: false\n");
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand write notes.txt hello");
  await issue.untilAnswers(1);
  const number = github.pullRequests().at(-1)?.number ?? 0;
  await github.passChecks(number, ["build"]);
  await change(number);

  await fixture.sendGithub(await github.endSuite(number, "success"));
  await fixture.dispositions(3);

  expect(github.pullRequests().find((each) => each.number === number)?.isDraft).toBe(true);
});

test("work outside of the paths of the file is pushed neither by the agent nor by Errand", async () => {
  const { api, github, gitHost } = fixture;
  await push("pull_request:\n  paths: [docs]\n");
  const before = await gitHost.repositories.branches(github.repo.fullName);
  const issue = await GithubIssue.open(fixture);

  const work = "mkdir -p api && echo x > api/a.txt && git add -A && git commit -qm More";
  await issue.comment(`@errand shell ${work}; git push origin HEAD:refs/heads/own 2>&1 | grep rejected`);
  const card = await issue.untilCard("Done, but not pushed");

  expect(card.body).toMatch(/line 2: .*pull_request\.paths.* allows changes only in docs.*api\/a\.txt/);
  expect(await gitHost.repositories.branches(github.repo.fullName)).toEqual(before);
  const events = await api.events(issue.runId);
  expect(JSON.stringify(events)).toContain("Errand pushes the work after the turn");
  expect(events.filter(({ kind }) => kind === "turn.started")).toHaveLength(1);
});
