import { isThere } from "./trouble.ts";

const RELOADED = "errand.reloaded";

/**
 * Loads a part of the app. After an upgrade the server no longer has the parts of the version that this page began with.
 * The page then loads itself again, once for each part.
 */
export async function load<Module>(importPart: () => Promise<Module>): Promise<Module> {
  try {
    return await importPart();
  } catch (error) {
    const part = String(error);
    if (sessionStorage.getItem(RELOADED) !== part && (await isThere())) {
      sessionStorage.setItem(RELOADED, part);
      window.location.reload();
      return new Promise(() => undefined);
    }
    // The router would reload the page again for an error of the browser.
    throw new Error("A part of this page could not be loaded.", { cause: error });
  }
}
