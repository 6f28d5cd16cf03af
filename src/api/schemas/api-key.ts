import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { type ApiKey, SCOPES } from "../../core/model/people/api-key.ts";
import type { IssuedKey } from "../../core/team/keys/key-service.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp, TimestampInput, textOfCharacters } from "./text.ts";

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

export const KeyScope = z.enum(SCOPES).meta({
  id: "KeyScope",
  description:
    "What a key allows at most. A write scope includes the read scope; `admin` includes all scopes.",
  examples: ["runs:write"],
});

const MEMBERS = {
  id: z.uuid().describe("The key's id."),
  name: z.string().describe("The name that the owner chose."),
  hint: z.string().describe("The beginning of the key, so that its owner recognises it."),
  scopes: z.array(KeyScope).describe("The scopes of the key."),
  principal_uid: z.uuid().describe("The uid of the principal that owns the key."),
  created_by: z
    .uuid()
    .optional()
    .describe("The uid of the principal that created the key. Absent for the server's own key."),
  created_by_key: z
    .uuid()
    .optional()
    .describe("The id of the key with which it was created. Absent for a key that was created without one."),
  created_at: Timestamp.describe("When the key was created."),
  expires_at: Timestamp.optional().describe("When the key expires. Absent if it does not expire."),
  last_used_at: Timestamp.optional().describe("When the key was last used, to the minute."),
  revoked_at: Timestamp.optional().describe("When the key was revoked."),
};

export const KeyItem = z
  .object(MEMBERS)
  .meta({ id: "ApiKey", description: "A key, without its secret.", examples: [EXAMPLE] });
export type KeyItem = z.output<typeof KeyItem>;

export const IssuedKeyItem = z
  .object({ ...MEMBERS, key: z.string().describe("The key itself. It is shown only once.") })
  .meta({
    id: "IssuedApiKey",
    description: "A new key.",
    examples: [{ ...EXAMPLE, key: "errand_Xy12z…the-rest-of-it" }],
  });
export type IssuedKeyItem = z.output<typeof IssuedKeyItem>;

export const ListKeysResponse = z
  .object({
    keys: z
      .array(KeyItem)
      .describe("The newest key comes first. Revoked keys are included, and expired ones for 30 days."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListKeysResponse",
    description: "An administrator gets all keys of the team, others get their own.",
    examples: [{ keys: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const RevokedKeys = z
  .object({ revoked: z.int().describe("The number of keys that were valid until now.") })
  .meta({ id: "RevokedKeys", description: "How many keys were revoked.", examples: [{ revoked: 2 }] });

const KeyName = textOfCharacters(NAME_LENGTH);

export const CreateKeyRequest = z
  .object({
    name: KeyName.min(1).describe("A name for the list of keys."),
    scopes: z
      .array(KeyScope)
      .min(1)
      .max(SCOPES.length)
      .default(["runs:write"])
      .describe("At most the scopes of the caller's own key. Default: `runs:write`."),
    expires_at: TimestampInput.optional().describe(
      "When the key expires: no later than the caller's own key, which is the default.",
    ),
    expires_in_days: z
      .int()
      .min(1)
      .max(DAYS_MAX)
      .optional()
      .describe("The lifetime in days, instead of `expires_at`."),
    principal_uid: z
      .string()
      .optional()
      .describe("For administrators: the uid of the principal that will own the key. Default: the caller."),
  })
  .refine(({ expires_at, expires_in_days }) => expires_at === undefined || expires_in_days === undefined, {
    path: ["expires_in_days"],
    message: "must not be combined with expires_at",
  })
  .meta({
    id: "CreateKeyRequest",
    description: "A new key.",
    examples: [{ name: "Nightly build", scopes: ["runs:write"], expires_in_days: 90 }],
  });
export type CreateKeyRequest = z.output<typeof CreateKeyRequest>;

export const UpdateKeyRequest = z
  .object({
    name: KeyName.optional().describe("A name for the list of keys."),
    expires_at: TimestampInput.optional().describe("When the key expires."),
  })
  .meta({
    id: "UpdateKeyRequest",
    description: "The members to change. Other members keep their value.",
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
      .describe("For how long the old key continues to work. Default: 0."),
  })
  .meta({
    id: "RotateKeyRequest",
    description: "How the old key ends.",
    examples: [{ overlap_seconds: 3_600 }],
  });

const WORKFLOW_KEY_SECONDS_MAX = 3_600;
const WORKFLOW_KEY_SECONDS_MIN = 60;
const TOKEN_LENGTH_MAX = 16_384;

export const ExchangeKeyRequest = z
  .object({
    token: z
      .string()
      .min(1)
      .max(TOKEN_LENGTH_MAX)
      .describe("The OpenID Connect token of the workflow's job."),
    expires_in: z
      .int()
      .min(WORKFLOW_KEY_SECONDS_MIN)
      .max(WORKFLOW_KEY_SECONDS_MAX)
      .default(WORKFLOW_KEY_SECONDS_MAX)
      .describe("The lifetime of the key in seconds. Default: an hour, which is also the most."),
    team_uid: z
      .uuid()
      .optional()
      .describe("The team whose policy gives the key. Needed only if policies of several teams do."),
  })
  .meta({
    id: "ExchangeKeyRequest",
    description: "The proof of what a CI workflow is.",
    examples: [{ token: "eyJhbGciOiJSUzI1NiJ9.eyJyZXBvc2l0b3J5X2lkIjoiODEyMzQ1Njc4In0.c2lnbmF0dXJl" }],
  });

export function keyItem(key: ApiKey): KeyItem {
  const { createdBy, createdByKey, expiresAt, lastUsedAt, revokedAt } = key;
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    principal_uid: key.principalId,
    created_at: key.createdAt.toISOString(),
    ...defined({
      created_by: createdBy,
      created_by_key: createdByKey,
      expires_at: expiresAt?.toISOString(),
      last_used_at: lastUsedAt?.toISOString(),
      revoked_at: revokedAt?.toISOString(),
    }),
  };
}

export function issuedKeyItem({ key, secret }: IssuedKey): IssuedKeyItem {
  return { ...keyItem(key), key: secret };
}
