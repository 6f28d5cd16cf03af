import type { PrincipalId, TeamId } from "../ids.ts";
import type { Scope } from "./api-key.ts";

export const DEVICE_CODE_STATUSES = ["pending", "approved", "denied", "used"] as const;
export type DeviceCodeStatus = (typeof DEVICE_CODE_STATUSES)[number];

/**
 * A program that waits for a key. It holds the device code and shows the user code, which a signed-in person enters
 * in the browser. Neither code is stored.
 */
export interface DeviceCode {
  readonly id: string;
  /** What the program calls itself. */
  readonly clientName: string;
  /** The network that requested the codes. */
  readonly address: string;
  readonly status: DeviceCodeStatus;
  /** The seconds that the program must wait between two requests. */
  readonly interval: number;
  readonly lastPolledAt?: Date;
  /** Who decided. */
  readonly teamId?: TeamId;
  readonly principalId?: PrincipalId;
  /** The key of the sign-in that decided. */
  readonly keyId?: string;
  /** What the program's key will allow. Empty until a person approves. */
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The stored forms of the two codes. */
export interface DeviceCodeHashes {
  readonly deviceCodeHash: string;
  readonly userCodeHash: string;
}

export interface DeviceCodeStore {
  add(code: DeviceCode, hashes: DeviceCodeHashes): Promise<void>;
  /** Transactions that lock the same network run one after another, so that what they count stays true. */
  lockNetwork(address: string): Promise<void>;
  /** The number of codes of this network that are not expired. */
  countOpen(address: string, now: Date): Promise<number>;
  /** The code with this hash, locked until the transaction ends. */
  lock(which: Partial<DeviceCodeHashes>): Promise<DeviceCode | undefined>;
  update(code: DeviceCode): Promise<void>;
  /** Denies the codes that this principal has approved and whose programs have not got their key. */
  denyApproved(principalId: PrincipalId): Promise<void>;
  /** Deletes expired codes, a limited number at a time, and returns the number. */
  prune(): Promise<number>;
}
