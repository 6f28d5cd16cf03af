import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import { Misconfigured } from "../../../../src/core/basics/errors.ts";
import type { InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { adapterOn, fetchWith, inboundMessageOf, refusing, storedEvent } from "./github-fixture.ts";

const PERMISSION = /\/collaborators\/[^/]+\/permission$/;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let issue: Written;

beforeAll(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
  issue = await github.openIssue("olivia", { title: "Broken", body: "It is." });
});

beforeEach(() => {
  github.faults.clear();
  github.setPermission("wendy", "write");
});

afterAll(() => github.stop());

async function messageBy(login: string): Promise<InboundMessage> {
  return inboundMessageOf(adapted, await github.commentAs(login, issue.number, "@errand fix it"));
}

describe("an author", () => {
  test.each([
    ["olivia", "admin"],
    ["wendy", "write"],
  ])("the author %s with write permission is authorized by numeric id", async (login, permission) => {
    const authorization = await adapted.adapter.authorize(await messageBy(login));

    const { id } = login === "olivia" ? github.owner : github.writer;
    const author = { subject: `github:${id}`, displayName: login };
    expect(authorization).toEqual({ allowed: true, permission, roles: ["write"], author });
  });

  test.each([
    ["rob", "read", "read"],
    // A stranger, in a public repository.
    ["sam", "read", "read"],
  ])(
    "the author %s has the role %s and a refusal with the needed permission",
    async (login, role, permission) => {
      const authorization = await adapted.adapter.authorize(await messageBy(login));

      expect(authorization).toMatchObject({ allowed: true, permission, roles: [role] });
      expect(authorization).toHaveProperty("refusal", expect.stringContaining("write access"));
    },
  );

  test("an author who lost the permission after the comment is outside", async () => {
    const message = await messageBy("wendy");
    github.setPermission("wendy", "none");

    expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["outside"] });
  });

  test("a bot has the role of bots, and the App's own bot none", async () => {
    const message = await messageBy("wendy");
    const bot = (id: number) => ({
      ...message,
      author: { subject: `github:${id}`, isBot: true } as const,
      provenance: { ...message.provenance, actor: { id, login: "helper[bot]" } },
    });

    expect(await adapted.adapter.authorize(bot(github.otherBot.id))).toMatchObject({ roles: ["bot"] });
    expect(await adapted.adapter.authorize(bot(github.app.botUserId))).toMatchObject({ allowed: false });
  });

  test("an author with read permission has the role read even if the payload says MEMBER", async () => {
    const written = await github.commentAs("rob", issue.number, "@errand fix it");
    const comment = { ...(written.payload.comment as object), author_association: "MEMBER" };

    const message = await inboundMessageOf(adapted, { ...written, payload: { ...written.payload, comment } });

    expect(await adapted.adapter.authorize(message)).toMatchObject({ roles: ["read"] });
  });

  test("an author whose login now belongs to another account is refused", async () => {
    const message = await messageBy("wendy");
    const provenance = { ...message.provenance, actor: { id: github.stranger.id, login: "wendy" } };

    expect(await adapted.adapter.authorize({ ...message, provenance })).toMatchObject({ allowed: false });
  });

  test("an author that GitHub does not know is refused", async () => {
    const message = await messageBy("wendy");
    const provenance = { ...message.provenance, actor: { id: 1, login: "nobody-at-all" } };

    expect(await adapted.adapter.authorize({ ...message, provenance })).toMatchObject({ allowed: false });
  });
});

describe("without an answer from GitHub the author is not authorized, and the failure is retryable", () => {
  test.each([
    [{ kind: "502" } as const, undefined],
    [{ kind: "drop-after-write" } as const, undefined],
    [{ kind: "429", retryAfterSeconds: 30 } as const, 30_000],
    [{ kind: "secondary-limit", retryAfterSeconds: 7 } as const, 7_000],
  ])("the answer %j authorizes nobody, and the failure is retryable", async (fault, retryAfterMs) => {
    const message = await messageBy("wendy");
    let now = Date.now();
    const { adapter } = adapterOn(github, { now: () => now });
    github.faults.next({ method: "GET", path: PERMISSION, ...fault });

    const attempt = adapter.authorize(message);

    await expect(attempt).rejects.toMatchObject({ retryable: true });
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    await expect(attempt).rejects.toMatchObject({ options });
    now += retryAfterMs ?? 0;
    expect(await adapter.authorize(message)).toMatchObject({ allowed: true });
  });

  test("a plain 403 authorizes nobody, and the failure is retryable", async () => {
    const fetch = refusing(PERMISSION, 403, "Resource not accessible by integration");

    const attempt = adapterOn(github, { fetch }).adapter.authorize(await messageBy("wendy"));

    await expect(attempt).rejects.toMatchObject({ code: "not_authorized", retryable: true });
  });

  test("an answer that broke off authorizes nobody, and the failure is retryable", async () => {
    const fetch = refusing(PERMISSION, 200, "not what was asked for");

    const attempt = adapterOn(github, { fetch }).adapter.authorize(await messageBy("wendy"));

    await expect(attempt).rejects.toMatchObject({ code: "resource_unavailable", retryable: true });
  });

  test("the request waits while the App is suspended", async () => {
    const fetch = refusing(/\/access_tokens$/, 403, "This installation has been suspended");

    const attempt = adapterOn(github, { fetch }).adapter.authorize(await messageBy("wendy"));

    await expect(attempt).rejects.toThrow(Misconfigured);
  });

  test("the failure is permanent when the repository is archived", async () => {
    const fetch = refusing(PERMISSION, 403, "Repository was archived so is read-only.");

    const attempt = adapterOn(github, { fetch }).adapter.authorize(await messageBy("wendy"));

    await expect(attempt).rejects.toMatchObject({ code: "not_authorized", retryable: false });
  });
});

