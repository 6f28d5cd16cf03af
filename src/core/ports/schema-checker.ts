import type { OutputSchema } from "../model/runs/output-schema.ts";

/** Compares values with the JSON Schema of a run, which a hostile caller may have written. */
export interface SchemaChecker {
  /**
   * What is wrong with the value, one line each; none if it matches. Rejects with `invalid_request` if the schema cannot
   * be evaluated within its limits of time and memory.
   */
  check(schema: OutputSchema, value: unknown): Promise<readonly string[]>;
}
