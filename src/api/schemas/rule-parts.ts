import { z } from "zod";
import type { Rule } from "../../core/model/policies/rule.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;
const VALUE_LENGTH = 200;
const VALUES_MAX = 100;
const PRIORITY_MAX = 1_000_000;
const DEFAULT_PRIORITY = 100;

/** A list of which one value must match. An empty list is refused, because it could never match. */
export function oneOf<T extends z.ZodType>(value: T): z.ZodArray<T> {
  return z.array(value).min(1).max(VALUES_MAX);
}

/** An external name or id, as adapters report it. */
export const MatchedText = textOfCharacters(VALUE_LENGTH).min(1);

/** The conditions that policies and routing rules share. */
export const placeConditions = {
  integrations: oneOf(MatchedText).optional().describe("Names of integrations."),
  installations: oneOf(MatchedText)
    .optional()
    .describe("Workspaces, organisations or accounts, by the ids of their platform."),
  places: oneOf(MatchedText)
    .optional()
    .describe("Channels or repositories, as the integration names them. `*` matches any characters."),
};

/** The members of requests that create or replace a rule. */
export const ruleRequest = {
  name: textOfCharacters(NAME_LENGTH).min(1).describe("Unique in the team."),
  priority: z
    .int()
    .min(-PRIORITY_MAX)
    .max(PRIORITY_MAX)
    .optional()
    .describe(
      "The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: " +
        `${DEFAULT_PRIORITY}.`,
    ),
  enabled: z.boolean().optional().describe("Whether the rule is active. Default: true."),
};

/** The members of a rule in responses. */
export const ruleMembers = {
  id: z.uuid().describe("The rule's id."),
  name: z.string().describe("Unique in the team."),
  priority: z
    .int()
    .describe("The lowest priority is evaluated first. Of equal priorities, the oldest is first."),
  enabled: z.boolean().describe("Whether the rule is active."),
  created_by: z.uuid().describe("The uid of the principal that created the rule."),
  created_at: Timestamp.describe("When the rule was created."),
  updated_at: Timestamp.describe("When the rule was last changed."),
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
