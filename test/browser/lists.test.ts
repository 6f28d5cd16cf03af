import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { GitHttpServer } from "../support/git-http-server.ts";
import { GitRepositories } from "../support/git-repositories.ts";

const skipped = await reasonToSkipChromium();

const SKILL = "---\nname: deploy\ndescription: Deploys the web\n---\n\nRun make deploy.\n";

describe.skipIf(skipped !== undefined)("the lists of what a team has, in a browser", () => {
  let repositories: GitRepositories;
  let gitServer: GitHttpServer;
  let harness: BrowserHarness;
  const contexts = new Map<string, BrowserContext>();

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/web", { ".claude/skills/deploy/SKILL.md": SKILL });
    gitServer = await GitHttpServer.start(repositories.root);
    harness = await startBrowserHarness({ ERRAND_GIT_URL: gitServer.url });
    const repo = { owner: "acme", repo: "web" };
    const { uid } = await send("POST", "environments", { config: { name: "Web", github_repos: [repo] } });
    await send("POST", "schedules", {
      name: "Nightly",
      cron_schedule: "0 3 * * *",
      prompt: "say good night",
    });
    await send("PUT", "secrets/NPM_TOKEN", { value: "a value that no page shows" });
    await send("POST", "mcp-servers", { name: "tickets", config: { url: "https://mcp.example.com/" } });
    await send("POST", "identities", { name: "Reviewer", description: "Reviews pull requests" });
    const match = { actions: ["create"], environments: [uid] };
    await send("POST", "policies", { name: "Ask first", effect: "require_approval", match });
    await send("POST", "routing-rules", { name: "To the web", environment_id: uid });
    const key = harness.service.apiKey;
    contexts.set("desk", await harness.open({ key }));
    contexts.set("phone", await harness.open({ key, viewport: { width: 390, height: 844 }, hasTouch: true }));
  });
  afterAll(async () => {
    await harness.close();
    await gitServer.stop();
    await repositories.remove();
  });

  async function send(method: string, path: string, body: object): Promise<{ readonly uid?: string }> {
    const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
      method,
      headers: { authorization: `Bearer ${harness.service.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${await response.text()}`);
    }
    return (await response.json()) as { readonly uid?: string };
  }

  const LISTS: readonly (readonly [path: string, heading: string, ...texts: string[]])[] = [
    ["/environments", "Environments", "Web", "acme/web"],
    ["/schedules", "Schedules", "Nightly", "0 3 * * *", "Active"],
    ["/skills", "Skills", "deploy", "Deploys the web", "acme/web"],
    ["/secrets", "Secrets", "NPM_TOKEN", "all runs of the team"],
    ["/mcp-servers", "MCP servers", "tickets", "https://mcp.example.com/"],
    ["/agents", "Agents", "Reviewer", "Reviews pull requests"],
    ["/rules", "Rules", "Ask first", "actions: create; environments: Web", "To the web"],
    ["/people", "People", "Administrator"],
    ["/usage", "Usage", "There was no run in the last 30 days."],
    ["/audit", "Audit", "policy.created", "environment Web"],
  ];

  describe.each(["desk", "phone"])("on a %s", (look) => {
    test.each(LISTS)(
      "%s shows what there is, and axe finds nothing serious",
      async (path, heading, ...texts) => {
        const page = await contexts.get(look)?.newPage();
        if (page === undefined) {
          throw new Error("No browser is open.");
        }
        await page.goto(harness.service.url + path);
        await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor();
        for (const text of texts) {
          await page.getByRole("main").getByText(text).first().waitFor();
        }

        const findings = await axeFindings(page);
        const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        await page.close();

        expect([findings, isWide]).toEqual([[], false]);
      },
    );
  });

  test("no page met an error of a script or a refusal of the content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
