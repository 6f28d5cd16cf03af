/** What an operator's token lets this server do on the platform. */
export interface ConfigurationTokens {
  readonly token: string;
  /** Replaces the token when it has expired. */
  readonly refreshToken: string;
}

export interface ManagedApp {
  readonly appId: string;
  readonly change: "created" | "updated" | "unchanged";
  /** Whether workspaces get the change only when the app is installed there again. */
  readonly needsInstall: boolean;
}

/** Creates the app of a platform for this server and updates it, with a token of an operator. */
export interface AppManager {
  readonly adapter: string;
  /**
   * Creates the app, or updates it to what this version needs without removing what was added to it. Without `tokens`,
   * the stored ones are used. `store` keeps settings of the adapter, also those of a call that fails later. Throws an
   * AppError whose message is for the person.
   */
  apply(
    stored: Readonly<Record<string, string>>,
    store: (settings: Readonly<Record<string, string>>) => Promise<void>,
    tokens?: ConfigurationTokens,
  ): Promise<ManagedApp>;
}
