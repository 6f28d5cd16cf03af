import type { LoadProcess } from "./load/load-process.ts";
import type { BenchOptions } from "./options.ts";
import type { Row } from "./report.ts";
import type { Postgres } from "./setup/postgres.ts";

/** What every figure is measured with. */
export interface Bench {
  readonly options: BenchOptions;
  /** For files of the servers; gone when the benchmark ends. */
  readonly folder: string;
  readonly postgres: Postgres;
  readonly load: LoadProcess;
  /** Whatever is to be put away when the figure is done. */
  readonly undo: AsyncDisposableStack;
  /** How it goes on. */
  readonly tell: (line: string) => void;
  /** Below the table: what a reader of the figures must know. */
  readonly remark: (line: string) => void;
}

export interface Figure {
  /** As in docs/benchmarks.md; several when one measurement gives them. */
  readonly names: readonly string[];
  measure(bench: Bench): Promise<readonly Row[]>;
}
