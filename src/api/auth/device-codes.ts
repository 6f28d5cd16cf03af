import type { Clock } from "../../core/basics/clock.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { DeviceCodeService } from "../../core/team/keys/device-code-service.ts";
import { type KeyHasher, makeKey } from "./api-keys.ts";

/** The service on the stores of one transaction. */
export function deviceCodesOn(
  { clock, hashKey }: { readonly clock: Clock; readonly hashKey: KeyHasher },
  storage: Storage,
): DeviceCodeService {
  return new DeviceCodeService({ storage, clock, makeKey: () => makeKey(hashKey) });
}
