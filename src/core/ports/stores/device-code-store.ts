import type { PrincipalId } from "../../basics/ids.ts";
import type { DeviceCode, DeviceCodeHashes } from "../../model/people/device-code.ts";

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
