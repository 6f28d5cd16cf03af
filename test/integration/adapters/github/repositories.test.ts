import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { adapterOn, inboundMessageOf, refusing } from "./github-fixture.ts";

const TOKENS = /\/access_tokens$/;

let github: EmulatedGithub;
let url: string;

beforeAll(async () => {
  github = await startEmulatedGithub();
  url = addressOf(github.repo.fullName);
});
beforeEach(() => github.faults.clear());
afterAll(() => github.stop());

function addressOf(repository: string): string {
  return `${new URL(github.apiUrl).origin}/${repository}.git`;
}

test("a repository that the App is installed in is opened by a token for it alone, for reading", async () => {
  const access = await adapterOn(github).openRepository(url);

  expect(access?.installation).toBe(String(github.app.installationId));
  const [scheme, value = ""] = (await access?.authorization())?.split(" ") ?? [];
  expect(scheme).toBe("Basic");
  expect(Buffer.from(value, "base64").toString()).toMatch(/^x-access-token:.+/);
  expect(github.calls("POST", TOKENS).at(-1)?.body).toEqual({
    repositories: [github.repo.name],
    permissions: { contents: "read" },
  });
});

test("a repository is opened for writing on request", async () => {
  const access = await adapterOn(github).openRepository(url);

  await access?.authorization("write");

  expect(github.calls("POST", TOKENS).at(-1)?.body).toMatchObject({ permissions: { contents: "write" } });
});

test("commits are by the App's account, whose address has its numeric id, which is asked for once", async () => {
  const adapted = adapterOn(github);
  const { botLogin, botUserId } = github.app;
  const before = github.calls("GET", /^\/users\//).length;

  const first = await (await adapted.openRepository(url))?.committer?.();
  const second = await (await adapted.openRepository(url))?.committer?.();

  const host = new URL(github.apiUrl).hostname;
  expect(first).toEqual({ name: botLogin, email: `${botUserId}+${botLogin}@users.noreply.${host}` });
  expect(second).toEqual(first);
  expect(github.calls("GET", /^\/users\//)).toHaveLength(before + 1);
});

test("the key of a push an hour after the clone is a new one, and GitHub takes it", async () => {
  const own = await startEmulatedGithub({ private: true });
  let now = Date.now();
  const access = await adapterOn(own, { now: () => now }).openRepository(
    `${new URL(own.apiUrl).origin}/${own.repo.fullName}.git`,
  );
  const statusWith = async (key = "") => {
    const token = Buffer.from(key.replace("Basic ", ""), "base64").toString().split(":")[1];
    const headers = { authorization: `token ${token}` };
    return (await fetch(`${own.apiUrl}/repos/${own.repo.fullName}`, { headers })).status;
  };

  const atClone = await access?.authorization("write");
  expect(await statusWith(atClone)).toBe(200);
  own.revokeTokens();
  now += 3_600_000;
  const atPush = await access?.authorization("write");

  expect(await statusWith(atClone)).toBe(401);
  expect(await statusWith(atPush)).toBe(200);
  await own.stop();
});

test("a repository that the App is not installed in is not opened", async () => {
  expect(await adapterOn(github).openRepository(addressOf("nobody/nothing"))).toBeUndefined();
});

test.each([
  ["another host", () => `https://elsewhere.example/${github.repo.fullName}.git`],
  ["another port", () => `http://127.0.0.1:1/${github.repo.fullName}.git`],
  ["a deeper path", () => addressOf(`${github.repo.fullName}/more`)],
])("an address of %s is not GitHub's, and GitHub is not asked", async (_what, address) => {
  const before = github.calls().length;

  expect(await adapterOn(github).openRepository(address())).toBeUndefined();

  expect(github.calls()).toHaveLength(before);
});

test("a repository is found by its former name, and its token is for it whatever its name is", async () => {
  const own = await startEmulatedGithub();
  const { id, name, owner } = own.repo;
  own.renameRepository("gadgets");
  const adapted = adapterOn(own);

  const access = await adapted.openRepository(`${new URL(own.apiUrl).origin}/${owner}/${name}.git`);
  const key = await access?.authorization("write");
  const pullRequests = await adapted.openPullRequests({ owner, name });
  const draft = { branch: "errand/1", title: "Fix it", body: "Made by a run.", isDraft: true };
  const opened = await pullRequests?.open(draft);

  expect(key).toMatch(/^Basic /);
  expect(own.calls("POST", TOKENS)[0]?.body).toMatchObject({ repository_ids: [id] });
  expect(opened?.url).toMatch(/\/acme\/gadgets\/pull\/\d+$/);
  expect(opened).toMatchObject((await pullRequests?.find("errand/1")) ?? { url: "" });
  await own.stop();
});

test("a repository that is renamed after an event named it is found under its present name", async () => {
  const own = await startEmulatedGithub();
  const { name, owner } = own.repo;
  const adapted = adapterOn(own, { now: () => 0 });
  const issue = await own.openIssue("wendy", { title: "Slow", body: "@errand go" });
  await inboundMessageOf(adapted, issue);
  own.renameRepository("gadgets");

  const url = `${new URL(own.apiUrl).origin}/${owner}/${name}.git`;
  const key = await (await adapted.openRepository(url))?.authorization("write");
  const pullRequests = await adapted.openPullRequests({ owner, name });
  const draft = { branch: "errand/1", title: "Fix it", body: "Made by a run.", isDraft: true };
  const opened = await pullRequests?.open(draft);

  expect(opened?.url).toMatch(/\/acme\/gadgets\/pull\/\d+$/);
  expect(key).toMatch(/^Basic /);
  await own.stop();
});

test("the public API belongs to github.com", async () => {
  const urls: string[] = [];
  const answer: typeof fetch = async (input) => {
    urls.push(new Request(input).url);
    return Response.json({ id: 7 });
  };
  const adapted = adapterOn(
    { ...github, app: github.app, apiUrl: "https://api.github.com" } as EmulatedGithub,
    {
      fetch: answer,
    },
  );

  expect((await adapted.openRepository("https://github.com/acme/tools.git"))?.installation).toBe("7");
  expect(await adapted.openRepository("https://api.github.com/acme/tools.git")).toBeUndefined();

  expect(urls).toEqual(["https://api.github.com/repos/acme/tools/installation"]);
});

test("a token that GitHub refuses leaves the repository to be read without one, and the log says why", async () => {
  const logged: unknown[] = [];
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (...line: unknown[]) => void logged.push(line),
  };
  const adapted = adapterOn(github, {
    log,
    fetch: refusing(TOKENS, 422, "not granted to this installation"),
  });

  const access = await adapted.openRepository(url);

  expect(await access?.authorization()).toBeUndefined();
  expect(JSON.stringify(logged)).toContain("not granted to this installation");
});

test.each([
  ["is away", 502],
  ["does not know our key for now", 401],
])("while GitHub %s, the repository is there later", async (_what, status) => {
  const adapted = adapterOn(github, { fetch: refusing(/\/installation$/, status, "not now") });

  await expect(adapted.openRepository(url)).rejects.toMatchObject({ code: "resource_unavailable" });
});
