import { type BrowserContext, chromium } from "playwright-core";
import { CHROMIUM, QUIET } from "../../test/support/chromium.ts";
import type { Figure } from "../bench.ts";
import { formatSpread, type Row, round } from "../report.ts";
import { type Service, startService } from "../setup/service.ts";
import { quantile, spreadOf } from "../statistics.ts";
import { addRun } from "./long-logs.ts";

const LONG_TURNS = 5_000;
const SHORT_TURNS = 50;
const SCROLL_MS = 3_000;
const MEBIBYTE = 1024 ** 2;
const FIRST_ENTRY_MAX = 2;
const FRAME_MAX = 1.5;
const HEAP_MAX_MIB = 150;
const ROWS_MAX = 300;

interface View {
  readonly firstEntryMs: number;
  readonly frameMs: number;
  readonly heapMib: number;
  readonly rows: number;
}

/** Scrolls up for some time, and returns the durations of the frames and the largest number of rows. */
const SCROLL = `new Promise((resolve) => {
  const frames = [];
  let rows = 0;
  const begun = performance.now();
  let last = begun;
  const step = (now) => {
    frames.push(now - last);
    last = now;
    rows = Math.max(rows, document.querySelectorAll(".entry-row").length);
    window.scrollBy(0, -300);
    if (now - begun < ${SCROLL_MS}) requestAnimationFrame(step);
    else resolve({ frames: frames.slice(1), rows });
  };
  requestAnimationFrame(step);
})`;

/** P21: the page of a run with 50,000 events is as fast as that of a run with 500. */
export const runPage: Figure = {
  names: ["P21"],
  measure: async ({ cleanup, folder, log, options, postgres }) => {
    const databaseUrl = await postgres.database("run_page");
    const service = await startService(folder, databaseUrl);
    cleanup.defer(() => service.child.stop());
    const long = await addRun(service, databaseUrl, LONG_TURNS);
    const short = await addRun(service, databaseUrl, SHORT_TURNS);
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [...QUIET, "--enable-precise-memory-info"],
    });
    cleanup.defer(() => browser.close());
    log("P21: the page of a run with a long log");
    const pairs: { readonly long: View; readonly short: View }[] = [];
    for (let turn = 0; turn < options.rounds; turn += 1) {
      const context = await signIn(
        await browser.newContext({ viewport: { width: 1280, height: 860 } }),
        service,
      );
      pairs.push({ short: await look(context, service, short), long: await look(context, service, long) });
      await context.close();
    }
    return rowsOf(pairs);
  },
};

async function signIn(context: BrowserContext, { headers, url }: Service): Promise<BrowserContext> {
  const page = await context.newPage();
  await page.goto(`${url}/signin`);
  await page.fill("#key", String(headers.authorization).replace("Bearer ", ""));
  await page.click("button[type=submit]");
  await page.waitForURL(`${url}/`);
  await page.close();
  return context;
}

async function look(context: BrowserContext, { url }: Service, runId: string): Promise<View> {
  const page = await context.newPage();
  const begun = performance.now();
  await page.goto(`${url}/runs/${runId}`);
  await page.locator(".entry-row").first().waitFor();
  const firstEntryMs = performance.now() - begun;
  // Earlier parts of the log are read when the browser is idle.
  await page.waitForLoadState("networkidle");
  const { frames, rows } = (await page.evaluate(SCROLL)) as { frames: number[]; rows: number };
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await page.close();
  return {
    firstEntryMs,
    frameMs: quantile(
      frames.toSorted((a, b) => a - b),
      0.95,
    ),
    heapMib: usedSize / MEBIBYTE,
    rows,
  };
}

function rowsOf(pairs: readonly { readonly long: View; readonly short: View }[]): readonly Row[] {
  const ratioRow = (what: string, pick: (view: View) => number, max: number): Row => {
    const ratio = spreadOf(pairs.map(({ long, short }) => pick(long) / pick(short)));
    return {
      figure: "P21",
      what,
      ours: `${round(spreadOf(pairs.map(({ long }) => pick(long))).median)} ms`,
      floor: `${round(spreadOf(pairs.map(({ short }) => pick(short))).median)} ms`,
      ratio: formatSpread(ratio),
      goal: `≤ ${max}`,
      verdict: ratio.median <= max ? "reached" : "MISSED",
    };
  };
  const limitRow = (what: string, pick: (view: View) => number, max: number, unit: string): Row => {
    const [ours, floor] = [
      spreadOf(pairs.map(({ long }) => pick(long))),
      spreadOf(pairs.map(({ short }) => pick(short))),
    ];
    return {
      figure: "P21",
      what,
      ours: `${round(ours.median)}${unit}`,
      floor: `${round(floor.median)}${unit}`,
      ratio: "",
      goal: `≤ ${max}`,
      verdict: ours.median <= max ? "reached" : "MISSED",
    };
  };
  return [
    ratioRow(
      "page of a run, 50,000 events and 500: first entry",
      ({ firstEntryMs }) => firstEntryMs,
      FIRST_ENTRY_MAX,
    ),
    ratioRow("the same: p95 of a frame while scrolling", ({ frameMs }) => frameMs, FRAME_MAX),
    limitRow("the same: JavaScript heap", ({ heapMib }) => heapMib, HEAP_MAX_MIB, " MiB"),
    limitRow("the same: rows in the document", ({ rows }) => rows, ROWS_MAX, ""),
  ];
}
