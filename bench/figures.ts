import type { Figure } from "./bench.ts";
import { cliStart } from "./figures/cli-start.ts";
import { createToStart } from "./figures/create-to-start.ts";
import { durableCreate } from "./figures/durable-create.ts";
import { equalRefusals } from "./figures/equal-refusals.ts";
import { fairQueue } from "./figures/fair-queue.ts";
import { firstText } from "./figures/first-text.ts";
import { hostileBodies } from "./figures/hostile-bodies.ts";
import { ingestion } from "./figures/ingestion.ts";
import { listAtScale } from "./figures/list-at-scale.ts";
import { longLogs } from "./figures/long-logs.ts";
import { memory } from "./figures/memory.ts";
import { readRuns } from "./figures/read-runs.ts";
import { runPage } from "./figures/run-page.ts";
import { startTime } from "./figures/start-time.ts";
import { turnCheckpoint } from "./figures/turn-checkpoint.ts";
import { viewers } from "./figures/viewers.ts";

/** In the order of the table. */
export const FIGURES: readonly Figure[] = [
  durableCreate,
  readRuns,
  listAtScale,
  createToStart,
  ingestion,
  viewers,
  startTime,
  memory,
  hostileBodies,
  equalRefusals,
  longLogs,
  cliStart,
  runPage,
  turnCheckpoint,
  firstText,
  fairQueue,
];
