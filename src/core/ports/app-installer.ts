import type { Installer, UnconnectedWorkspace } from "./stores/app-installations.ts";

/** Installs the app of a platform in workspaces, from the browser of an administrator. */
export interface AppInstaller {
  readonly adapter: string;
  /** The platform's name. */
  readonly title: string;
  /** The address of the page on which the platform asks where to install the app. */
  begin(by: Installer, redirectUri: string): Promise<string>;
  /**
   * Completes the attempt with the address by which the browser came back, and returns the name of the workspace. Throws
   * an AppError whose message is for the person.
   */
  finish(callback: URL, by: Installer): Promise<string>;
  /** As in `AppInstallations`. */
  listUnconnected(): Promise<readonly UnconnectedWorkspace[]>;
}
