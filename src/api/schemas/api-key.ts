import { z } from "zod";
import { type ApiKey, SCOPES } from "../../core/people/api-key.ts";
import type { IssuedKey } from "../../core/people/key-service.ts";
import { GivenTimestamp, Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 100;
const DAYS_MAX = 3_650;
const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

const EXAMPLE = {
  id: "0195b2a1-3c5d-7b11-9a40-5e7f2c1d8b90",
  name: "Nightly build",
  hint: "errand_Xy12z…",
  scopes: ["runs:write"],
  principal_uid: "0195b2a0-0000-7000-8000-000000000001",
  created_by: "0195b2a0-0000-7000-8000-000000000002",
  created_at: "2026-03-01T09:00:00.000Z",
  expires_at: "2026-06-01T09:00:00.000Z",
};

const KeyScope = z.enum(SCOPES).meta({
  id: "KeyScope",
  description: "What a key may do at most. Writing includes reading, `admin` everything.",
  examples: ["runs:write"],
});

const MEMBERS = {
  id: z.uuid().describe("The key's id."),
  name: z.string().describe("As its owner called it."),
  hint: z.string().describe("How the key begins, by which its owner knows it again."),
  scopes: z.array(KeyScope).describe("What it may do."),
  principal_uid: z.uuid().describe("Whose it is."),
  created_by: z.uuid().optional().describe("Who made it. Absent: the installation's own key."),
  created_at: Timestamp.describe("When it was made."),
  expires_at: Timestamp.optional().describe("Until when it opens; absent: for ever."),
  last_used_at: Timestamp.optional().describe("To the minute."),
  revoked_at: Timestamp.optional().describe("Since when it opens nothing any more."),
};

export const KeyItem = z
  .object(MEMBERS)
  .meta({ id: "ApiKey", description: "A key, without its secret.", examples: [EXAMPLE] });
export type KeyItem = z.output<typeof KeyItem>;

export const IssuedKeyItem = z
  .object({ ...MEMBERS, key: z.string().describe("The key itself, shown this once.") })
  .meta({
    id: "IssuedApiKey",
    description: "A new key.",
    examples: [{ ...EXAMPLE, key: "errand_Xy12z…the-rest-of-it" }],
  });
export type IssuedKeyItem = z.output<typeof IssuedKeyItem>;

export const ListKeysResponse = z
  .object({ keys: z.array(KeyItem).describe("The newest first, those that are over too.") })
  .meta({
    id: "ListKeysResponse",
    description: "For administrators all keys of the team, for others their own.",
    examples: [{ keys: [EXAMPLE] }],
  });

const KeyName = textOfCharacters(NAME_LENGTH);

export const CreateKeyRequest = z
  .object({
    name: KeyName.min(1).describe("For whoever finds it in the list."),
    scopes: z
      .array(KeyScope)
      .min(1)
      .max(SCOPES.length)
      .default(["runs:write"])
      .describe("No more than the caller's own key has. Default: `runs:write`."),
    expires_at: GivenTimestamp.optional().describe("Until when it opens. Default: for ever."),
    expires_in_days: z.int().min(1).max(DAYS_MAX).optional().describe("The same, counted from now."),
    principal_uid: z
      .string()
      .optional()
      .describe("For administrators: whose it is to be. Default: their own."),
  })
  .refine(({ expires_at, expires_in_days }) => expires_at === undefined || expires_in_days === undefined, {
    path: ["expires_in_days"],
    message: "goes without expires_at",
  })
  .meta({
    id: "CreateKeyRequest",
    description: "A new key.",
    examples: [{ name: "Nightly build", scopes: ["runs:write"], expires_in_days: 90 }],
  });
export type CreateKeyRequest = z.output<typeof CreateKeyRequest>;

export const UpdateKeyRequest = z
  .object({
    name: KeyName.optional().describe("For whoever finds it in the list."),
    expires_at: GivenTimestamp.optional().describe("Until when it opens."),
  })
  .meta({
    id: "UpdateKeyRequest",
    description: "What is to change; the rest stays.",
    examples: [{ name: "Nightly build" }],
  });
export type UpdateKeyRequest = z.output<typeof UpdateKeyRequest>;

export const RotateKeyRequest = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(OVERLAP_MAX_SECONDS)
      .default(0)
      .describe("How long the old key opens still. Default: not at all."),
  })
  .meta({
    id: "RotateKeyRequest",
    description: "How the old key ends.",
    examples: [{ overlap_seconds: 3_600 }],
  });

export function keyItem(key: ApiKey): KeyItem {
  const { createdBy, expiresAt, lastUsedAt, revokedAt } = key;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    principal_uid: key.principalId,
    created_at: key.createdAt.toISOString(),
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    ...(lastUsedAt === undefined ? {} : { last_used_at: lastUsedAt.toISOString() }),
    ...(revokedAt === undefined ? {} : { revoked_at: revokedAt.toISOString() }),
  };
}

export function issuedKeyItem({ key, secret }: IssuedKey): IssuedKeyItem {
  return { ...keyItem(key), key: secret };
}
