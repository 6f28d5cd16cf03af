import { createKeyHasher } from "../../src/api/auth/api-keys.ts";
import { deriveKey } from "../../src/secrets/secret-files.ts";
import { query } from "./postgres.ts";
import { SECRET_KEY } from "./service.ts";

export const TEAM = "00000000-0000-7000-8000-000000000001";
/** A team whose last run is old. */
export const OLD_TEAM = "00000000-0000-7000-8000-0000000000b2";
export const PEOPLE_PER_TEAM = 200;

const KINDS = { member: TEAM, old: OLD_TEAM } as const;
export type Kind = keyof typeof KINDS;

const INSERT_PEOPLE = `
  INSERT INTO principals (id, team_id, type, display_name)
  SELECT md5($1 || n)::uuid, $2::uuid, 'user', initcap($1) || ' ' || n FROM generate_series(0, $3 - 1) AS n`;
const INSERT_KEYS = `
  INSERT INTO api_keys (hash, principal_id, name, scopes)
  SELECT hash, md5($1 || index - 1)::uuid, 'bench', '{runs:read,runs:write}'
  FROM unnest($2::text[]) WITH ORDINALITY AS hashes (hash, index)`;

/** Adds people without any role beyond their own runs to the database of a service that has been started once. */
export async function addPeople(databaseUrl: string): Promise<void> {
  const hash = createKeyHasher(deriveKey(SECRET_KEY, "api-keys"));
  await query(databaseUrl, "INSERT INTO teams (id, name) VALUES ($1, 'Old team')", [OLD_TEAM]);
  for (const [kind, team] of Object.entries(KINDS)) {
    const hashes = Array.from({ length: PEOPLE_PER_TEAM }, (_, index) => hash(keyOf(kind as Kind, index)));
    await query(databaseUrl, INSERT_PEOPLE, [kind, team, PEOPLE_PER_TEAM]);
    await query(databaseUrl, INSERT_KEYS, [kind, hashes]);
  }
}

export function headersOf(kind: Kind, index: number): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${keyOf(kind, index)}` };
}

function keyOf(kind: Kind, index: number): string {
  return `benchmark-key-of-${kind}-${index}`;
}
