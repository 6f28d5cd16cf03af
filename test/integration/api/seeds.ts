import { type ApiDocument, addressOf, operationsOf, resolved } from "../../support/openapi-operations.ts";
import { createRun } from "./api-caller.ts";
import type { ApiHarness } from "./api-harness.ts";

const NOWHERE = "00000000-0000-7000-8000-000000000000";

export interface Seeds {
  /** Returns the address with ids of existing objects. A parameter without an object gets an id that nothing has. */
  fill(path: string): string;
  /** The status of each example, as "POST /path: 201". */
  readonly answers: readonly string[];
}

/** Creates one object from every example of the document that needs no other object first. */
export async function seedExamples(harness: ApiHarness, document: ApiDocument): Promise<Seeds> {
  const ids = new Map([["/api/v1/agent/runs", await createRun(harness)]]);
  const answers: string[] = [];
  for (const { name, method, path, body = {} } of operationsOf(document)) {
    const [example] = resolved(body, document).examples ?? [];
    if (method !== "POST" || path.includes("{") || example === undefined) {
      continue;
    }
    const headers = { authorization: `Bearer ${harness.key}` };
    const answer = await harness.server.inject({ method, url: path, headers, payload: Object(example) });
    answers.push(`${name}: ${answer.statusCode}`);
    const { run_id, uid, id } = Object(answer.json());
    const objectId: unknown = run_id ?? uid ?? id;
    if (answer.statusCode < 300 && typeof objectId === "string") {
      ids.set(path, objectId);
    }
  }
  const idAt = (path: string, end: number): string => ids.get(path.slice(0, end)) ?? NOWHERE;
  return { answers, fill: (path) => addressOf(path, (name) => idAt(path, path.indexOf(`/{${name}}`))) };
}
