import type { FilesCompleteUploadExternalArguments, WebClient } from "@slack/web-api";
import { AppError } from "../../core/basics/errors.ts";
import type { AttachedFile, Notice } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { parseReceipt, parseThreadKey, type Shown } from "./addresses.ts";
import { callSlack } from "./client.ts";
import { defuseLine, defuseMrkdwn } from "./defuse.ts";
import { refusalClassOf, slackCodeOf } from "./errors.ts";
import { type DownloadDeps, isOfSlack } from "./message-files.ts";
import type { Posts } from "./posts.ts";
import { render } from "./render.ts";

const UPLOAD_TIMEOUT_MS = 30_000;
const MAX_NAME = 200;
const MAX_COMMENT = 500;

/** What Slack does not allow, in words. */
const REASONS: Readonly<Record<string, string>> = {
  missing_scope:
    "the app lacks the scope files:write. Reinstall it with the scopes of the adapter's manifest",
  file_uploads_disabled: "the workspace allows no uploads",
  file_upload_size_restricted: "the workspace allows no files of this size",
  storage_limit_reached: "the workspace has no space left",
  file_type_not_allowed: "the workspace does not allow this type of file",
};

type FilesDelivery = Delivery & { readonly notice: Extract<Notice, { readonly kind: "message" }> };

export interface UploadDeps extends Pick<DownloadDeps, "apiUrl" | "fetch"> {
  readonly client: WebClient;
  readonly posts: Posts;
  readBlob(id: string): Promise<Uint8Array>;
}

/** Shows files in threads: https://docs.slack.dev/messaging/working-with-files/#uploading_files */
export class Uploads {
  readonly #deps: UploadDeps;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
  }

  /** Uploads the files once, in one message. What Slack does not allow is said in their place. */
  async show(delivery: FilesDelivery, files: readonly AttachedFile[]): Promise<Shown> {
    const { maybeShown, shownAt, thread } = delivery;
    if (shownAt !== undefined) {
      return parseReceipt(shownAt);
    }
    const { posts } = this.#deps;
    const comment = commentOf(delivery);
    const earlier = maybeShown ? await posts.findFiles(thread.key, comment, files.length) : undefined;
    try {
      return earlier ?? (await this.#share(delivery, comment, await this.#upload(files)));
    } catch (error) {
      const reason = REASONS[slackCodeOf(error) ?? ""];
      const isFinal = reason !== undefined || (error instanceof AppError && error.retryable === false);
      // A channel that accepts no files accepts no text either.
      if (!isFinal || refusalClassOf(error) === "channel") {
        throw error;
      }
      return this.#say(delivery, reason ?? "Slack refused them");
    }
  }

  async #upload(files: readonly AttachedFile[]): Promise<{ id: string; title: string }[]> {
    const uploaded: { id: string; title: string }[] = [];
    for (const { blobId, name } of files) {
      const bytes = await this.#deps.readBlob(blobId);
      const title = defuseLine(name, MAX_NAME);
      const { client } = this.#deps;
      const call = client.files.getUploadURLExternal({ filename: title, length: bytes.length });
      const { file_id: id, upload_url: url } = await callSlack("files.getUploadURLExternal", call);
      if (id === undefined || url === undefined) {
        throw new AppError("resource_unavailable", "Slack gave no address for an upload.");
      }
      await this.#send(url, bytes, title);
      uploaded.push({ id, title });
    }
    return uploaded;
  }

  async #send(url: string, bytes: Uint8Array, name: string): Promise<void> {
    const { apiUrl, fetch = globalThis.fetch } = this.#deps;
    if (!isOfSlack(url, apiUrl)) {
      throw new AppError("invalid_request", "Slack named an address for an upload that is not its own.");
    }
    const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
    const body = new FormData();
    body.append("file", new Blob([Buffer.from(bytes)]), name);
    const request = { method: "POST", body, redirect: "error", signal } as const;
    const answer = await fetch(url, request).catch((cause: unknown) => {
      throw new AppError("resource_unavailable", "Slack gave no answer to an upload.", { cause });
    });
    if (!answer.ok) {
      const message = `Slack answered an upload with HTTP ${answer.status}.`;
      throw new AppError("resource_unavailable", message, { retryable: answer.status >= 500 });
    }
  }

  async #share(
    { thread }: FilesDelivery,
    comment: string,
    files: { id: string; title: string }[],
  ): Promise<Shown> {
    const { channel, threadTs } = parseThreadKey(thread.key);
    const inThread = threadTs === undefined ? {} : { thread_ts: threadTs };
    const share = { files, channel_id: channel, initial_comment: comment, ...inThread };
    const call = this.#deps.client.files.completeUploadExternal(
      share as FilesCompleteUploadExternalArguments,
    );
    await callSlack("files.completeUploadExternal", call);
    // Slack shares files a moment later, and only then gives the message a time stamp.
    return { channel, ts: "" };
  }

  async #say(delivery: FilesDelivery, reason: string): Promise<Shown> {
    const { id, maybeShown, notice } = delivery;
    const { attached: _files, ...words } = notice;
    const text = `I could not upload the files of this turn: ${reason}. They are on the page of the run.`;
    const said = { ...delivery, notice: { ...words, text } };
    const [rendered] = render({ id, notice: said.notice });
    const { posts } = this.#deps;
    const [earlier] = maybeShown ? await posts.find(said, [rendered.marker]) : [];
    return earlier ?? posts.create(said, rendered);
  }
}

/** It names the turn, by which the message is found again. */
function commentOf({ notice }: FilesDelivery): string {
  return defuseMrkdwn(notice.text, MAX_COMMENT);
}
