import { createRequire } from "node:module";
import { asRecord, isRecord, type JsonRecord } from "../json.ts";

/** A recorded payload with this event and action that came through an App's installation. */
export function recordedPayload(event: string, action: string): JsonRecord {
  const examples = allExamples().find((definition) => definition.name === event)?.examples;
  const recorded = Array.isArray(examples)
    ? examples.map(asRecord).filter((one) => one.action === action)
    : [];
  const found = recorded.find((one) => one.installation) ?? recorded[0];
  if (!found) {
    throw new Error(`No recorded payload of ${event}.${action}`);
  }
  return found;
}

/** The recorded payload with the emulated objects merged into it. Members that emulate lacks stay as recorded. */
export function pointedAt(recorded: JsonRecord, emulated: JsonRecord): JsonRecord {
  const entries = Object.entries(emulated).map(([name, value]) => {
    const original = recorded[name];
    return [name, isRecord(value) && isRecord(original) ? { ...original, ...value } : value];
  });
  return { ...recorded, ...Object.fromEntries(entries) };
}

function allExamples(): readonly JsonRecord[] {
  const examples: unknown = createRequire(import.meta.url)("@octokit/webhooks-examples");
  if (!Array.isArray(examples)) {
    throw new Error("@octokit/webhooks-examples is no longer a list");
  }
  return examples.map(asRecord);
}
