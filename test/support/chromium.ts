import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import axe from "axe-core";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type Service, startService } from "./service.ts";
import { createTestDatabase } from "./test-database.ts";

/** Debian's Chromium, unless the variable names another one. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Without these, Chromium tries to reach hosts on the internet. */
export const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Why the tests with a browser are skipped on this machine, or undefined. In CI nothing is skipped. */
export async function reasonToSkipChromium(): Promise<string | undefined> {
  try {
    await access(CHROMIUM);
    return undefined;
  } catch {
    if (process.env.CI === "true") {
      throw new Error(`Chromium must be at ${CHROMIUM} where CI=true.`);
    }
    return `there is no ${CHROMIUM}`;
  }
}

/** The service with its pages, and a browser that looks at them. */
export interface BrowserHarness {
  readonly service: Service;
  /** Starts the service again, on the same data and port. */
  restart(): Promise<void>;
  /** A browser of its own: without cookies, unless `key` signs it in. */
  open(options?: BrowserContextOptions & { readonly key?: string }): Promise<BrowserContext>;
  /** Asks the API with the key of the administrator: a POST with a body, otherwise a GET. */
  api(path: string, body?: object): Promise<Record<string, unknown>>;
  /** What pages have complained about: errors of scripts, and refusals of the content policy. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** Settings for an agent of test/fixtures/agents. */
export function fixtureAgent(name: string): Readonly<Record<string, string>> {
  const file = resolve(import.meta.dirname, "../fixtures/agents", name);
  return {
    ERRAND_AGENT: "custom",
    ERRAND_AGENT_COMMAND: JSON.stringify([process.execPath, file]),
    ERRAND_AGENT_READABLE: `${dirname(file)}:${dirname(process.execPath)}`,
  };
}

export async function startBrowserHarness(
  env: Readonly<Record<string, string>> = {},
): Promise<BrowserHarness> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "errand-pages-"));
  const start = (port = "0") =>
    startService(dataDir, {
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
      ERRAND_RATE_LIMIT: "0",
      ERRAND_PORT: port,
      ...env,
    });
  let service = await start();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  const complaints: string[] = [];
  return {
    get service() {
      return service;
    },
    complaints,
    async api(path, body) {
      const response = await fetch(`${service.url}/api/v1/agent${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${service.apiKey}`,
          "content-type": "application/json",
          accept: "application/json",
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async restart() {
      await service.end("SIGTERM");
      service = await start(new URL(service.url).port);
    },
    async open({ key, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
      context.setDefaultTimeout(30_000);
      context.on("weberror", (error) => complaints.push(error.error().message));
      context.on("console", (message) => {
        if (/Content.Security.Policy/i.test(message.text())) {
          complaints.push(message.text());
        }
      });
      if (key !== undefined) {
        const page = await context.newPage();
        await page.goto(`${service.url}/signin`);
        await page.fill("#key", key);
        await page.click("button[type=submit]");
        await page.waitForURL(`${service.url}/`);
        await page.close();
      }
      return context;
    },
    async close() {
      await browser.close();
      await service.end("SIGTERM");
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns what axe finds that is serious or worse, as short texts. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // The content policy forbids scripts that are added to a page; `evaluate` is not subject to it.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(" | ")}`);
  });
}
