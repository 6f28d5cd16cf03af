import type { WebClient, WebClientOptions } from "@slack/web-api";
import { AppError } from "../../core/basics/errors.ts";
import type { RequestFile } from "../../core/model/workspaces/input-file.ts";
import type { GatheredContext, MessageFile } from "../../core/ports/thread-adapter.ts";
import { callSlack } from "./client.ts";
import { FILE_BY_ID, parseFile } from "./incoming-message.ts";

/** The limits of a request over the API. */
const FILES_MAX = 5;
const FILE_BYTES_MAX = 10 * 1024 * 1024;
const DOWNLOAD_TIMEOUT_MS = 10_000;
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export interface DownloadDeps {
  readonly apiUrl: string;
  readonly botToken: string;
  readonly fetch?: WebClientOptions["fetch"];
}

/** Downloads the files of a message with the bot's token. What is not read is named with the reason. */
export async function readFiles(
  files: readonly MessageFile[],
  deps: DownloadDeps & { readonly client: WebClient },
): Promise<Pick<Required<GatheredContext>, "files" | "unread">> {
  const found = await Promise.all(
    files.map((file, index) => (index < FILES_MAX ? findAndDownload(file, deps) : TOO_MANY)),
  );
  return {
    files: found.filter((one) => typeof one !== "string"),
    unread: files.flatMap(({ name }, index) => {
      const reason = found[index];
      return typeof reason === "string" ? [`I did not read the file ${name}: ${reason}`] : [];
    }),
  };
}

async function findAndDownload(
  file: MessageFile,
  deps: DownloadDeps & { readonly client: WebClient },
): Promise<RequestFile | string> {
  if (file.address?.startsWith(FILE_BY_ID) !== true) {
    return download(file, deps);
  }
  try {
    const call = deps.client.files.info({ file: file.address.slice(FILE_BY_ID.length) });
    return await download(parseFile((await callSlack("files.info", call)).file), deps);
  } catch (error) {
    if (error instanceof AppError) {
      return error.message;
    }
    throw error;
  }
}

/** The file, or why it cannot be read. */
async function download(file: MessageFile, deps: DownloadDeps): Promise<RequestFile | string> {
  const { address, mimeType = "application/octet-stream", name, problem, sizeBytes = 0 } = file;
  if (problem !== undefined) {
    return problem;
  }
  if (address === undefined || !isOfSlack(address, deps.apiUrl)) {
    return "Slack does not store it.";
  }
  if (sizeBytes > FILE_BYTES_MAX) {
    return TOO_LARGE;
  }
  const { fetch = globalThis.fetch } = deps;
  try {
    const answer = await fetch(address, {
      headers: { authorization: `Bearer ${deps.botToken}` },
      redirect: "error",
      signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS),
    });
    // Without the scope, Slack answers with its sign-in page.
    const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true;
    if (!answer.ok || (isPage && mimeType !== "text/html")) {
      return "Slack did not give it. The app may lack the scope files:read.";
    }
    const declared = Number(answer.headers.get("content-length") ?? 0);
    const bytes = declared > FILE_BYTES_MAX ? undefined : new Uint8Array(await answer.arrayBuffer());
    return bytes === undefined || bytes.length > FILE_BYTES_MAX
      ? TOO_LARGE
      : { kind: IMAGES.has(mimeType) ? "image" : "attachment", fileName: name, mimeType, bytes };
  } catch {
    return "Slack gave no answer.";
  }
}

const TOO_MANY = `only ${FILES_MAX} files are read.`;
const TOO_LARGE = `it is larger than ${FILE_BYTES_MAX / 1024 / 1024} MB.`;

/** Tokens and files go to Slack only: to the host of the API, and to other hosts of Slack's domains. */
export function isOfSlack(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) {
    return false;
  }
  const [file, api] = [new URL(address), new URL(apiUrl)];
  if (file.host === api.host && file.protocol === api.protocol) {
    return true;
  }
  return file.protocol === "https:" && /(^|\.)slack(-gov|-files)?\.com$/.test(file.hostname);
}
