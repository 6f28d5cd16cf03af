import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { Installation } from "../../../src/core/model/people/installation.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { OpenRepository } from "../../../src/core/ports/repository-access.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { createTeamAuthorizer, createTeamCommitter } from "../../../src/git/team-authorizer.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../support/memory/storage/in-memory-storage.ts";

const OTHER_TEAM = "00000000-0000-7000-8000-000000000002" as TeamId;
const BOT = { name: "errand[bot]", email: "7+errand[bot]@users.noreply.example.com" };
const URL_OF_IT = "https://git.example.com/acme/private.git";

describe("authorization for a repository", () => {
  let installations: Storage["installations"];
  let installation: Installation;
  const tokens = new Map<TeamId, string>();
  beforeEach(async () => {
    tokens.clear();
    const deps = { clock: new ManualClock(), pubsub: new InMemoryPubSub(), sendJobs: () => undefined };
    ({ installations } = createInMemoryStorage(deps));
    installation = await installations.ensure("forge", "7");
  });

  const openRepository: OpenRepository = async (url) =>
    url === URL_OF_IT
      ? {
          installation: "7",
          authorization: async (access) => (access === "write" ? "Basic write" : "Basic key"),
          committer: async () => BOT,
        }
      : undefined;
  const authorize = (teamId: TeamId, url = URL_OF_IT, access?: "write") =>
    createTeamAuthorizer({
      openers: new Map([
        ["other", async () => undefined],
        ["forge", openRepository],
      ]),
      installations,
      findToken: async ({ teamId: id }) => tokens.get(id),
    })({ teamId, owner: "acme", name: "private" }, url, access);

  test("the account of an installation makes the commits of the installation's team only", async () => {
    const openers = new Map([["forge", openRepository]]);
    const committerOf = createTeamCommitter({ installations, openers });
    const ask = (teamId: TeamId, url = URL_OF_IT) =>
      committerOf({ teamId, owner: "acme", name: "private" }, url);

    expect(await ask(FIRST_TEAM)).toEqual(BOT);
    expect(await ask(OTHER_TEAM)).toBeUndefined();
    expect(await ask(FIRST_TEAM, "https://elsewhere.example/a/b.git")).toBeUndefined();
  });

  test("the key of an installation is used for the installation's team only", async () => {
    expect(await authorize(FIRST_TEAM)).toBe("Basic key");
    expect(await authorize(OTHER_TEAM)).toBeUndefined();

    await installations.update({ ...installation, teamId: OTHER_TEAM });

    expect(await authorize(FIRST_TEAM)).toBeUndefined();
    expect(await authorize(OTHER_TEAM)).toBe("Basic key");
  });

  test("a request for write access gets a key with write access", async () => {
    expect(await authorize(FIRST_TEAM, URL_OF_IT, "write")).toBe("Basic write");
  });

  test("the key of a disabled installation is not used", async () => {
    await installations.update({ ...installation, enabled: false });

    expect(await authorize(FIRST_TEAM)).toBeUndefined();
  });

  test("the token of a team is used only where no installation of the team may", async () => {
    tokens.set(FIRST_TEAM, "t0ken");
    const basic = `Basic ${Buffer.from("x-access-token:t0ken").toString("base64")}`;

    expect(await authorize(FIRST_TEAM)).toBe("Basic key");
    expect(await authorize(FIRST_TEAM, "https://git.example.com/acme/other.git")).toBe(basic);
    expect(await authorize(OTHER_TEAM)).toBeUndefined();

    await installations.update({ ...installation, enabled: false });

    expect(await authorize(FIRST_TEAM, URL_OF_IT, "write")).toBe(basic);
  });

  test("a repository that no installation opens has no key", async () => {
    expect(await authorize(FIRST_TEAM, "https://git.example.com/acme/other.git")).toBeUndefined();
  });
});
