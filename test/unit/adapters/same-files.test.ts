import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ADAPTERS = resolve(import.meta.dirname, "../../../src/adapters");

/** The files of each adapter, and the names that each of them exports in all adapters. */
const FILES: Readonly<Record<string, readonly RegExp[]>> = {
  "README.md": [],
  "authorize.ts": [/function authorize\(/],
  "checks.ts": [/function \w+Checks\(/],
  "client.ts": [/(?:function create|class \w*)Client\b/],
  "config.ts": [/function read\w+Config\(/, /interface \w+Config\b/],
  "defuse.ts": [/function defuse\(/, /function defuseLine\(/],
  "deliver.ts": [/function deliver\(/],
  "errors.ts": [/function toAppError\(/],
  "identity.ts": [/class BotIdentity\b/],
  "incoming-message.ts": [/interface IncomingMessage\b/, /function readIncomingMessage\(/],
  "index.ts": [/function create\w+Adapter\(/],
  "mention.ts": [/function hasMention\(/, /function withoutMention\(/],
  "pace.ts": [/const PACE\b/],
  "posts.ts": [/class Posts\b/],
  "provenance.ts": [/function provenanceOf\(/],
  "receipt.ts": [/function receiptOf\(/, /function parseReceipt\(/],
  "render.ts": [/function render\(/],
  "routes.ts": [/function webhookRoutes\(/],
  "sign-in.ts": [/function \w+SignIn\(/],
  "thread-key.ts": [/function threadKeyOf\(/, /function parseThreadKey\(/],
  "translate.ts": [/function translate\(/],
  "webhook-request.ts": [/function readWebhookRequest\(/],
};
/** Files that only one platform has. A new file belongs in the table above, or here with its reason. */
const OWN_FILES: Readonly<Record<string, readonly string[]>> = {
  // The app's manifest, buttons of the card, a menu, slash commands, events that need no storing, two ways to receive,
  // the pauses that Slack asks for, and what stands around a message: files and the thread. GitHub has no buttons and no
  // files, and sends webhooks only.
  slack: [
    "answer-parts.ts",
    "app-manifest.ts",
    "blocks.ts",
    "buttons.ts",
    "irrelevant-events.ts",
    "command.ts",
    "marker.ts",
    "menu.ts",
    "message-files.ts",
    "payload.ts",
    "receiver.ts",
    "render-card.ts",
    "respect-retry-after.ts",
    "socket-connection.ts",
    "socket-mode.ts",
    "thread-context.ts",
    "uploads.ts",
  ],
  // The App's settings, references to several kinds of texts, what stands around them with the logs of jobs, scanning of
  // Markdown, access to repositories, pull requests with their descriptions, and what GitHub reports about them.
  github: [
    "app-settings.ts",
    "commit-checks.ts",
    "gather.ts",
    "installation-events.ts",
    "installation-tokens.ts",
    "job-logs.ts",
    "known-answers.ts",
    "lost-deliveries.ts",
    "markdown-parts.ts",
    "message-ref.ts",
    "plain-text.ts",
    "pull-request-description.ts",
    "pull-request-status.ts",
    "pull-request-template.ts",
    "pull-requests.ts",
    "reports.ts",
    "repositories.ts",
    "shown-text.ts",
  ],
};

async function listAdapters(): Promise<readonly string[]> {
  const entries = await readdir(ADAPTERS, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

describe("all adapters", () => {
  test("all adapters have the same files, and of their own only the listed ones", async () => {
    for (const adapter of await listAdapters()) {
      const expected = [...Object.keys(FILES), ...(OWN_FILES[adapter] ?? [])];

      const files = await readdir(join(ADAPTERS, adapter));

      expect(files.toSorted(), adapter).toEqual(expected.toSorted());
    }
  });

  test("all adapters export the same functions and classes from the same files", async () => {
    const missing: string[] = [];
    for (const adapter of await listAdapters()) {
      for (const [file, declarations] of Object.entries(FILES)) {
        const text = await readFile(join(ADAPTERS, adapter, file), "utf8");
        const isExported = ({ source }: RegExp) => new RegExp(`^export (?:async )?${source}`, "m").test(text);
        const absent = declarations.filter((declaration) => !isExported(declaration));
        missing.push(...absent.map(({ source }) => `${adapter}/${file}: ${source}`));
      }
    }

    expect(missing).toEqual([]);
  });

  test("all adapters translate with a synchronous function", async () => {
    for (const adapter of await listAdapters()) {
      const text = await readFile(join(ADAPTERS, adapter, "translate.ts"), "utf8");

      expect(text, adapter).toMatch(/^export function translate\(/m);
      expect(text, adapter).not.toMatch(/\bawait\b|\bDate\.now\b|\bfetch\b/);
    }
  });
});
