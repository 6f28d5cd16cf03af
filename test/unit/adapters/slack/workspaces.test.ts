import { describe, expect, test } from "vitest";
import type { ClientDeps } from "../../../../src/adapters/slack/client.ts";
import { type WorkspaceAddress, Workspaces } from "../../../../src/adapters/slack/workspaces.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const API = "http://127.0.0.1:9/api/";
/** Who Slack says that each token is. */
const OWNERS: Readonly<Record<string, object>> = {
  "xoxb-1": { team_id: "T1", user_id: "UBOT1", user: "errand" },
  "xoxb-2": { team_id: "T2", user_id: "UBOT2", user: "helper" },
  "xoxb-org": { team_id: "E1", user_id: "UBOTE", user: "errand" },
};

interface Scene {
  readonly clock: ManualClock;
  readonly tokens: Map<string, string>;
  readonly asked: WorkspaceAddress[];
  readonly calls: string[];
  readonly limited: Set<string>;
  readonly workspaces: Workspaces;
}

function scene(botToken?: string): Scene {
  const [clock, tokens, asked] = [new ManualClock(), new Map<string, string>(), [] as WorkspaceAddress[]];
  const [calls, limited] = [[] as string[], new Set<string>()];
  const fetch: ClientDeps["fetch"] = async (input, init) => {
    const token =
      new Request(String(input), { headers: init?.headers ?? {} }).headers
        .get("authorization")
        ?.slice("Bearer ".length) ?? "";
    calls.push(`${token} ${String(input).slice(API.length)}`);
    if (limited.has(token)) {
      return new Response(null, { status: 429, headers: { "retry-after": "30" } });
    }
    return Response.json({ ok: true, url: "https://acme.slack.com/", ...OWNERS[token] });
  };
  const workspaces = new Workspaces(
    { apiUrl: API, ...(botToken === undefined ? {} : { botToken }) },
    {
      clock,
      fetch,
      tokens: {
        tokenOf: async (address) => {
          asked.push(address);
          return tokens.get(address.teamId) ?? tokens.get(address.enterpriseId ?? "");
        },
        isAny: async () => tokens.size > 0,
        remove: async (id) => void tokens.delete(id),
      },
    },
  );
  return { clock, tokens, asked, calls, limited, workspaces };
}

const notInstalled = { code: "integration_not_configured", retryable: false };

describe("the workspaces of the app", () => {
  test("SLACK_BOT_TOKEN is the installation of its own workspace, and of no other", async () => {
    const { workspaces } = scene("xoxb-1");

    expect((await workspaces.of({ teamId: "T1" })).botToken).toBe("xoxb-1");
    await expect(workspaces.of({ teamId: "T2" })).rejects.toMatchObject(notInstalled);
  });

  test("each workspace is called with its own token, and has its own bot", async () => {
    const { tokens, workspaces } = scene("xoxb-1");
    tokens.set("T2", "xoxb-2");

    const [first, second] = [await workspaces.of({ teamId: "T1" }), await workspaces.of({ teamId: "T2" })];

    expect([first.botToken, second.botToken]).toEqual(["xoxb-1", "xoxb-2"]);
    expect(await first.bot()).toMatchObject({ teamId: "T1", userId: "UBOT1" });
    expect(await second.bot()).toMatchObject({ teamId: "T2", userId: "UBOT2" });
  });

  test("a workspace of an organization has the token of that, and its own id", async () => {
    const { tokens, workspaces } = scene();
    tokens.set("E1", "xoxb-org");

    const found = await workspaces.of({ teamId: "T7", enterpriseId: "E1" });

    expect(found.botToken).toBe("xoxb-org");
    expect(await found.bot()).toMatchObject({ teamId: "T7", userId: "UBOTE" });
    await expect(workspaces.of({ teamId: "T8", enterpriseId: "E2" })).rejects.toMatchObject(notInstalled);
  });

  test("a token of SLACK_BOT_TOKEN that Slack refuses does not stop an installed workspace", async () => {
    const { limited, tokens, workspaces } = scene("xoxb-1");
    tokens.set("T2", "xoxb-2");
    limited.add("xoxb-1");

    expect((await workspaces.of({ teamId: "T2" })).botToken).toBe("xoxb-2");
    await expect(workspaces.of({ teamId: "T1" })).rejects.toMatchObject({ retryable: true });
  });

  test("a pause that Slack asks of one workspace does not stop another", async () => {
    const { calls, limited, tokens, workspaces } = scene();
    tokens.set("T1", "xoxb-1").set("T2", "xoxb-2");
    limited.add("xoxb-1");
    const [first, second] = [await workspaces.of({ teamId: "T1" }), await workspaces.of({ teamId: "T2" })];

    await expect(first.client.users.info({ user: "U1" })).rejects.toThrow();
    await expect(first.client.users.info({ user: "U1" })).rejects.toThrow();
    await second.client.users.info({ user: "U1" });

    expect(calls).toEqual(["xoxb-1 users.info", "xoxb-2 users.info"]);
  });

  test("workspaces of one organization have pauses of their own", async () => {
    const { limited, tokens, workspaces } = scene();
    tokens.set("E1", "xoxb-org");
    const addresses = [
      { teamId: "T7", enterpriseId: "E1" },
      { teamId: "T8", enterpriseId: "E1" },
    ] as const;
    limited.add("xoxb-org");
    await expect((await workspaces.of(addresses[0])).client.users.info({ user: "U1" })).rejects.toThrow();
    limited.clear();

    await expect((await workspaces.of(addresses[0])).client.users.info({ user: "U1" })).rejects.toThrow();
    expect(await (await workspaces.of(addresses[1])).client.users.info({ user: "U1" })).toMatchObject({
      ok: true,
    });
  });

  test("a token is looked up once a minute, and keeps its client as long as it is the same", async () => {
    const { asked, clock, tokens, workspaces } = scene();
    tokens.set("T2", "xoxb-2");
    const first = await workspaces.of({ teamId: "T2" });
    await workspaces.of({ teamId: "T2" });
    expect(asked).toHaveLength(1);

    await clock.advance(61_000);
    expect(await workspaces.of({ teamId: "T2" })).toBe(first);
    tokens.set("T2", "xoxb-1");
    await clock.advance(61_000);
    expect((await workspaces.of({ teamId: "T2" })).botToken).toBe("xoxb-1");
    await workspaces.remove("T2", "T2");
    await expect(workspaces.of({ teamId: "T2" })).rejects.toMatchObject(notInstalled);
  });

  test("sign-in names the workspace only while there is one", async () => {
    const { tokens, workspaces } = scene("xoxb-1");
    expect((await workspaces.only())?.botToken).toBe("xoxb-1");

    tokens.set("T2", "xoxb-2");

    expect(await workspaces.only()).toBeUndefined();
  });
});
