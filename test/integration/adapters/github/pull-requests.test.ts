import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { contentHash } from "../../../../src/adapters/content-hash.ts";
import type { GithubDeps } from "../../../../src/adapters/github/index.ts";
import type { PullRequestAccess } from "../../../../src/core/ports/pull-requests.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { asRecord } from "../../../support/json.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { adapterOn, fetchWith, inboundMessageOf, refusing } from "./github-fixture.ts";

const PULLS = /\/repos\/acme\/widgets\/pulls$/;

let github: EmulatedGithub;
let branches = 0;

beforeAll(async () => {
  github = await startEmulatedGithub();
});
beforeEach(() => github.faults.clear());
afterAll(() => github.stop());

async function accessOf(deps: Partial<GithubDeps> = {}): Promise<PullRequestAccess> {
  const { name, owner } = github.repo;
  const access = await adapterOn(github, deps).openPullRequests({ owner, name });
  if (access === undefined) {
    throw new Error("The repository was not opened.");
  }
  return access;
}

function aDraft(changes: Partial<Parameters<PullRequestAccess["open"]>[0]> = {}) {
  branches += 1;
  const words = { title: "Fix the parser", body: "Made by a run.", isDraft: true };
  return { branch: `errand/${branches}`, ...words, ...changes };
}

function described(text: string, title = "Fix the parser"): string {
  const mark = `<!-- errand:title ${contentHash({ body: title })} -->`;
  return `<!-- errand:description -->\n${mark}\n${text}\n<!-- errand:description-end -->`;
}

/** GitHub, which refuses the bodies that `refuses` selects with this message. */
function githubRefusing(message: string, refuses: (body: Record<string, unknown>) => boolean): typeof fetch {
  return async (input, init) => {
    const isCreate = init?.method === "POST" && PULLS.test(new URL(String(input)).pathname);
    const answer = { message: "Validation Failed", errors: [{ resource: "PullRequest", message }] };
    if (isCreate && refuses(JSON.parse(String(init.body)))) {
      return Response.json(answer, { status: 422 });
    }
    return loopbackOnlyFetch(input, init);
  };
}

