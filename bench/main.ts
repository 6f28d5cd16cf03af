import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { FIGURES } from "./figures.ts";
import { LoadProcess } from "./load/load-process.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { type Row, tableOf } from "./report.ts";
import { startPostgres } from "./setup/postgres.ts";

/** `npm run bench`: docs/benchmarks.md says what is measured and how. */
async function main(options: BenchOptions): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "errand-bench-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const postgres = await startPostgres(folder);
  cleanup.defer(() => postgres.child.stop());
  const load = new LoadProcess();
  cleanup.defer(() => load.stop());
  const remarks = new Set<string>();
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const rows = await measureAll({
    options,
    folder,
    postgres,
    load,
    log,
    remark: (line) => remarks.add(line),
  });
  console.log([tableOf(rows), "", ...remarks, machine(options, postgres.version)].join("\n"));
}

async function measureAll(context: Omit<Bench, "cleanup">): Promise<readonly Row[]> {
  const { figures } = context.options;
  const rows: Row[] = [];
  for (const { measure, names } of FIGURES) {
    if (figures.length > 0 && !names.some((name) => figures.includes(name))) {
      continue;
    }
    await using cleanup = new AsyncDisposableStack();
    rows.push(...(await measure({ ...context, cleanup })));
  }
  return rows;
}

function machine({ rounds, seconds }: BenchOptions, postgresVersion: string): string {
  const [processor, ...others] = cpus();
  const [version = ""] = postgresVersion.split(" on ", 1);
  return [
    `${new Date().toISOString().slice(0, 10)}`,
    `${others.length + 1} x ${processor?.model}`,
    `Node ${process.version}`,
    version,
    `${rounds} rounds of ${seconds} s`,
  ].join(", ");
}

/** Exits in the normal way, so that the started servers are stopped too. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => process.exit(1));
}

await main(readOptions(process.argv.slice(2)));
