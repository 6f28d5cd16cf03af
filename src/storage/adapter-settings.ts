import type { SecretBox } from "../core/basics/crypto.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import {
  type AdapterSetting,
  type AdapterSettings,
  type SettingsAuthor,
  settingOwner,
} from "../core/ports/stores/adapter-settings.ts";
import { nameAuthor } from "./audit-log.ts";
import { withConnection } from "./connection.ts";
import type { StoreDeps } from "./store-deps.ts";

const QUERY_LIMIT_MS = 10_000;

interface Deps extends Pick<StoreDeps, "clock" | "database" | "pubsub"> {
  readonly secrets: Pick<SecretBox, "open" | "seal">;
  /** Called with the values before they are stored. */
  readonly learn?: (values: Readonly<Record<string, string>>) => void;
}

export class PrismaAdapterSettings implements AdapterSettings {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async list(): Promise<readonly AdapterSetting[]> {
    const query = { omit: { sealed: true }, orderBy: { id: "asc" } } as const;
    const rows = await this.#deps.database.query((client) => client.adapterSetting.findMany(query));
    return rows.map(({ id: name, ...row }) => ({ name, ...row }));
  }

  async read(adapter: string): Promise<Readonly<Record<string, string>>> {
    const rows = await this.#deps.database.query((client) =>
      client.adapterSetting.findMany({ where: { adapter } }),
    );
    return openSettings(rows, this.#deps.secrets);
  }

  async put(
    adapter: string,
    values: Readonly<Record<string, string>>,
    { audit, principalId: updatedBy }: SettingsAuthor,
  ): Promise<void> {
    const { clock, database, pubsub, secrets } = this.#deps;
    this.#deps.learn?.(values);
    const rows = Object.entries(values).map(([id, value]) => ({
      id,
      adapter,
      sealed: secrets.seal(value, settingOwner(id)),
      updatedAt: clock.now(),
      updatedBy,
    }));
    await database.transaction(async (tx) => {
      await nameAuthor(tx, audit);
      for (const { id, ...row } of rows) {
        await tx.adapterSetting.upsert({ where: { id }, create: { id, ...row }, update: row });
      }
    });
    pubsub.publish([CHANNELS.adapterSettings]);
  }

  async remove(adapter: string, { audit }: SettingsAuthor): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      await nameAuthor(tx, audit);
      await tx.adapterSetting.deleteMany({ where: { adapter } });
    });
    this.#deps.pubsub.publish([CHANNELS.adapterSettings]);
  }
}

interface SealedSetting {
  readonly id: string;
  readonly sealed: string;
}

/** The stored settings of all adapters, before anything else is started. */
export async function readStoredSettings(url: string): Promise<readonly SealedSetting[]> {
  const options = { applicationName: "errand adapter settings", queryLimitMs: QUERY_LIMIT_MS };
  const text = "SELECT id, sealed FROM adapter_settings ORDER BY id";
  return withConnection(url, options, async (client) => (await client.query<SealedSetting>(text)).rows);
}

/** A value that was sealed under a lost key counts as missing. */
export function openSettings(
  rows: readonly SealedSetting[],
  secrets: Pick<SecretBox, "open">,
): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map(({ id, sealed }) => [id, openOrEmpty(id, sealed, secrets)]));
}

function openOrEmpty(id: string, sealed: string, secrets: Pick<SecretBox, "open">): string {
  try {
    return secrets.open(sealed, settingOwner(id));
  } catch {
    return "";
  }
}
