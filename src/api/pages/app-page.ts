import { randomBytes } from "node:crypto";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ApiLimits } from "../http/api-limits.ts";
import { pagePolicy } from "../http/security-headers.ts";
import { APP_DIRECTORY } from "./built-app.ts";
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
export async function addApp(
  server: FastifyInstance,
  html: string,
  { attachmentBytes, attachmentsBytes }: Pick<ApiLimits, "attachmentBytes" | "attachmentsBytes">,
): Promise<AppPage> {
  await server.register(staticFiles, {
    root: `${APP_DIRECTORY}app/`,
    prefix: "/app/",
    index: false,
    decorateReply: false,
    immutable: true,
    maxAge: "365d",
    preCompressed: true,
  });
  const fileBytes = `${attachmentBytes} ${attachmentsBytes}`;
  return {
    send(reply, visitor, runId = "") {
      const nonce = randomBytes(16).toString("base64url");
      return reply
        .header("content-security-policy", pagePolicy(nonce))
        .send(fill(html, { nonce, visitor, runId, fileBytes }));
    },
  };
}
