import { afterEach, beforeEach, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { adapterOn, inboundMessageOf } from "./github-fixture.ts";

const PERMISSION = /\/permission$/;
const COMMENTS = /\/issues\/\d+\/comments$/;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let issue: Written;
let message: InboundMessage;

beforeEach(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
  issue = await github.openIssue("olivia", { title: "Broken", body: "" });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", issue.number, "@errand go"));
});

afterEach(() => github.stop());

function outcomes(path: RegExp): string[] {
  return github.calls("GET", path).map(({ outcome }) => outcome);
}

test("a permission that has not changed is answered without being counted, and a revoked one is seen at once", async () => {
  expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["write"] });
  expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["write"] });
  github.setPermission("wendy", "read");
  expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["read"] });

  expect(outcomes(PERMISSION)).toEqual(["200", "304", "200"]);
});

test("comments are read again only if there is another one", async () => {
  const gather = () => adapted.adapter.gather?.(message, { isFollowUp: false });
  const first = await gather();
  expect(await gather()).toEqual(first);
  await github.commentAs("rob", issue.number, "It fails on Fridays.");
  expect((await gather())?.context).toContain("It fails on Fridays.");

  expect(outcomes(COMMENTS)).toEqual(["200", "304", "200"]);
});

test("a new token gets the whole answer, because ETags belong to tokens", async () => {
  await adapted.adapter.authorize(message);
  github.revokeTokens();
  expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["write"] });

  expect(outcomes(PERMISSION)).toEqual(["200", "401", "200"]);
});
