import type { PrincipalId } from "../../basics/ids.ts";
import type { AuditContext } from "../../model/people/audit.ts";

/** A variable of an adapter that is stored, without its value. */
export interface AdapterSetting {
  /** The name of the variable. */
  readonly name: string;
  readonly adapter: string;
  readonly updatedAt: Date;
  readonly updatedBy: PrincipalId;
}

/** Who stores settings, and what the audit log says about that. */
export interface SettingsAuthor {
  readonly principalId: PrincipalId;
  readonly audit: AuditContext;
}

/**
 * The variables of adapters that an operator stored through the server. All processes use them in the place of
 * variables that they do not have. A change restarts the application in each process.
 */
export interface AdapterSettings {
  list(): Promise<readonly AdapterSetting[]>;
  /** The stored values of an adapter, by the names of the variables. */
  read(adapter: string): Promise<Readonly<Record<string, string>>>;
  /** Values by the names of the variables. Those of other names stay. */
  put(adapter: string, values: Readonly<Record<string, string>>, author: SettingsAuthor): Promise<void>;
  /** Deletes all settings of the adapter. */
  remove(adapter: string, author: SettingsAuthor): Promise<void>;
}

/** What a sealed setting is bound to. */
export function settingOwner(name: string): string {
  return `adapter setting ${name}`;
}