describe("a pull request", () => {
  test("a pull request is opened as a draft onto the default branch, in the name of the App", async () => {
    const draft = aDraft();

    const opened = await (await accessOf()).open(draft);

    const [call] = github.calls("POST", PULLS).slice(-1);
    expect(call).toMatchObject({
      actor: github.app.botLogin,
      body: {
        title: "Fix the parser",
        head: draft.branch,
        base: "main",
        body: described(draft.body),
        draft: true,
      },
    });
    const number = Number(opened?.url.split("/").at(-1));
    expect(opened).toEqual({
      url: expect.stringMatching(/\/acme\/widgets\/pull\/\d+$/),
      branch: draft.branch,
      linksToRun: true,
      thread: {
        adapter: "github",
        installation: String(github.app.installationId),
        key: `${github.repo.id}/issues/${number}`,
      },
    });
  });

  test("opening a pull request repeatedly gives one, and comments on it have its thread key", async () => {
    const draft = aDraft();
    const access = await accessOf();

    const [first, second] = [await access.open(draft), await access.open(draft)];

    expect(second).toEqual(first);
    const { linksToRun: _unread, ...found } = first ?? {};
    expect(await access.find(draft.branch)).toEqual(found);
    const number = Number(first?.url.split("/").at(-1));
    const comment = await github.commentAs("wendy", number, "@errand more");
    expect(await inboundMessageOf(adapterOn(github), comment)).toMatchObject(first?.thread ?? {});
  });

  test.each(["#8982-bugfix", "feature/AB#1992-x", "feat(a),b+c@d", "größe/%20&x=1"])(
    "a pull request of the branch %s is opened and found again",
    async (branch) => {
      const access = await accessOf();

      const opened = await access.open(aDraft({ branch }));

      expect(opened?.branch).toBe(branch);
      expect((await access.find(branch))?.url).toBe(opened?.url);
      expect((await access.update(aDraft({ branch })))?.url).toBe(opened?.url);
    },
  );

  test("the description has the agent's words, which close and mention nothing, the issue, and who asked as reviewer", async () => {
    const summary = "I fixed it for @everyone. Fixes #7, closes: acme/other#8 and <b>more</b>.";
    const requester = { id: github.writer.id, login: "wendy" };

    const opened = await (await accessOf()).open(aDraft({ summary, closes: 5, requester }));

    const body = String(asRecord(github.calls("POST", PULLS).at(-1)?.body).body);
    expect(body).toContain("I fixed it for @&#8203;everyone");
    expect(body).toContain("Fixes\u200B #7, closes\u200B: acme/other#8");
    expect(body).not.toContain("<b>");
    expect(body).toMatch(/\n\nFixes #5\n\nMade by a run\.\n<!--/);
    const number = opened?.url.split("/").at(-1);
    expect(github.calls("POST", new RegExp(`/pulls/${number}/requested_reviewers$`))).toMatchObject([
      { body: { reviewers: ["wendy"] }, outcome: expect.stringMatching(/^20/) },
    ]);
  });

  test("the description is written again after each turn, and what people wrote around it stays", async () => {
    const access = await accessOf();
    const draft = aDraft({ summary: "First." });
    const opened = await access.open(draft);
    const number = Number(opened?.url.split("/").at(-1));
    const body = `Please read.\n${described("First.\n\nMade by a run.")}\nThanks.`;
    await github.editPullRequestAs("wendy", number, { body });

    await access.open({ ...draft, summary: "Second." });
    await access.open({ ...draft, summary: "Second." });
    const { summary: _private, ...silent } = draft;
    await access.open(silent);

    const edits = github.calls("PATCH", new RegExp(`/pulls/${number}$`));
    expect(edits).toMatchObject([
      { body: { body: `Please read.\n${described("Second.\n\nMade by a run.")}\nThanks.` }, outcome: "200" },
    ]);
  });

  test("the title follows the work until a person writes another one", async () => {
    const access = await accessOf();
    const draft = aDraft({ summary: "First." });
    const number = Number((await access.open(draft))?.url.split("/").at(-1));
    const titles = () => github.pullRequests().find((pull) => pull.number === number)?.title;

    await access.open({ ...draft, title: "Fix the parser and its docs" });
    const followed = titles();
    await github.editPullRequestAs("wendy", number, { title: "Our parser" });
    await access.open({ ...draft, title: "Rewrite the parser", summary: "Second." });
    await access.open({ ...draft, title: "Rewrite all", summary: "Third." });

    expect([followed, titles()]).toEqual(["Fix the parser and its docs", "Our parser"]);
    const bodies = github.calls("PATCH", new RegExp(`/pulls/${number}$`)).map(({ body }) => asRecord(body));
    expect(bodies.at(-1)).toEqual({
      body: described("Third.\n\nMade by a run.", "Fix the parser and its docs"),
    });
  });

  test("the template's headings get the description and the issue, and the next turn keeps them there", async () => {
    const access = await accessOf();
    const template = "## Summary\n<!-- say it -->\n\n## Issue\nFixes #\n\n## Checklist\n- [ ] Tests";
    const draft = aDraft({ summary: "Did it.", closes: 5, template });
    const filled = (text: string) =>
      `## Summary\n\n${described(`${text}\n\nMade by a run.`)}\n\n## Issue\n\nFixes #5\n\n## Checklist\n- [ ] Tests`;

    const opened = await access.open(draft);
    await access.open({ ...draft, summary: "Did more." });

    expect(github.calls("POST", PULLS).at(-2)?.body).toMatchObject({ body: filled("Did it.") });
    const number = opened?.url.split("/").at(-1);
    expect(github.calls("PATCH", new RegExp(`/pulls/${number}$`)).at(-1)?.body).toEqual({
      body: filled("Did more."),
    });
  });

  test("a template without a fitting heading stands below a new description, and what people fill in stays", async () => {
    const access = await accessOf();
    const template = "## Why\n<!-- tell us -->\n\n- [ ] Tests";
    const draft = aDraft({ summary: "Did it.", template });
    const opened = await access.open(draft);
    expect(github.calls("POST", PULLS).at(-1)?.body).toMatchObject({
      body: `${described(`Did it.\n\n${draft.body}`)}\n\n${template}`,
    });
    const number = Number(opened?.url.split("/").at(-1));
    const filled = template.replace("<!-- tell us -->", "Because.");
    await github.editPullRequestAs("wendy", number, { body: `${described("Did it.")}\n\n${filled}` });

    await access.open({ ...draft, summary: "Did more." });

    expect(github.calls("PATCH", new RegExp(`/pulls/${number}$`)).at(-1)?.body).toMatchObject({
      body: `${described(`Did more.\n\n${draft.body}`)}\n\n${filled}`,
    });
  });

  test("a description that people replaced stays as it is", async () => {
    const access = await accessOf();
    const draft = aDraft({ summary: "First." });
    const number = Number((await access.open(draft))?.url.split("/").at(-1));
    await github.editPullRequestAs("wendy", number, { body: "Ours now." });

    await access.open({ ...draft, title: "Another title", summary: "Second." });

    expect(github.calls("PATCH", new RegExp(`/pulls/${number}$`))).toEqual([]);
  });

  test("a pull request is brought up to date by the run that opened it, and not by another run", async () => {
    const access = await accessOf();
    const draft = aDraft({ summary: "First.", body: "Made by a run.\n\nAsked for here." });
    const opened = await access.open(draft);
    const patches = () => github.calls("PATCH", new RegExp(`${opened?.url.split("/").at(-1)}$`));

    const other = await access.update({ ...draft, summary: "Second.", body: "Made by another run." });
    expect(patches()).toEqual([]);
    const own = await access.update({ ...draft, title: "Fix it all", summary: "Second." });

    expect([other, own]).toEqual([{ ...opened, linksToRun: false }, opened]);
    expect(patches().map(({ body }) => body)).toEqual([
      {
        title: "Fix it all",
        body: described("Second.\n\nMade by a run.\n\nAsked for here.", "Fix it all"),
      },
    ]);
    expect(await access.update({ ...draft, branch: "errand/nobody" })).toBeUndefined();
  });

  test("a pull request is opened although its reviewer is refused", async () => {
    const requester = { id: 1, login: "nobody-of-this-name" };
    github.faults.next({ method: "POST", path: /requested_reviewers$/, kind: "502" });

    expect(await (await accessOf()).open(aDraft({ requester }))).toBeDefined();
  });

  test("a pull request whose opening got no answer is found", async () => {
    const draft = aDraft();
    const access = await accessOf();
    github.faults.next({ method: "POST", path: PULLS, kind: "drop-after-write" });

    await expect(access.open(draft)).rejects.toMatchObject({ retryable: true });
    const pullRequest = await access.open(draft);

    expect(pullRequest?.branch).toBe(draft.branch);
    const calls = github.calls("POST", PULLS).filter(({ body }) => isAbout(body, draft.branch));
    expect(calls.map(({ outcome }) => outcome)).toEqual(["drop-after-write", "422"]);
  });

  test("a pull request is ready for review where the repository has no drafts", async () => {
    const draft = aDraft();
    const fetch = githubRefusing(
      "Draft pull requests are not supported in this repository.",
      (body) => !!body.draft,
    );

    const opened = await (await accessOf({ fetch })).open(draft);

    expect(opened?.branch).toBe(draft.branch);
    expect(github.calls("POST", PULLS).at(-1)?.body).toMatchObject({ draft: false });
  });

  test("a pull request targets the branch that it was asked for on, or the default branch when that is gone", async () => {
    const onto = aDraft({ base: "feature", isDraft: false });
    await (await accessOf()).open(onto);
    expect(github.calls("POST", PULLS).at(-1)?.body).toMatchObject({ base: "feature", draft: false });

    const gone = aDraft({ base: "merged" });
    const fetch = githubRefusing('field: "base", code: "invalid"', ({ base }) => base === "merged");
    await (await accessOf({ fetch })).open(gone);
    expect(github.calls("POST", PULLS).at(-1)?.body).toMatchObject({ base: "main", head: gone.branch });
  });

  test.each([
    ["from the default branch", () => aDraft({ branch: "main" }), undefined],
    ["of a branch with nothing on it", () => aDraft(), "No commits between main and errand/x"],
  ])("a pull request %s is not opened", async (_what, draftOf, words) => {
    const deps = words === undefined ? {} : { fetch: githubRefusing(words, () => true) };

    expect(await (await accessOf(deps)).open(draftOf())).toBeUndefined();
  });

  test("a pull request of another branch is not this one's", async () => {
    const access = await accessOf();
    await access.open(aDraft());

    expect(await access.find("errand/nobody")).toBeUndefined();
  });
});

describe("refusals by GitHub", () => {
  test.each([
    [{ kind: "429", retryAfterSeconds: 30 } as const, 30_000],
    [{ kind: "secondary-limit", retryAfterSeconds: 7 } as const, 7_000],
    [{ kind: "502" } as const, undefined],
  ])("a temporary refusal by GitHub (%j) can be tried again", async (fault, retryAfterMs) => {
    github.faults.next({ method: "POST", path: PULLS, ...fault });

    const attempt = (await accessOf()).open(aDraft());

    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    await expect(attempt).rejects.toMatchObject({ code: "resource_unavailable", retryable: true, options });
  });

  test("a permanent refusal is a failure", async () => {
    const fetch = refusing(PULLS, 403, "Resource not accessible by integration");

    const attempt = (await accessOf({ fetch })).open(aDraft());

    await expect(attempt).rejects.toMatchObject({
      code: "not_authorized",
      retryable: false,
      message: expect.stringContaining("not accessible by integration"),
    });
  });

  test("a repository that the App is not installed in is not opened", async () => {
    const name = { owner: "nobody", name: "nothing" };

    expect(await adapterOn(github).openPullRequests(name)).toBeUndefined();
  });
});

describe("a request in a pull request", () => {
  const HEAD = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

  test("a request in a pull request is about its branch", async () => {
    const pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: "feature-1" });
    const adapted = adapterOn(github);
    const message = await inboundMessageOf(
      adapted,
      await github.commentAs("wendy", pull.number, "@errand go on"),
    );

    expect(await adapted.adapter.authorize(message)).toMatchObject({
      allowed: true,
      provenance: { head: { branch: "feature-1", may_push: true } },
    });
  });

  test("work is not pushed to the default branch, although it is the branch of a pull request", async () => {
    const pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: "feature-3" });
    const message = await inboundMessageOf(
      adapterOn(github),
      await github.commentAs("wendy", pull.number, "@errand go on"),
    );
    const { id } = github.repo;
    const own = {
      base: { ref: "release", repo: { default_branch: "main" } },
      head: { ref: "main", sha: HEAD, repo: { id } },
    };
    const fetch = fetchWith(({ url }) => (/\/pulls\/\d+$/.test(url) ? Response.json(own) : undefined));

    expect(await adapterOn(github, { fetch }).adapter.authorize(message)).toMatchObject({
      provenance: { head: { branch: "main", may_push: false } },
    });
  });

  test("a request in a fork's pull request has the head's commit, and no branch of this repository", async () => {
    const pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: "feature-2" });
    const message = await inboundMessageOf(
      adapterOn(github),
      await github.commentAs("wendy", pull.number, "@errand go on"),
    );
    const fork = {
      base: { ref: "main", repo: { default_branch: "main" } },
      head: { ref: "main", sha: HEAD, repo: { id: 999_999 } },
    };
    const fetch = fetchWith(({ url }) => (/\/pulls\/\d+$/.test(url) ? Response.json(fork) : undefined));

    const allowed = await adapterOn(github, { fetch }).adapter.authorize(message);

    expect(allowed).toMatchObject({ allowed: true, provenance: { head: { commit: HEAD, base: "main" } } });
    expect(allowed).not.toHaveProperty("provenance.head.branch");
  });
});

