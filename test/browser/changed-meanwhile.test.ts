import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

interface Edited {
  readonly what: string;
  /** Of the API and of the page. */
  readonly collection: string;
  readonly page: string;
  readonly body: (name: string) => object;
}

const RULE = { effect: "allow", enabled: false };
const TIME = { cron_schedule: "0 3 * * *", prompt: "say good night", enabled: false };
const EDITED: readonly Edited[] = [
  {
    what: "environment",
    collection: "environments",
    page: "/environments",
    body: (name) => ({ config: { name, github_repos: [] } }),
  },
  {
    what: "schedule",
    collection: "schedules",
    page: "/schedules",
    body: (name) => ({ ...TIME, name }),
  },
  {
    what: "policy",
    collection: "policies",
    page: "/rules/policies",
    body: (name) => ({ ...RULE, name }),
  },
  {
    what: "routing rule",
    collection: "routing-rules",
    page: "/rules/routing",
    body: (name) => ({ name, enabled: false, config: { base_prompt: "Be brief." } }),
  },
];

describe.skipIf(skipped !== undefined)("two administrators edit the same thing", () => {
  let harness: BrowserHarness;
  let ann: BrowserContext;
  let ben: BrowserContext;
  beforeAll(async () => {
    harness = await startBrowserHarness();
    const key = harness.service.apiKey;
    [ann, ben] = [await harness.open({ key }), await harness.open({ key })];
  });
  afterAll(() => harness.close());

  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
      method,
      headers: { authorization: `Bearer ${harness.service.apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, string> & { config?: { name?: string } };
  }

  /** Both have the form open, and the second saves first. */
  async function bothEdit({ body, collection, page, what }: Edited): Promise<{ page: Page; id: string }> {
    const created = await ask("POST", collection, body(`${what} of the test ${Math.random()}`));
    const id = String(created.id ?? created.uid);
    const [first, second] = [await ann.newPage(), await ben.newPage()];
    for (const [tab, name] of [
      [first, `Ann's ${what}`],
      [second, `Ben's ${what}`],
    ] as const) {
      await tab.goto(`${harness.service.url}${page}/${id}`);
      await tab.getByLabel("Name", { exact: true }).fill(name);
    }
    await second.getByRole("button", { name: `Save ${what}` }).click();
    await second.getByText(`The ${what} is saved.`).waitFor();
    await second.close();
    return { page: first, id };
  }

  const nameOf = async ({ collection }: Edited, id: string) => {
    const { config, name } = await ask("GET", `${collection}/${id}`);
    return name ?? config?.name;
  };

  test.each(EDITED)(
    "the second save of a $what shows what changed, and a third replaces it",
    async (edited) => {
      const { page, id } = await bothEdit(edited);
      await page.getByRole("button", { name: `Save ${edited.what}` }).click();
      const note = page.getByRole("alert").filter({ hasText: "This was changed while you had it open." });
      await note.getByText(`Ben's ${edited.what}`).waitFor();
      const [kept, typed] = [
        await nameOf(edited, id),
        await page.getByLabel("Name", { exact: true }).inputValue(),
      ];
      const findings = await axeFindings(page);
      await page.getByRole("button", { name: `Save ${edited.what}` }).click();
      await page.getByText(`The ${edited.what} is saved.`).waitFor();
      await page.close();

      expect([kept, typed, findings]).toEqual([`Ben's ${edited.what}`, `Ann's ${edited.what}`, []]);
      expect(await nameOf(edited, id)).toBe(`Ann's ${edited.what}`);
    },
  );

  test("the version of the other administrator can be taken into the form", async () => {
    const [edited] = EDITED;
    if (edited === undefined) {
      throw new Error("There is no page.");
    }
    const { page, id } = await bothEdit(edited);
    await page.getByRole("button", { name: "Save environment" }).click();
    await page.getByRole("button", { name: "Show the new version" }).click();
    const shown = await page.getByLabel("Name", { exact: true }).inputValue();
    await page.getByLabel("Description", { exact: true }).fill("Of both");
    await page.getByRole("button", { name: "Save environment" }).click();
    await page.getByText("The environment is saved.").waitFor();
    await page.close();

    expect(shown).toBe("Ben's environment");
    expect((await ask("GET", `environments/${id}`)).config).toMatchObject({
      name: "Ben's environment",
      description: "Of both",
    });
  });

  test("a deletion of what another administrator has changed is refused first", async () => {
    const { page, id } = await bothEdit({ ...EDITED[2], body: (name) => ({ ...RULE, name }) } as Edited);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete policy" }).click();
    await page
      .getByRole("alertdialog")
      .getByText(/changed meanwhile/)
      .waitFor();
    const kept = await ask("GET", `policies/${id}`);
    await page.getByRole("button", { name: "Delete policy" }).click();
    await page.getByText("The policy is deleted.").waitFor();
    await page.close();

    expect(kept.name).toBe("Ben's policy");
    expect((await ask("GET", `policies/${id}`)).code).toBe("resource_not_found");
  });

  test("a message that waits is not overwritten in silence", async () => {
    const { run_id: run } = await ask("POST", "runs", { prompt: "sleep 600" });
    // A message that comes earlier is given with the first turn.
    await waitFor(async () => (await ask("GET", `runs/${run}`)).state === "INPROGRESS", { what: "the turn" });
    const page = await ann.newPage();
    await page.goto(`${harness.service.url}/runs/${run}`);
    await ask("POST", `runs/${run}/followups`, { message: "say one" });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Text of the follow-up").fill("say Ann");
    const { followups } = (await ask("GET", `runs/${run}/followups`)) as unknown as {
      followups: readonly { followup_id: string }[];
    };
    const address = `runs/${run}/followups/${followups[0]?.followup_id}`;
    await ask("PATCH", address, { message: "say Ben" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("say Ben").waitFor();
    const kept = await ask("GET", address);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByLabel("Text of the follow-up").waitFor({ state: "detached" });
    await page.close();
    const replaced = await ask("GET", address);
    await ask("POST", `runs/${run}/cancel`);

    expect([kept.message, replaced.message]).toEqual(["say Ben", "say Ann"]);
  });
});
