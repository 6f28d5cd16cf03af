import type { Installer } from "./stores/app-installations.ts";

/** A form that a browser posts to a platform. */
export interface PlatformForm {
  readonly url: URL;
  readonly fields: Readonly<Record<string, string>>;
}

/** What the platform gave to its new app. */
export interface CreatedApp {
  readonly name: string;
  /** The variables of the adapter. */
  readonly settings: Readonly<Record<string, string>>;
  /** The platform's page that installs the app. */
  readonly installUrl: URL;
}

/** Creates the app of a platform for this server, from the browser of an operator. */
export interface AppCreator {
  readonly adapter: string;
  /** The platform's name. */
  readonly title: string;
  /**
   * The form that leads to the platform. `choices`: what the operator entered in the inputs of the guide. Throws an
   * AppError whose message is for the person.
   */
  begin(by: Installer, choices: Readonly<Record<string, string>>, callbackUrl: string): Promise<PlatformForm>;
  /** Completes the attempt with the address by which the browser came back. Throws as `begin` does. */
  finish(callback: URL, by: Installer): Promise<CreatedApp>;
}
