import type { PrincipalId } from "../../../../src/core/basics/ids.ts";
import type { DeviceCode, DeviceCodeHashes } from "../../../../src/core/model/people/device-code.ts";
import type { DeviceCodeStore } from "../../../../src/core/ports/stores/sign-in-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemoryDeviceCodeStore implements DeviceCodeStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(code: DeviceCode, hashes: DeviceCodeHashes): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.deviceCodes.set(code.id, { ...code, ...hashes });
    });
  }

  /** Transactions of this fake always run one after another. */
  async lockNetwork(): Promise<void> {}

  countOpen(address: string, now: Date): Promise<number> {
    return this.#database.read(
      ({ deviceCodes }) =>
        deviceCodes
          .values()
          .filter((code) => code.address === address && code.expiresAt > now)
          .toArray().length,
    );
  }

  lock(which: Partial<DeviceCodeHashes>): Promise<DeviceCode | undefined> {
    return this.#database.read(({ deviceCodes }) => {
      const stored = deviceCodes
        .values()
        .find(
          ({ deviceCodeHash, userCodeHash }) =>
            deviceCodeHash === which.deviceCodeHash || userCodeHash === which.userCodeHash,
        );
      const { deviceCodeHash: _device, userCodeHash: _user, ...code } = stored ?? {};
      return stored && (code as DeviceCode);
    });
  }

  update(code: DeviceCode): Promise<void> {
    return this.#database.transaction(({ tables: { deviceCodes } }) => {
      const stored = deviceCodes.get(code.id);
      if (stored !== undefined) {
        deviceCodes.set(code.id, { ...stored, ...code });
      }
    });
  }

  denyApproved(principalId: PrincipalId): Promise<void> {
    return this.#database.transaction(({ tables: { deviceCodes } }) => {
      for (const [id, code] of deviceCodes) {
        if (code.principalId === principalId && code.status === "approved") {
          deviceCodes.set(id, { ...code, status: "denied" });
        }
      }
    });
  }

  prune(): Promise<number> {
    return this.#database.transaction(({ tables: { deviceCodes }, now }) => {
      const expired = [...deviceCodes].filter(([, { expiresAt }]) => expiresAt.getTime() < now);
      return expired.filter(([id]) => deviceCodes.delete(id)).length;
    });
  }
}
