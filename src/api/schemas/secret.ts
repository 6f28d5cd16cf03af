import { z } from "zod";
import { isTeamOwned } from "../../core/model/people/ownership.ts";
import type { Secret } from "../../core/model/secrets/secret.ts";
import { PageInfo } from "./page-info.ts";
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
    name: z.string().describe("The name of the environment variable."),
    scope: Scope.describe(
      "`Team`: for all runs of the team. `User`: for the runs that you start; it takes precedence over the team's " +
        "secret.",
    ),
    created_at: Timestamp.describe("When the secret was created."),
    updated_at: Timestamp.describe("When the value was last set."),
  })
  .meta({
    id: "Secret",
    description: "A secret without its value. The value is never shown.",
    examples: [EXAMPLE],
  });
export type SecretItem = z.output<typeof SecretItem>;

export const ListSecretsResponse = z
  .object({ secrets: z.array(SecretItem).describe("In alphabetical order."), page_info: PageInfo })
  .meta({
    id: "ListSecretsResponse",
    description: "The team's secrets and your own.",
    examples: [{ secrets: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const SecretParams = z.object({
  name: z.string().describe("1 to 128 letters, digits and `_`. The first character is not a digit."),
});

export const SecretQuery = z.object({
  team: z.enum(["true", "false"]).default("true").describe("`false`: your own secret of that name."),
});

export const PutSecretRequest = z
  .object({
    value: textOfBytes(VALUE_BYTES)
      .min(1)
      .describe(
        "The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of the runs " +
          "that use it.",
      ),
    team: z.boolean().optional().describe("false: only for your own runs. Default: true."),
  })
  .meta({
    id: "PutSecretRequest",
    description: "The value of a secret.",
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
