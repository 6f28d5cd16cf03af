import type { PrincipalId } from "../ids.ts";

/** A user or a service account: whoever a run, a follow-up or a key belongs to. */
export interface Principal {
  readonly id: PrincipalId;
  readonly type: "user" | "service_account";
  readonly displayName?: string;
  readonly email?: string;
  readonly photoUrl?: string;
  readonly administrator: boolean;
}
