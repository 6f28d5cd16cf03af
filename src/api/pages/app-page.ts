import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { pagePolicy } from "../http/security-headers.ts";
import { fill } from "./page-files.ts";

/** What the app may do for its visitor. A viewer or editor is the guest of a share link and has no account. */
export type VisitorKind = "member" | "viewer" | "editor";

export interface AppPage {
  /** Sends the app. `runId` is the run that the address shows, if any. */
  send(reply: FastifyReply, visitor: VisitorKind, runId?: string): FastifyReply;
}

/**
 * Serves the files of the app. Their names contain a hash of their content, so browsers may keep them. The build has
 * compressed them. Each page has a nonce for the styles that its components add.
 */
export async function addApp(server: FastifyInstance, html: string): Promise<AppPage> {
  await server.register(staticFiles, {
    root: `${APP_DIRECTORY}app/`,
    prefix: "/app/",
    index: false,
    decorateReply: false,
    immutable: true,
    maxAge: "365d",
    preCompressed: true,
  });
  return {
    send(reply, visitor, runId = "") {
      const nonce = randomBytes(16).toString("base64url");
      return reply
        .header("content-security-policy", pagePolicy(nonce))
        .send(fill(html, { nonce, visitor, runId }));
    },
  };
}

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
