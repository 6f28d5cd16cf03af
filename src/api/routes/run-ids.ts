import { z } from "zod";
import type { RunId } from "../../core/ids.ts";
import { requireId } from "./ids.ts";

export const RunParams = z.object({ runId: z.string().describe("A UUID.") });

export function requireRunId(text: string): RunId {
  return requireId(text, "run");
}
