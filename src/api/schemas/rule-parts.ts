import { z } from "zod";
import type { Rule } from "../../core/rules/rule.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;
const VALUE_LENGTH = 200;
const VALUES_MAX = 100;
const PRIORITY_MAX = 1_000_000;
const DEFAULT_PRIORITY = 100;

/** A list of values of which one must hold. An empty one could never hold, and is surely not meant. */
export function oneOf<T extends z.ZodType>(value: T): z.ZodArray<T> {
  return z.array(value).min(1).max(VALUES_MAX);
}

/** A name or id of the outside, as adapters give it. */
export const MatchedText = textOfCharacters(VALUE_LENGTH).min(1);

/** Members of a condition that policies and routing rules share. */
export const placeConditions = {
  integrations: oneOf(MatchedText).optional().describe("Names of integrations."),
  installations: oneOf(MatchedText)
    .optional()
    .describe("Workspaces, organisations or accounts, by the platform's own ids."),
  places: oneOf(MatchedText)
    .optional()
    .describe("Channels or repositories, as the integration names them. `*` stands for any characters."),
};

/** Members of the requests that make or replace a rule. */
export const ruleRequest = {
  name: textOfCharacters(NAME_LENGTH).min(1).describe("Unique in the team."),
  priority: z
    .int()
    .min(-PRIORITY_MAX)
    .max(PRIORITY_MAX)
    .optional()
    .describe(`The lowest is looked at first, of equals the oldest. Default: ${DEFAULT_PRIORITY}.`),
  enabled: z.boolean().optional().describe("Whether it counts. Default: true."),
};

/** Members of a rule as it is shown. */
export const ruleMembers = {
  id: z.uuid().describe("The rule's id."),
  name: z.string().describe("Unique in the team."),
  priority: z.int().describe("The lowest is looked at first, of equals the oldest."),
  enabled: z.boolean().describe("Whether it counts."),
  created_by: z.uuid().describe("The uid of the principal who made it."),
  created_at: Timestamp.describe("When it was made."),
  updated_at: Timestamp.describe("When it was changed last."),
};

export interface RuleRequest {
  readonly name: string;
  readonly priority?: number | undefined;
  readonly enabled?: boolean | undefined;
}

export function ruleEditOf({ name, priority = DEFAULT_PRIORITY, enabled = true }: RuleRequest) {
  return { name, priority, enabled };
}

export function ruleItem({ id, name, priority, enabled, creatorId, createdAt, updatedAt }: Rule) {
  const times = { created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
  return { id, name, priority, enabled, created_by: creatorId, ...times };
}
