import type { BrowserContext, Page } from "playwright-core";
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

  async function send(
    method: string,
    path: string,
    body: object,
  ): Promise<{ readonly uid?: string; readonly key?: string }> {
    const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
      method,
      headers: { authorization: `Bearer ${harness.service.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${await response.text()}`);
    }
    return (await response.json()) as { readonly uid?: string; readonly key?: string };
  }

  const LISTS: readonly (readonly [path: string, heading: string, ...texts: string[]])[] = [
    ["/environments", "Environments", "Web", "acme/web"],
    ["/environments/new", "New environment", "For the team"],
    ["/schedules", "Schedules", "Nightly", "0 3 * * *", "Active"],
    ["/schedules/new", "New schedule", "When, in UTC", "For the team"],
    ["/skills", "Skills", "deploy", "Deploys the web", "acme/web"],
    ["/secrets", "Secrets", "NPM_TOKEN", "all runs of the team"],
    ["/mcp-servers", "MCP servers", "tickets", "https://mcp.example.com/"],
    ["/agents", "Agents", "Reviewer", "Reviews pull requests"],
    ["/rules", "Rules", "Ask first", "Action: Start a run; Environment: Web", "To the web"],
    ["/rules/policies/new", "New policy", "Everything.", "Callers who are refused"],
    [
      "/rules/routing/new",
      "New routing rule",
      "All messages from Slack and GitHub.",
      "The agent gets them before the prompt.",
    ],
    ["/people", "People", "Administrator"],
    ["/usage", "Usage", "There was no run in the last 30 days."],
    ["/audit", "Audit", "policy.created", "environment Web"],
  ];

  describe.each(["desk", "phone"])("on a %s", (look) => {
    test.each(LISTS)(
      "%s shows what there is, and axe finds nothing serious",
      async (path, heading, ...texts) => {
        const page = await visit(path, contexts.get(look));
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

  async function visit(path: string, context = contexts.get("desk")): Promise<Page> {
    const page = await context?.newPage();
    if (page === undefined) {
      throw new Error("No browser is open.");
    }
    await page.goto(harness.service.url + path);
    return page;
  }

  async function list(path: string): Promise<readonly Record<string, unknown>[]> {
    const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
      headers: { authorization: `Bearer ${harness.service.apiKey}` },
    });
    const [items = []] = Object.values((await response.json()) as Record<string, Record<string, unknown>[]>);
    return items;
  }

  test("an administrator creates a policy, and what is wrong stands at its field", async () => {
    const page = await visit("/rules");
    await page.getByRole("link", { name: "New policy" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Ask first");
    await page.getByLabel("Effect").selectOption("Deny");
    for (const condition of ["Action", "Channel or repository of the request"]) {
      await page.getByRole("button", { name: "Add a condition" }).click();
      await page.getByRole("menuitem", { name: condition, exact: true }).click();
    }
    await page.getByRole("group", { name: "Action" }).getByLabel("Start a run").check();
    await page.getByRole("button", { name: "Save policy" }).click();
    const places = page.getByRole("group", { name: "Channel or repository of the request" });
    await places.getByText("Name at least one value, or remove the condition.").waitFor();
    const findings = await axeFindings(page);
    await page.keyboard.type("acme/*");
    await page.getByRole("button", { name: "Save policy" }).click();
    await page.getByText("Another policy has this name.").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.type(" of acme");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Ask first of acme" }).waitFor();
    await page.close();

    expect(findings).toEqual([]);
    expect(await list("policies")).toContainEqual(
      expect.objectContaining({
        name: "Ask first of acme",
        effect: "deny",
        enabled: true,
        priority: 100,
        match: { actions: ["create"], places: ["acme/*"] },
      }),
    );
  });

  test("a policy is changed and keeps the rest, and is deleted after a question", async () => {
    const match = { models: ["large"], relation: "others", roles: ["guest", "bot"] };
    await send("POST", "policies", { name: "Guests", effect: "allow", match, priority: 7 });
    const page = await visit("/rules");
    await page.getByRole("link", { name: "Guests" }).click();
    await page.getByRole("group", { name: "Role of the caller" }).getByLabel(/^Bot/).uncheck();
    await page.getByRole("button", { name: "Remove the condition “Model”" }).click();
    await page.getByLabel("Active").uncheck();
    await page.getByRole("button", { name: "Save policy" }).click();
    await page.getByRole("heading", { name: "Rules", level: 1 }).waitFor();
    const changed = (await list("policies")).find(({ name }) => name === "Guests");

    await page.getByRole("link", { name: "Guests" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete “Guests”?" });
    const findings = await axeFindings(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    const beforeConsent = (await list("policies")).some(({ name }) => name === "Guests");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByRole("button", { name: "Delete policy" }).click();
    await page.getByText("The policy is deleted.").waitFor();
    await page.close();

    expect(changed).toMatchObject({ effect: "allow", enabled: false, priority: 7 });
    expect(changed?.match).toEqual({ relation: "others", roles: ["guest"] });
    expect([findings, beforeConsent]).toEqual([[], true]);
    expect((await list("policies")).map(({ name }) => name)).not.toContain("Guests");
  });

  test("a routing rule is created and changed", async () => {
    const page = await visit("/rules");
    await page.getByRole("link", { name: "New routing rule" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Carts");
    await page.getByLabel("Environment", { exact: true }).selectOption("Web");
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByRole("menuitem", { name: "Words of the request" }).click();
    await page.getByRole("textbox", { name: /^Words of the request/ }).fill("cart\ncheckout");
    await page.getByLabel("Instructions").fill("Be brief.");
    await page.getByRole("button", { name: "Save routing rule" }).click();
    await page.getByRole("link", { name: "Carts" }).click();
    await page.getByLabel("Priority").fill("5");
    await page.getByRole("button", { name: "Save routing rule" }).click();
    await page.getByRole("heading", { name: "Rules", level: 1 }).waitFor();
    await page.close();

    const [first] = await list("routing-rules");
    expect(first).toMatchObject({
      name: "Carts",
      priority: 5,
      match: { text: ["cart", "checkout"] },
      config: { base_prompt: "Be brief." },
      environment_id: expect.any(String),
    });
  });

  test("an environment is created, changed and deleted", async () => {
    const page = await visit("/environments");
    await page.getByRole("link", { name: "New environment" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Shop");
    await page.getByRole("textbox", { name: "Repositories" }).fill("acme/web\nweb");
    await page.getByLabel("Setup commands").fill("npm ci");
    await page.getByRole("button", { name: "Save environment" }).click();
    await page.getByText("“web” is not an owner and a name, like acme/web.").waitFor();
    await page.getByRole("textbox", { name: "Repositories" }).fill("acme/web");
    await page.getByRole("button", { name: "Save environment" }).click();
    await page.getByRole("link", { name: "Shop" }).click();
    await page.getByLabel("Agents may reach public addresses").check();
    await page.getByLabel("Folders").fill("shop\nlibs/core\n");
    await page.getByRole("button", { name: "Save environment" }).click();
    await page.getByRole("heading", { name: "Environments", level: 1 }).waitFor();
    const shop = (await list("environments")).find(({ config }) => Object(config).name === "Shop");
    await page.getByRole("link", { name: "Shop" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete environment" }).click();
    await page.getByText("The environment is deleted.").waitFor();
    await page.close();

    expect(shop?.config).toEqual({
      name: "Shop",
      github_repos: [{ owner: "acme", repo: "web" }],
      sparse: ["shop", "libs/core"],
      setup_commands: ["npm ci"],
      network: "internet",
    });
    expect((await list("environments")).map(({ config }) => Object(config).name)).toEqual(["Web"]);
  });

  test("a schedule is created, and a time that the server refuses stands at its field", async () => {
    const page = await visit("/schedules");
    await page.getByRole("link", { name: "New schedule" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Weekly");
    await page.getByLabel("When, in UTC").fill("every week");
    await page.getByLabel("What should be done?").fill("say good week");
    await page.getByLabel("Environment", { exact: true }).selectOption("Web");
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByText(/^Must be five fields of a cron expression/).waitFor();
    await page.getByLabel("When, in UTC").fill("0 4 * * 1");
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByRole("link", { name: "Weekly" }).click();
    await page.getByLabel("Active").uncheck();
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByText("Paused").waitFor();
    await page.close();

    expect(await list("schedules")).toContainEqual(
      expect.objectContaining({
        name: "Weekly",
        cron_schedule: "0 4 * * 1",
        prompt: "say good week",
        enabled: false,
        agent_config: { environment_id: expect.any(String) },
      }),
    );
  });

  test("a key is revoked after a question, which Escape answers with no", async () => {
    await send("POST", "keys", { name: "Old laptop", scopes: ["runs:read"] });
    const page = await visit("/account");
    const revoke = page.getByRole("button", { name: "Revoke Old laptop" });
    const dialog = page.getByRole("alertdialog", { name: "Revoke the key “Old laptop”?" });
    await revoke.click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const kept = (await list("keys")).find(({ name }) => name === "Old laptop");
    await revoke.click();
    await dialog.getByRole("button", { name: "Revoke key" }).click();
    await revoke.waitFor({ state: "detached" });
    await page.close();

    expect(kept).not.toHaveProperty("revoked_at");
    expect((await list("keys")).find(({ name }) => name === "Old laptop")).toHaveProperty("revoked_at");
  });

  test("a member who may only read sees no button that changes something", async () => {
    const { uid } = await send("POST", "principals", { type: "user", display_name: "Mira" });
    const { key = "" } = await send("POST", "keys", {
      name: "Mira",
      scopes: ["runs:read"],
      principal_uid: uid,
    });
    const page = await visit("/rules", await harness.open({ key }));
    await page.getByText("Administrators of the team see and change its rules.").waitFor();
    expect(await page.getByRole("link", { name: /^New (policy|routing)/ }).count()).toBe(0);

    await page.goto(`${harness.service.url}/rules/policies/new`);
    await page.getByText("You may not change this.").waitFor();
    expect(await page.getByRole("button", { name: "Save policy" }).count()).toBe(0);
    await page.goto(`${harness.service.url}/schedules`);
    await page.getByText("Nightly").waitFor();
    expect(
      await page
        .getByRole("main")
        .getByRole("link", { name: /schedule|Nightly/ })
        .count(),
    ).toBe(0);
    await page.context().close();
  });

  test("no page met an error of a script or a refusal of the content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
