import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { render } from "../src/adapters/slack/render.ts";
import { newId, type RunId } from "../src/core/basics/ids.ts";
import type { RunCard } from "../src/core/model/threads/notice.ts";

/** Draws the card of a run from its blocks, for the README. It is no screenshot of Slack. */

const PICTURE = fileURLToPath(new URL("../docs/images/slack-card.png", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const CARD: RunCard = {
  runId: newId<RunId>(new Date()),
  title: "Fix the flaky test of the parser",
  state: "INPROGRESS",
  turn: 1,
  sessionLink: "https://errand.example/sessions/1",
  workspace: {
    environment: "backend",
    repositories: ["acme/parser"],
    reason: "the routing rule “#backend”",
  },
  plan: [
    { text: "Reproduce the failure", status: "completed" },
    { text: "Find the race", status: "completed" },
    { text: "Repair it and add a test", status: "in_progress" },
    { text: "Open a pull request", status: "pending" },
  ],
  step: "npm test -- parser",
  elapsedSeconds: 185,
  costUsd: 0.42,
};

type Block = Readonly<Record<string, unknown>>;

const MARKS: Readonly<Record<string, string>> = { complete: "✓", in_progress: "▸", pending: "○", error: "✗" };

function htmlOf(block: Block): string {
  const elements = (block.elements ?? []) as readonly Block[];
  switch (block.type) {
    case "header":
      return `<h1>${textOf(block.text)}</h1>`;
    case "context":
      return `<p class="context">${elements.map(textOf).join(" ")}</p>`;
    case "section":
      return `<p>${textOf(block.text)}</p>`;
    case "plan": {
      const tasks = (block.tasks as readonly Block[]).map(
        ({ status, title }) => `<li class="${status}"><b>${MARKS[String(status)]}</b> ${escaped(title)}</li>`,
      );
      return `<div class="plan"><strong>${escaped(block.title)}</strong><ul>${tasks.join("")}</ul></div>`;
    }
    case "actions":
      return `<p>${elements.map((button) => `<span class="button ${button.style ?? ""}">${textOf(button.text)}</span>`).join(" ")}</p>`;
    default:
      throw new Error(`The picture has no drawing for ${block.type}.`);
  }
}

/** The text of an element, with its links. An emoji is a disc, because not every machine has a font for them. */
function textOf(element: unknown): string {
  const { text } = element as { readonly text: string };
  return escaped(text)
    .replace(/&lt;[^|]+\|([^&]+)&gt;/g, '<span class="link">$1</span>')
    .replace(/\p{Extended_Pictographic}\uFE0F?/gu, '<span class="emoji"></span>');
}

function escaped(text: unknown): string {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const STYLE = `
  body { margin: 0; padding: 16px; width: 620px; font: 15px/1.45 "DejaVu Sans", sans-serif; color: #1d1c1d; background: #fff }
  .card { border-left: 4px solid #ddd; padding: 2px 14px }
  h1 { font-size: 18px; margin: 4px 0 8px } p { margin: 6px 0 }
  .context { color: #616061; font-size: 13px } .link { color: #1264a3 }
  .emoji { display: inline-block; width: 13px; height: 13px; border-radius: 50%; background: #ecb22e; margin-right: 4px }
  .plan { border: 1px solid #ddd; border-radius: 8px; padding: 10px 14px; margin: 8px 0 }
  ul { list-style: none; margin: 6px 0 0; padding: 0 } li { margin: 3px 0 } li b { display: inline-block; width: 1.3em; color: #007a5a }
  .in_progress { font-weight: 600 } .pending { color: #616061 }
  .button { display: inline-block; border: 1px solid #bbb; border-radius: 6px; padding: 3px 12px; font-weight: 600; font-size: 13px }
  .danger { color: #e01e5a; border-color: #e01e5a } footer { color: #868686; font-size: 11px; margin-top: 10px }`;

const [{ blocks, newer }] = render({ id: "picture", notice: { kind: "card", card: CARD } });
const drawn = (newer?.blocks ?? blocks).map((block) => htmlOf(block as unknown as Block)).join("\n");
const note = "Drawn from the blocks of the message, not a screenshot of Slack.";
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({ viewport: { width: 652, height: 100 }, deviceScaleFactor: 1.5 });
  await page.setContent(
    `<meta charset="utf-8"><style>${STYLE}</style><div class="card">${drawn}</div><footer>${note}</footer>`,
  );
  await writeFile(PICTURE, await page.screenshot({ fullPage: true }));
} finally {
  await browser.close();
}
