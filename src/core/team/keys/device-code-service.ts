import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, type DeviceCodeReason } from "../../basics/errors.ts";
import { newId } from "../../basics/ids.ts";
import { hasScope, type KeyHolder, type Scope } from "../../model/people/api-key.ts";
import type { DeviceCode, DeviceCodeHashes, DeviceCodeStatus } from "../../model/people/device-code.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { type IssuedKey, KeyService, type MadeKey } from "./key-service.ts";

export interface DeviceCodeDeps {
  readonly storage: Pick<Storage, "deviceCodes" | "keys" | "people" | "teams">;
  readonly clock: Clock;
  readonly makeKey: () => MadeKey;
}

export type NewDeviceCode = Pick<DeviceCode, "clientName" | "address"> & DeviceCodeHashes;

/** How long the user has to enter the code. */
export const DEVICE_CODE_MS = 10 * 60_000;
const INTERVAL_SECONDS = 5;
/** By how much the interval grows each time the program asks too early. */
const SLOW_DOWN_SECONDS = 5;
const INTERVAL_MAX_SECONDS = 60;
/** The codes of one network at a time. */
const OPEN_MAX = 30;
/** Clocks and networks are not exact. */
const EARLY_MS = 500;

const KEY_MS = 90 * 24 * 3_600_000;
/** The key never administers, even if the person does: a program that needs that gets a key by hand. */
const GRANTED: readonly Scope[] = ["runs:write", "settings:write"];

/** What the program's key will allow if this person approves. */
export function grantedBy(holder: KeyHolder): readonly Scope[] {
  const whole = GRANTED.filter((scope) => hasScope(holder, scope));
  const reading: readonly Scope[] = ["runs:read", "settings:read"];
  return whole.length > 0 ? whole : reading.filter((scope) => hasScope(holder, scope));
}

/** Why a program gets no key yet, or none at all. */
type Refusal = { readonly refused: DeviceCodeReason };

/**
 * Gives programs without a browser a key (RFC 8628). Each method runs inside a transaction of its own, so that a code
 * is decided once and used once.
 */
export class DeviceCodeService {
  readonly #deps: DeviceCodeDeps;

  constructor(deps: DeviceCodeDeps) {
    this.#deps = deps;
  }

  /** Undefined if too many programs of this network wait already. */
  async create({ address, clientName, ...hashes }: NewDeviceCode): Promise<DeviceCode | undefined> {
    const { clock, storage } = this.#deps;
    const createdAt = clock.now();
    const isFull = async () => (await storage.deviceCodes.countOpen(address, createdAt)) >= OPEN_MAX;
    // The first count refuses most requests of a flood before they wait for the lock.
    if (await isFull()) {
      return undefined;
    }
    await storage.deviceCodes.lockNetwork(address);
    if (await isFull()) {
      return undefined;
    }
    const code: DeviceCode = {
      id: newId(createdAt),
      clientName,
      address,
      status: "pending",
      interval: INTERVAL_SECONDS,
      scopes: [],
      createdAt,
      expiresAt: new Date(createdAt.getTime() + DEVICE_CODE_MS),
    };
    await storage.deviceCodes.add(code, hashes);
    return code;
  }

  /** The program that shows this user code, if it still waits. */
  async find(userCodeHash: string): Promise<DeviceCode | undefined> {
    const { clock, storage } = this.#deps;
    const code = await storage.deviceCodes.lock({ userCodeHash });
    return code?.status === "pending" && code.expiresAt > clock.now() ? code : undefined;
  }

  /** Decides for the holder. Undefined if the code no longer waits. */
  async decide(
    holder: KeyHolder,
    userCodeHash: string,
    status: Extract<DeviceCodeStatus, "approved" | "denied">,
  ): Promise<DeviceCode | undefined> {
    const code = await this.find(userCodeHash);
    if (code === undefined) {
      return undefined;
    }
    const { key, principal } = holder;
    const decided: DeviceCode = {
      ...code,
      status,
      teamId: principal.teamId,
      principalId: principal.id,
      ...defined({ keyId: key ? key.id : undefined }),
      scopes: status === "approved" ? grantedBy(holder) : [],
    };
    await this.#deps.storage.deviceCodes.update(decided);
    return decided;
  }

  /**
   * Returns the key once the person has approved, and otherwise the reason why there is none. A refusal is returned,
   * not thrown, because the time of the request must be stored.
   */
  async exchange(deviceCodeHash: string): Promise<IssuedKey | Refusal> {
    const { clock, storage } = this.#deps;
    const code = await storage.deviceCodes.lock({ deviceCodeHash });
    const now = clock.now();
    if (code === undefined || code.status === "used" || code.expiresAt <= now) {
      return { refused: "expired_token" };
    }
    if (code.status === "denied") {
      return { refused: "access_denied" };
    }
    if (isEarly(code, now)) {
      const interval = Math.min(code.interval + SLOW_DOWN_SECONDS, INTERVAL_MAX_SECONDS);
      await storage.deviceCodes.update({ ...code, interval, lastPolledAt: now });
      return { refused: "slow_down" };
    }
    if (code.status === "pending") {
      await storage.deviceCodes.update({ ...code, lastPolledAt: now });
      return { refused: "authorization_pending" };
    }
    await storage.deviceCodes.update({ ...code, status: "used", lastPolledAt: now });
    return (await this.#issue(code, now)) ?? { refused: "access_denied" };
  }

  /** Undefined if the person may no longer give the key. */
  async #issue({ clientName, keyId, principalId, scopes }: DeviceCode, now: Date) {
    const { keys, people } = this.#deps.storage;
    const [principal] = principalId === undefined ? [] : await people.getMany([principalId]);
    if (principal === undefined || principal.disabled) {
      return undefined;
    }
    const key =
      keyId === undefined ? undefined : (await keys.list(principal.teamId)).find(({ id }) => id === keyId);
    if (keyId !== undefined && (key === undefined || !(await isUsable(keys, keyId)))) {
      return undefined;
    }
    const wanted = new Date(now.getTime() + KEY_MS);
    const end = key?.expiresAt !== undefined && key.expiresAt < wanted ? key.expiresAt : wanted;
    const holder = defined({ principal, scopes, key });
    return new KeyService(this.#deps).create(holder, { name: clientName, scopes, expiresAt: end });
  }
}

function isEarly({ interval, lastPolledAt }: DeviceCode, now: Date): boolean {
  return lastPolledAt !== undefined && now.getTime() - lastPolledAt.getTime() < interval * 1_000 - EARLY_MS;
}

async function isUsable(keys: Storage["keys"], id: string): Promise<boolean> {
  return keys.requireAlive(id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === "authentication_required") {
        return false;
      }
      throw error;
    },
  );
}
