import { z } from "zod";
import { isTeamOwned } from "../../core/people/ownership.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { Scope } from "./run-item.ts";
import { Timestamp, textOfBytes } from "./text.ts";

const VALUE_BYTES = 64 * 1024;

const EXAMPLE = {
  name: "NPM_TOKEN",
  scope: { type: "Team" },
  created_at: "2026-02-03T14:10:00.000Z",
  updated_at: "2026-02-20T07:45:00.000Z",
};

export const SecretItem = z
  .object({
    name: z.string().describe("Of the environment variable that runs get."),
    scope: Scope.describe(
      "`Team`: for all runs of the team. `User`: for runs that you start, over the team's.",
    ),
    created_at: Timestamp.describe("When it was first set."),
    updated_at: Timestamp.describe("When its value was last set."),
  })
  .meta({
    id: "Secret",
    description: "A secret, without its value: that is never shown.",
    examples: [EXAMPLE],
  });
export type SecretItem = z.output<typeof SecretItem>;

export const ListSecretsResponse = z.object({ secrets: z.array(SecretItem).describe("By name.") }).meta({
  id: "ListSecretsResponse",
  description: "The team's secrets, and your own.",
  examples: [{ secrets: [EXAMPLE] }],
});

export const SecretParams = z.object({
  name: z.string().describe("1 to 128 letters, digits and `_`, not beginning with a digit."),
});

export const SecretQuery = z.object({
  team: z.enum(["true", "false"]).default("true").describe("`false`: your own secret of that name."),
});

export const PutSecretRequest = z
  .object({
    value: textOfBytes(VALUE_BYTES)
      .min(1)
      .describe(
        "The value, exactly. From 8 characters on it is replaced by `[redacted]` in all that is told of the runs it is in.",
      ),
    team: z.boolean().optional().describe("false: for your own runs alone. Default true."),
  })
  .meta({
    id: "PutSecretRequest",
    description: "A secret's value.",
    examples: [{ value: "npm_4dq0Zs9bKc2LmVwY7dRh" }],
  });

export function secretItem(secret: Secret): SecretItem {
  const { createdAt, name, ownerId, updatedAt } = secret;
  return {
    name,
    scope: isTeamOwned(secret) ? { type: "Team" } : { type: "User", uid: ownerId },
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
