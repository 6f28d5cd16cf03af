import { Worker } from "node:worker_threads";
import { AppError } from "../core/basics/errors.ts";
import { evaluatedPart, type OutputSchema } from "../core/model/runs/output-schema.ts";
import type { SchemaChecker } from "../core/ports/schema-checker.ts";

const LIMIT_MS = 5_000;
const MEMORY_MIB = 128;
const MODULE = new URL("./check-thread.js", import.meta.url);

/**
 * Checks each value in a thread of its own. Schema and value come from people and agents: a regular expression or a
 * chain of references may take for ever, and a thread can be stopped. The schema is interpreted: no code is made of it.
 */
export function createSchemaChecker(limitMs = LIMIT_MS): SchemaChecker {
  return { check: (schema, value) => check(schema, value, limitMs) };
}

async function check(schema: OutputSchema, value: unknown, limitMs: number): Promise<readonly string[]> {
  const thread = new Worker(MODULE, {
    workerData: { schema: evaluatedPart(schema), value },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<readonly string[]>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it took longer than ${limitMs / 1_000} s`)), limitMs);
      thread.once("message", resolve).once("error", reject);
    });
  } catch (error) {
    throw notEvaluated(error);
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function notEvaluated(cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError("invalid_request", `The output schema could not be evaluated: ${why}.`, {
    cause,
    remedy: "Simplify output_schema: its regular expressions, or schemas that refer to themselves.",
  });
}