function isAbout(body: unknown, branch: string): boolean {
  return JSON.stringify(body).includes(`"head":"${branch}"`);
}

describe("the status of a pull request", () => {
  const checkRuns = [
    {
      id: 1,
      name: "lint",
      status: "completed",
      conclusion: "success",
      html_url: "https://github.test/checks/1",
    },
    { id: 2, name: "docs", status: "completed", conclusion: "skipped" },
    { id: 3, name: "unit", status: "completed", conclusion: "timed_out", html_url: "javascript:alert(1)" },
    { id: 4, name: "e2e", status: "in_progress", conclusion: null },
  ];

  const statuses = [
    { context: "ci/build", state: "error", target_url: "https://ci.example/7" },
    { context: "ci/deploy", state: "pending", target_url: null },
    { context: "ci/docs", state: "success" },
  ];

  /** GitHub, which says this about the pull request, and whether a request named the tag of the answer before. */
  function githubSaying(pull: object, checks: () => Response, tags: (string | null)[]): typeof fetch {
    return async (input, init) => {
      const { pathname } = new URL(String(input));
      const tag = new Headers(init?.headers).get("if-none-match");
      if (pathname.endsWith("/check-runs")) {
        tags.push(tag);
        return tag === 'W/"checks-1"' ? new Response(null, { status: 304 }) : checks();
      }
      if (pathname.endsWith("/commits/c0ffee/status")) {
        return Response.json({ statuses });
      }
      const isPull = pathname.endsWith("/pulls/7");
      const branches = { base: { ref: "release" }, head: { sha: "c0ffee" } };
      const shown = { html_url: "https://github.test/acme/widgets/pull/7", ...branches, ...pull };
      return isPull ? Response.json(shown) : loopbackOnlyFetch(input, init);
    };
  }

  const withTag = () => Response.json({ check_runs: checkRuns }, { headers: { etag: 'W/"checks-1"' } });

  test("it has the state and the checks, failed ones first, and an unchanged answer is not sent again", async () => {
    const tags: (string | null)[] = [];
    const fetch = githubSaying({ state: "open", draft: true }, withTag, tags);
    const access = await accessOf({ fetch });

    const [first, second] = [await access.read(7), await access.read(7)];

    expect(first).toEqual({
      url: "https://github.test/acme/widgets/pull/7",
      base: "release",
      state: "draft",
      checks: [
        { name: "unit", state: "failed" },
        { name: "ci/build", state: "failed", url: "https://ci.example/7" },
        { name: "e2e", state: "running" },
        { name: "ci/deploy", state: "running" },
        { name: "lint", state: "passed", url: "https://github.test/checks/1" },
        { name: "ci/docs", state: "passed" },
        { name: "docs", state: "skipped" },
      ],
    });
    expect([second, tags]).toEqual([first, [null, 'W/"checks-1"']]);
  });

  test.each([
    ["open", { state: "open" }],
    ["merged", { state: "closed", merged_at: "2026-03-01T12:00:00Z" }],
    ["closed", { state: "closed", merged_at: null }],
  ] as const)(
    "it is %s with the commit statuses also for an App that may not read checks",
    async (state, pull) => {
      const refused = () => Response.json({ message: "Resource not accessible" }, { status: 403 });
      const access = await accessOf({ fetch: githubSaying(pull, refused, []) });

      const { checks, ...status } = await access.read(7);
      expect(status).toMatchObject({ state });
      expect(checks.map(({ name }) => name)).toEqual(["ci/build", "ci/deploy", "ci/docs"]);
    },
  );

  test("the emulated GitHub gives the status of a pull request that was opened", async () => {
    const access = await accessOf();
    const opened = await access.open(aDraft());
    const number = Number(opened?.url.split("/").at(-1));

    expect(await access.read(number)).toEqual({ url: opened?.url, base: "main", state: "draft", checks: [] });
  });
});