describe("in the pull request of a fork", () => {
  const pull = {
    base: { ref: "release", repo: { default_branch: "main" } },
    head: { ref: "fix", sha: "b".repeat(40), repo: { id: 2, full_name: "rob/widgets" } },
  };
  const fetch = fetchWith(({ url }) => (url.endsWith("/pulls/9") ? Response.json(pull) : undefined));
  const object = { kind: "issue_comment", id: 5, action: "created", in: "pull_request", number: 9 };

  test("the head is the commit that the signed event names, although the fork has moved since", async () => {
    const message = await messageBy("wendy");
    const provenance = { ...message.provenance, object, commit: "a".repeat(40) };

    const authorization = await adapterOn(github, { fetch }).adapter.authorize({ ...message, provenance });

    const head = { commit: "a".repeat(40), base: "release", fork: "rob/widgets" };
    expect(authorization).toMatchObject({ allowed: true, provenance: { head } });
  });

  test("the head says whether the author of the request may write to the repository", async () => {
    const message = await messageBy("wendy");
    const provenance = { ...message.provenance, object };
    const { adapter } = adapterOn(github, { fetch });

    const ofWriter = await adapter.authorize({ ...message, provenance });
    github.setPermission("wendy", "read");
    const ofReader = await adapter.authorize({ ...message, provenance });

    expect(ofWriter).toHaveProperty("provenance.head.requested_by_writer", true);
    expect(ofReader).toHaveProperty("provenance.head.commit");
    expect(ofReader).not.toHaveProperty("provenance.head.requested_by_writer");
  });

  test("the head of a comment, whose event names no commit, is the one at its authorization", async () => {
    const message = await messageBy("wendy");
    const provenance = { ...message.provenance, object };

    const authorization = await adapterOn(github, { fetch }).adapter.authorize({ ...message, provenance });

    expect(authorization).toMatchObject({ provenance: { head: { commit: "b".repeat(40) } } });
    expect(authorization).not.toHaveProperty("provenance.head.may_push");
  });
});

describe("a repository that a request names", () => {
  test("the author may use it only with write permission there, by GitHub's present answer", async () => {
    const message = await messageBy("wendy");
    const name = github.repo.fullName;

    expect(await adapted.adapter.mayWrite?.(message, name)).toBe(true);
    github.setPermission("wendy", "read");
    expect(await adapted.adapter.mayWrite?.(message, name)).toBe(false);
  });

  test("the author may not use a repository that the installation does not have", async () => {
    const message = await messageBy("wendy");

    expect(await adapted.adapter.mayWrite?.(message, "acme/unknown")).toBe(false);
    expect(await adapted.adapter.mayWrite?.(message, "../..")).toBe(false);
  });

  test("without an answer from GitHub nothing is decided", async () => {
    const message = await messageBy("wendy");
    github.faults.next({ method: "GET", path: PERMISSION, kind: "502" });

    const attempt = adapted.adapter.mayWrite?.(message, github.repo.fullName);

    await expect(attempt).rejects.toMatchObject({ retryable: true });
  });
});

describe("translating", () => {
  test("a translation keeps the signed text, even if the comment has changed", async () => {
    const written = await github.commentAs("wendy", issue.number, "@errand add a test");
    await github.editAs("wendy", written, "@errand delete everything");
    const before = github.calls().length;

    const message = await inboundMessageOf(adapted, written);

    expect(message.text).toBe("add a test");
    expect(github.calls().slice(before)).toEqual([]);
  });

  test("a translation needs the App's name from GitHub and is retried if GitHub does not answer", async () => {
    const fresh = adapterOn(github);
    const written = await github.commentAs("wendy", issue.number, "@errand hello");
    github.faults.next({ method: "GET", path: /^\/app$/, kind: "502" });

    await expect(fresh.adapter.translate(storedEvent(written))).rejects.toMatchObject({ retryable: true });
    expect((await inboundMessageOf(fresh, written)).text).toBe("hello");
    expect(fresh.adapter.traits.trigger("")).toBe("@errand");
  });
});

test("a user without permission on a private repository is outside", async () => {
  const hidden = await startEmulatedGithub({ private: true });
  try {
    const { number } = await hidden.openIssue("olivia", { title: "Broken", body: "It is." });
    const written = await hidden.commentAs("olivia", number, "@errand fix it");
    const there = adapterOn(hidden);
    const message = await inboundMessageOf(there, written);
    const { id, login } = hidden.stranger;
    const provenance = { ...message.provenance, actor: { id, login } };

    expect(await there.adapter.authorize({ ...message, provenance })).toMatchObject({ roles: ["outside"] });
  } finally {
    await hidden.stop();
  }
});
