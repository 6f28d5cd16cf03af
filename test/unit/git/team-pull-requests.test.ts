import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId, ThreadKey } from "../../../src/core/basics/ids.ts";
import type { Installation } from "../../../src/core/model/people/installation.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { OpenPullRequests, PullRequest } from "../../../src/core/ports/pull-requests.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { createTeamPullRequests } from "../../../src/git/team-pull-requests.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../support/memory/storage/in-memory-storage.ts";

const OTHER_TEAM = "00000000-0000-7000-8000-000000000002" as TeamId;
const REPOSITORY = { owner: "acme", name: "widgets" };
const REQUEST = { branch: "errand/1", title: "Fix", body: "", isDraft: true };
const PULL: PullRequest = {
  url: "https://forge.example/acme/widgets/pull/1",
  branch: "errand/1",
  thread: { adapter: "forge", installation: "7", key: "1" as ThreadKey },
};

describe("the pull requests of a team", () => {
  let installations: Storage["installations"];
  let installation: Installation;
  let hasToken: boolean;
  beforeEach(async () => {
    hasToken = false;
    const deps = { clock: new ManualClock(), pubsub: new InMemoryPubSub(), sendJobs: () => undefined };
    ({ installations } = createInMemoryStorage(deps));
    installation = await installations.ensure("forge", "7");
  });

  const openPullRequests: OpenPullRequests = async ({ name }) =>
    name === "widgets"
      ? {
          installation: "7",
          open: async () => PULL,
          find: async (branch) => (branch === "b" ? PULL : undefined),
          update: async ({ branch }) => (branch === "b" ? PULL : undefined),
          takesSuggestions: async ({ branch }) => branch === "b",
          settings: async () => undefined,
          makeCommit: async ({ id }) => `made-${id}`,
          read: async (number) => ({ url: `${PULL.url}#${number}`, state: "open", checks: [] }),
        }
      : undefined;
  const createPullRequests = () =>
    createTeamPullRequests({
      openers: new Map<string, OpenPullRequests>([
        ["other", async () => undefined],
        ["forge", openPullRequests],
      ]),
      installations,
      findToken: async ({ teamId }) => (hasToken && teamId === FIRST_TEAM ? "t0ken" : undefined),
      openWithToken: async ({ name }, token) => ({
        open: async () => ({ url: `https://forge.example/${name}/${token}`, branch: "errand/1" }),
        find: async () => undefined,
        update: async () => undefined,
        takesSuggestions: async () => false,
        settings: async () => undefined,
        makeCommit: async ({ id }) => `made-${id}`,
        read: async (number) => ({ url: `${token} ${number}`, state: "merged", checks: [] }),
      }),
    });

  test("pull requests are opened and found for the installation's own team", async () => {
    const pulls = createPullRequests();

    expect(await pulls.open({ ...REQUEST, teamId: FIRST_TEAM, repository: REPOSITORY })).toBe(PULL);
    expect(await pulls.find({ teamId: FIRST_TEAM }, REPOSITORY, "b")).toBe(PULL);
    expect(await pulls.find({ teamId: FIRST_TEAM }, REPOSITORY, "c")).toBeUndefined();
    const draft = { ...REQUEST, teamId: FIRST_TEAM, repository: REPOSITORY };
    expect(await pulls.update({ ...draft, branch: "b" })).toBe(PULL);
    expect(await pulls.update({ ...draft, teamId: OTHER_TEAM, branch: "b" })).toBeUndefined();
  });

  test("a pull request is opened with the team's token only where no installation of the team may", async () => {
    const pulls = createPullRequests();
    const gadgets = { owner: "acme", name: "gadgets" };
    expect(await pulls.isAllowed({ ...gadgets, teamId: FIRST_TEAM })).toBe(false);

    hasToken = true;

    expect(await pulls.isAllowed({ ...gadgets, teamId: FIRST_TEAM })).toBe(true);
    expect(await pulls.isAllowed({ ...gadgets, teamId: OTHER_TEAM })).toBe(false);
    expect(await pulls.open({ ...REQUEST, teamId: FIRST_TEAM, repository: gadgets })).toMatchObject({
      url: "https://forge.example/gadgets/t0ken",
    });
    expect(await pulls.open({ ...REQUEST, teamId: FIRST_TEAM, repository: REPOSITORY })).toBe(PULL);
  });

  test("the status of a pull request is read by its address, with the credentials of the run's team", async () => {
    const read = async (url: string, teamId = FIRST_TEAM) =>
      (await createPullRequests().read({ teamId }, url))?.url;
    hasToken = true;

    expect(await read(PULL.url)).toBe(`${PULL.url}#1`);
    expect(await read("https://forge.example/acme/gadgets/pull/7")).toBe("t0ken 7");
    expect(await read(PULL.url, OTHER_TEAM)).toBeUndefined();
    expect(await read("https://forge.example/acme/widgets/issues/1")).toBeUndefined();
  });

  test("the pull requests of a team are hidden from other teams", async () => {
    const pulls = createPullRequests();

    expect(await pulls.open({ ...REQUEST, teamId: OTHER_TEAM, repository: REPOSITORY })).toBeUndefined();
    expect(await pulls.find({ teamId: OTHER_TEAM }, REPOSITORY, "b")).toBeUndefined();
    expect(await pulls.find({ teamId: FIRST_TEAM }, { owner: "acme", name: "gadgets" }, "b")).toBeUndefined();
  });

  test("pull requests of a disabled installation are not found", async () => {
    await installations.update({ ...installation, enabled: false });

    expect(await createPullRequests().find({ teamId: FIRST_TEAM }, REPOSITORY, "b")).toBeUndefined();
  });
});
