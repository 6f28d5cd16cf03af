import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import packageJson from "../../../package.json" with { type: "json" };

export const APP_DIRECTORY = fileURLToPath(new URL("../../../web/dist/", import.meta.url));

/** The text of `index.html` of the built app, or undefined if the app was not built. */
export function readApp(): Promise<string | undefined> {
  return readFile(`${APP_DIRECTORY}index.html`, "utf8").catch(() => undefined);
}

const REMEDY =
  "Run npm ci without --omit=dev, and start again. npm prune --omit=dev then removes what only the build needs.";

export interface AppProblem {
  readonly message: string;
  readonly remedy: string;
}

/** What is wrong with the built app. Undefined: nothing. */
export async function findPagesProblem(): Promise<AppProblem | undefined> {
  return problemOfApp(await readApp());
}

export function problemOfApp(html: string | undefined): AppProblem | undefined {
  if (html === undefined) {
    return { message: "The pages are not built.", remedy: REMEDY };
  }
  const [, version = "an earlier version"] = /name="errand-version" content="([^"]*)"/.exec(html) ?? [];
  return version === packageJson.version
    ? undefined
    : {
        message: `The pages are those of ${version}, and the server is ${packageJson.version}.`,
        remedy: REMEDY,
      };
}
