import type { PrincipalId, TeamId } from "../../basics/ids.ts";
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
