import type { z } from "zod";
import { GIBIBYTE } from "../core/basics/byte-units.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { decimalNumber, positiveNumber } from "./variable-types.ts";

const HOUR_MS = 3_600_000;
const MAX_GIB = 1_000_000;

export const diskVariables = {
  ERRAND_LOCAL_COPY_HOURS: positiveNumber(8_760).default(24),
  ERRAND_LOCAL_COPIES_GIB: positiveNumber(MAX_GIB).default(20),
  ERRAND_CACHE_DAYS: positiveNumber(3_650).default(14),
  ERRAND_MIN_FREE_DISK_GIB: decimalNumber(0, MAX_GIB).default(0.5),
  ERRAND_MAX_WORKSPACE_GIB: positiveNumber(MAX_GIB).default(20),
};

export const diskVariableDocs = {
  ERRAND_LOCAL_COPY_HOURS: {
    group: "Disk",
    default: "24",
    description:
      "How long a worker keeps its copy of a workspace after its last use, once the workspace is stored. A later follow-up restores it.",
  },
  ERRAND_LOCAL_COPIES_GIB: {
    group: "Disk",
    default: "20",
    description:
      "The size of the workspaces on the disk of a worker, in GiB, and that of its mirrors of repositories. Beyond it, copies of stored workspaces and mirrors are deleted, least recently used first.",
  },
  ERRAND_CACHE_DAYS: {
    group: "Disk",
    default: "14",
    description:
      "A worker deletes mirrors of repositories and installed agents that were not used for this long.",
  },
  ERRAND_MIN_FREE_DISK_GIB: {
    group: "Disk",
    default: "0.5",
    description: "A worker with less free space in its data directory takes no run.",
  },
  ERRAND_MAX_WORKSPACE_GIB: {
    group: "Disk",
    default: "20",
    description: "The size of one workspace, in GiB. A run whose workspace grows beyond it fails.",
  },
} satisfies Record<keyof typeof diskVariables, VariableDoc>;

/** Limits of what a worker stores on its disk. */
export interface DiskLimits {
  readonly copyMs: number;
  readonly copiesBytes: number;
  readonly cacheMs: number;
  readonly minFreeBytes: number;
}

export function diskLimitsOf(values: z.infer<z.ZodObject<typeof diskVariables>>): DiskLimits {
  return {
    copyMs: values.ERRAND_LOCAL_COPY_HOURS * HOUR_MS,
    copiesBytes: values.ERRAND_LOCAL_COPIES_GIB * GIBIBYTE,
    cacheMs: values.ERRAND_CACHE_DAYS * 24 * HOUR_MS,
    minFreeBytes: values.ERRAND_MIN_FREE_DISK_GIB * GIBIBYTE,
  };
}
