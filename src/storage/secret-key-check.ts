import type { SecretBox } from "../core/basics/crypto.ts";
import type { Statements } from "./database.ts";

const OWNER = "secret-key-check";
const FIND = "SELECT sealed FROM secret_key_checks WHERE id = 1";
const INSERT = "INSERT INTO secret_key_checks (id, sealed) VALUES (1, $1) ON CONFLICT (id)";

/** Of the tables with sealed values, these are short. */
const FIND_OTHER = `
  SELECT FROM (SELECT sealed FROM secrets UNION ALL SELECT sealed FROM mcp_servers) AS kept
  WHERE NOT sealed ^@ ANY ($1) LIMIT 1`;

type Box = Pick<SecretBox, "open" | "prefix" | "prefixes" | "seal">;

/**
 * Whether one of the secret keys of this process is that of the database. Without a check value yet, the keys must be those
 * of the stored secrets. The check value is then stored, and sealed anew under a new key.
 */
export async function hasSecretKeyOf(database: Statements, box: Box): Promise<boolean> {
  const sealed = (await find(database)) ?? (await storeFirst(database, box));
  const isRight = sealed !== undefined && canOpen(box, sealed);
  if (isRight && !sealed.startsWith(box.prefix)) {
    await adoptSecretKey(database, box);
  }
  return isRight;
}

async function find(database: Statements): Promise<string | undefined> {
  const [row] = await database.rows<{ sealed: string }>({ text: FIND, values: [] });
  return row?.sealed;
}

/** Of several first starts at once, one decides. Returns its value. */
async function storeFirst(database: Statements, box: Box): Promise<string | undefined> {
  if (!(await opensSecrets(database, box))) {
    return undefined;
  }
  await database.rows({ text: `${INSERT} DO NOTHING`, values: [box.seal("", OWNER)] });
  return find(database);
}

/** Makes the present secret key that of the database. Values of another key cannot be opened any more. */
export async function adoptSecretKey(database: Statements, box: Box): Promise<void> {
  const text = `${INSERT} DO UPDATE SET sealed = excluded.sealed`;
  await database.rows({ text, values: [box.seal("", OWNER)] });
}

async function opensSecrets(database: Statements, { prefixes }: Box): Promise<boolean> {
  return (await database.rows({ text: FIND_OTHER, values: [prefixes] })).length === 0;
}

function canOpen(box: Box, sealed: string): boolean {
  try {
    box.open(sealed, OWNER);
    return true;
  } catch {
    return false;
  }
}
