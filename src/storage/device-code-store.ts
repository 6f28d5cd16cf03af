import type { PrincipalId } from "../core/basics/ids.ts";
import type { DeviceCode, DeviceCodeHashes, DeviceCodeStatus } from "../core/model/people/device-code.ts";
import type { DeviceCodeStore } from "../core/ports/stores/sign-in-store.ts";
import { type DeviceCode as DeviceCodeRow, Prisma } from "./generated/client.ts";
import { selectList, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const LOCK = `
  SELECT ${selectList(Object.values(Prisma.DeviceCodeScalarFieldEnum))} FROM device_codes
  WHERE device_code_hash = $1 OR user_code_hash = $2 FOR UPDATE`;
/** Ends with the transaction. Two networks with the same hash only wait for each other. */
const LOCK_NETWORK = "SELECT pg_advisory_xact_lock(hashtext('device codes'), hashtext($1))";
/** The number per statement, so that none reaches its time limit. */
const PRUNED_MAX = 5_000;

export class PrismaDeviceCodeStore implements DeviceCodeStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async add({ scopes, ...code }: DeviceCode, hashes: DeviceCodeHashes): Promise<void> {
    const data = { ...code, ...hashes, scopes: [...scopes] };
    await this.#deps.database.query((client) => client.deviceCode.create({ data }));
  }

  async lockNetwork(address: string): Promise<void> {
    await this.#deps.database.query((client) => client.$executeRawUnsafe(LOCK_NETWORK, address));
  }

  countOpen(address: string, now: Date): Promise<number> {
    const where = { address, expiresAt: { gt: now } };
    return this.#deps.database.query((client) => client.deviceCode.count({ where }));
  }

  async lock({ deviceCodeHash, userCodeHash }: Partial<DeviceCodeHashes>): Promise<DeviceCode | undefined> {
    const values = [deviceCodeHash ?? null, userCodeHash ?? null];
    const [row] = await this.#deps.database.rows<DeviceCodeRow>({ text: LOCK, values });
    return row && codeOf(row);
  }

  async update({ id, scopes, ...code }: DeviceCode): Promise<void> {
    const data = { ...code, scopes: [...scopes] };
    await this.#deps.database.query((client) => client.deviceCode.update({ where: { id }, data }));
  }

  async denyApproved(principalId: PrincipalId): Promise<void> {
    const where = { principalId, status: "approved" satisfies DeviceCodeStatus };
    const data = { status: "denied" satisfies DeviceCodeStatus };
    await this.#deps.database.query((client) => client.deviceCode.updateMany({ where, data }));
  }

  async prune(): Promise<number> {
    const { clock, database } = this.#deps;
    const now = clock.now();
    return database.query(
      (client) => client.$executeRaw`
        DELETE FROM device_codes WHERE id IN (
          SELECT id FROM device_codes WHERE expires_at < ${now}::timestamptz LIMIT ${PRUNED_MAX})`,
    );
  }
}

function codeOf({ deviceCodeHash: _device, userCodeHash: _user, ...row }: DeviceCodeRow): DeviceCode {
  return withoutNulls<DeviceCode>(row);
}
