import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

const DEPLOY = resolve(import.meta.dirname, "../../../deploy");
const CONFIGURATION = join(DEPLOY, "prometheus/prometheus.yml");
const RULES = join(DEPLOY, "prometheus/alerts.yml");
const DASHBOARD = join(DEPLOY, "grafana/errand.json");
const PROGRAM = "promtool";

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

describe.skipIf(reasonToSkip() !== undefined)("what deploy/ has for Prometheus and Grafana", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "errand-alerts-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("no alert fires while all is well, each fires with its cause, and the panels have figures", () =>
    withFaultHarness(
      async (harness) => {
        const api = await harness.start({ ERRAND_ROLE: "api" });
        const worker = await harness.start({ ERRAND_ROLE: "worker" });
        await harness.mention(api, "say hello");
        const well = await metricsWith(api, /^errand_worker_takes_runs.* 1$/m);
        expect(await firing(well, well)).toEqual([]);

        await worker.end("SIGTERM");
        await leaveWaiting(harness, api);
        const waiting = await metricsWith(api, /^errand_undecided_events 1$/m);
        expect(await firing(well, waiting)).toEqual([
          "ErrandNoWorker",
          "ErrandNoticesGivenUp",
          "ErrandPeopleWaitForAnAnswer",
          "ErrandRunsWait",
        ]);

        // More than any disk has.
        await harness.start({ ERRAND_ROLE: "worker", ERRAND_MIN_FREE_DISK_GIB: "1000000" });
        const full = await metricsWith(api, /^errand_worker_takes_runs.* 0$/m);
        expect(await firing(well, full)).toContain("ErrandWorkerTakesNoRuns");
        expect(await firing(well, full)).not.toContain("ErrandNoWorker");

        expect(await firing(well, "")).toEqual(["ErrandNotMeasured"]);
        await expectPanels(await metricsWith(api, /^errand_stored_bytes\{/m));
      },
      { withSlack: true },
    ));

  test("Prometheus reads the configuration", () => {
    expect(promtool("check", "config", "--syntax-only", CONFIGURATION)).toContain("SUCCESS");
  });

  /** The alerts that fire when `before` was scraped for half an hour, and then `after` for twenty minutes. */
  async function firing(before: string, after: string): Promise<readonly string[]> {
    const file = join(folder, "test.json");
    const question = {
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: "50m",
      // promtool prints what it got only where that differs.
      exp_samples: [{ labels: '{alertname="None of them"}', value: 1 }],
    };
    const tests = [{ interval: "1m", input_series: seriesOf(before, after), promql_expr_test: [question] }];
    await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
    const got = /got: *(.*)/.exec(promtool("test", "rules", file))?.[1];
    expect(got).toBeDefined();
    return Array.from((got ?? "").matchAll(/alertname="(\w+)"/g), ([, name = ""]) => name).toSorted();
  }

  async function expectPanels(metrics: string): Promise<void> {
    const dashboard: Dashboard = JSON.parse(await readFile(DASHBOARD, "utf8"));
    const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const names = exprs.flatMap((expr) => expr.match(/errand_\w+/g) ?? []);
    const known = Array.from(metrics.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name);
    expect(known).toEqual(expect.arrayContaining(names.map((name) => name.replace(/_bucket$/, ""))));
    const rules = exprs.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(folder, "panels.json");
    await writeFile(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    expect(promtool("check", "rules", file)).toContain(`SUCCESS: ${exprs.length} rules found`);
  }
});

/** A run and a mention that wait since an hour without a worker, and a message that was given up. */
async function leaveWaiting(harness: FaultHarness, api: Worker): Promise<void> {
  await harness.createRun(api, "say hello");
  await harness.sendMention(api, "say hello again");
  await harness.rows("UPDATE run_queue SET queued_at = queued_at - interval '1 hour'");
  await harness.rows("UPDATE inbox_events SET received_at = received_at - interval '1 hour'");
  const last = "SELECT max(id) FROM outbox_deliveries";
  await harness.rows(`UPDATE outbox_deliveries SET state = 'dead' WHERE id = (${last})`);
}

function metricsWith({ apiKey, url }: Worker, pattern: RegExp): Promise<string> {
  const read = async () => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${apiKey}` } });
    const text = await response.text();
    return pattern.test(text) && text;
  };
  return waitFor(read, { what: `${pattern} in the metrics`, timeoutMs: 60_000 });
}

/** 30 samples of `before`, a minute each, and 20 of `after`. */
function seriesOf(before: string, after: string): readonly unknown[] {
  const [former, latter] = [samplesOf(before), samplesOf(after)];
  return [...new Set([...former.keys(), ...latter.keys()])].map((series) => ({
    series,
    values: `${repeated(former.get(series), 30)} ${repeated(latter.get(series), 20)}`,
  }));
}

function samplesOf(metrics: string): ReadonlyMap<string, string> {
  const lines = metrics.split("\n").filter((line) => line.startsWith("errand_"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}

function repeated(value: string | undefined, times: number): string {
  return value === undefined ? `_x${times}` : `${value}x${times - 1}`;
}

function promtool(...args: readonly string[]): string {
  const { stderr, stdout } = spawnSync(PROGRAM, args, { encoding: "utf8" });
  return `${stdout}${stderr}`;
}

/** Where everything should be there, nothing is skipped. */
function reasonToSkip(): string | undefined {
  const { error } = spawnSync(PROGRAM, ["--version"]);
  if (error !== undefined && process.env.CI === "true") {
    throw new Error("promtool must be there where CI=true", { cause: error });
  }
  return error && "there is no promtool";
}
