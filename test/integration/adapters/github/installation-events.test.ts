import { afterEach, beforeEach, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { recordedPayload } from "../../../support/github/github-payloads.ts";
import { asRecord, type JsonRecord } from "../../../support/json.ts";
import { adapterOn, inboundMessageOf, storedEvent } from "./github-fixture.ts";

const TOKENS = /\/access_tokens$/;
/** An action of each event that is recorded. The other actions have the same members. */
const RECORDED: Readonly<Record<string, string>> = {
  installation: "created",
  installation_repositories: "added",
  repository: "renamed",
};
const BY_ID = /^\/repositories\//;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let message: InboundMessage;

beforeEach(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
  const { number } = await github.openIssue("olivia", { title: "Broken", body: "" });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", number, "@errand go"));
});

afterEach(() => github.stop());

/** Translates an event about the emulated installation, and returns the reason of its result. */
async function take(name: string, action: string, members: JsonRecord = {}): Promise<string> {
  const recorded = recordedPayload(name, RECORDED[name] ?? "");
  const installation = { ...asRecord(recorded.installation ?? {}), id: github.app.installationId };
  const body = JSON.stringify({ ...recorded, action, installation, ...members });
  const translated = await adapted.adapter.translate({
    ...storedEvent({ id: 1, number: 1, event: "issues", payload: {} }),
    ...{ name, body, receivedAt: new Date() },
  });
  if (translated.kind === "ignored" || translated.kind === "removal") {
    return `${translated.kind}: ${translated.reason}`;
  }
  return translated.kind;
}

test.each([
  ["installation", "created", /^ignored: The App was installed on \w+\.$/],
  ["installation", "deleted", /^removal: The App was removed from \w+\.$/],
  ["installation", "suspend", /^removal: The App was suspended on \w+\.$/],
  ["installation", "unsuspend", /^ignored: The App was resumed on \w+\.$/],
  [
    "installation",
    "new_permissions_accepted",
    /^ignored: New permissions of the App were accepted on \w+\.$/,
  ],
  ["installation_repositories", "added", /^ignored: The App got more repositories on \w+\.$/],
  ["installation_repositories", "removed", /^ignored: The App lost repositories on \w+\.$/],
  ["repository", "renamed", /^ignored: A repository was renamed to \w+\/\w/],
  ["repository", "transferred", /^ignored: A repository was transferred to \w+\/\w/],
  ["repository", "deleted", /^ignored: A repository was deleted: \w+\/\w/],
  ["repository", "privatized", /^ignored: A repository became private: \w+\/\w/],
  ["repository", "archived", /^ignored: A repository was archived: \w+\/\w/],
])("the event %s.%s asks for nothing, and its result says what happened", async (name, action, reason) => {
  const before = github.calls().length;

  expect(await take(name, action)).toMatch(reason);

  expect(github.calls()).toHaveLength(before);
});

test.each([
  ["installation", "unsuspend"],
  ["installation", "new_permissions_accepted"],
  ["installation_repositories", "added"],
])("the event %s.%s ends the pause after a refusal", async (name, action) => {
  const refused = { kind: "refused", status: 403, message: "This installation has been suspended" } as const;
  const resume = github.faults.until({ method: "POST", path: TOKENS, ...refused });
  await expect(adapted.adapter.authorize(message)).rejects.toMatchObject({ code: "not_authorized" });
  resume();
  await expect(adapted.adapter.authorize(message)).rejects.toMatchObject({ code: "not_authorized" });

  await take(name, action);

  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });
  expect(github.calls("POST", TOKENS)).toHaveLength(2);
});

test("a suspension drops the tokens", async () => {
  await adapted.adapter.authorize(message);
  await take("installation", "suspend");
  await adapted.adapter.authorize(message);

  expect(github.calls("POST", TOKENS)).toHaveLength(2);
});

test("the new name of a repository is known from the event, without a call", async () => {
  const { id, owner } = github.repo;
  const repository = { id, name: "gadgets", full_name: `${owner}/gadgets`, owner: { login: owner } };
  await take("repository", "renamed", { repository });

  await adapted.adapter.authorize(message).catch(() => undefined);

  expect(github.calls("GET", /\/gadgets\//)).toHaveLength(1);
});

test("a name that no repository can have is not used in calls", async () => {
  const { id, owner } = github.repo;
  const repository = { id, name: "../gadgets", full_name: `${owner}/../gadgets`, owner: { login: owner } };
  await take("repository", "renamed", { repository });

  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });

  expect(github.calls("GET", /gadgets/)).toEqual([]);
});

test.each([
  ["transferred", "repository"],
  ["removed", "installation_repositories"],
])("after a repository was %s, GitHub is asked for its name", async (action, name) => {
  const { id, owner } = github.repo;
  const repository = { id, name: "widgets", full_name: "other/widgets", owner: { login: owner } };
  const members = name === "repository" ? { repository } : { repositories_removed: [{ id }] };
  await take(name, action, members);

  expect(await adapted.adapter.authorize(message)).toMatchObject({ allowed: true });

  expect(github.calls("GET", BY_ID)).toHaveLength(1);
});
