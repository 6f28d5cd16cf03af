import type { LoadProcess } from "./load/load-process.ts";
import type { BenchOptions } from "./options.ts";
import type { Row } from "./report.ts";
import type { Postgres } from "./setup/postgres.ts";

/** What a figure is measured with. */
export interface Bench {
  readonly options: BenchOptions;
  /** For files of the servers. The folder is removed when the benchmark ends. */
  readonly folder: string;
  readonly postgres: Postgres;
  readonly load: LoadProcess;
  /** Released when the figure is done. */
  readonly cleanup: AsyncDisposableStack;
  /** Writes a line about the progress to stderr. */
  readonly log: (line: string) => void;
  /** Adds a line below the table that readers of the figures must know. */
  readonly remark: (line: string) => void;
}

export interface Figure {
  /** As in docs/benchmarks.md. One measurement can give several figures. */
  readonly names: readonly string[];
  measure(bench: Bench): Promise<readonly Row[]>;
}
