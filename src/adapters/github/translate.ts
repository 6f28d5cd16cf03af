import type { EmitterWebhookEvent } from "@octokit/webhooks";
import { AppError } from "../../core/errors.ts";
import type { InboundMessage, InboxEvent, Translation } from "../../core/threads/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import { hasMention, visibleMarkdown, withoutMention } from "./mention.ts";
import { messageRefOf } from "./message-ref.ts";
import { oneLine, visibleText } from "./plain-text.ts";
import { type Account, type Posting, readPosting } from "./posting.ts";
import { threadKeyOf } from "./thread-key.ts";

const MAX_CONTEXT_BYTES = 64 * 1024;
const MAX_SUBJECT = 256;
const CUT = "\n[cut]";

/** Whom people address, and who we are when we write ourselves. */
export interface Addressee {
  readonly name: string;
  readonly appId: number;
}

/** What a stored event means. Looks at nothing but the event: what was signed is what counts. */
export async function translate(event: InboxEvent, addressee: Addressee): Promise<Translation> {
  const { deliveryId: id, name, body } = event;
  try {
    // GitHub's signature vouches for the shape, which is that of the types; what differs nevertheless fails here.
    const posting = await readPosting({ id, name, payload: JSON.parse(body) } as EmitterWebhookEvent);
    return posting
      ? evaluatePolicies(posting, addressee)
      : ignored(`${name} is no event by which somebody addresses us.`);
  } catch (cause) {
    throw new AppError("invalid_request", `GitHub's ${name} event could not be read.`, {
      cause,
      retryable: false,
    });
  }
}

function evaluatePolicies(posting: Posting, addressee: Addressee): Translation {
  const reason = reasonToIgnore(posting, addressee);
  if (reason !== undefined) return ignored(reason);
  const { installationId: installation } = posting;
  if (installation === undefined) return ignored("It did not come from an installation of the App.");
  const actor = actorOf(posting);
  if (!actor) return ignored("It was posted by somebody other than its writer.");
  return { kind: "message", message: messageOf(posting, { actor, installation, addressee }) };
}

/** An edit is ordered by its editor. A new posting by its writer alone: a transferred issue is opened by another. */
function actorOf({ action, writer, sender }: Posting): Account | undefined {
  if (action === "edited") return sender;
  return writer?.id === sender?.id ? sender : undefined;
}

function reasonToIgnore(posting: Posting, { name, appId }: Addressee): string | undefined {
  if (posting.viaAppId === appId) return "It was written by this App.";
  if (posting.sender?.type === "Bot" || posting.writer?.type === "Bot") return "It was written by a bot.";
  if (!isAddressed(posting, name)) return `It does not mention @${name}.`;
  if (posting.before && wasAddressed(posting, name)) return `It mentioned @${name} before this edit.`;
  return undefined;
}

function isAddressed({ title = "", body }: Posting, name: string): boolean {
  return hasMention(title, name) || hasMention(body, name);
}

function wasAddressed(posting: Posting, name: string): boolean {
  return isAddressed({ ...posting, ...posting.before }, name);
}

function messageOf(
  posting: Posting,
  { actor, installation, addressee }: { actor: Account; installation: number; addressee: Addressee },
): InboundMessage {
  const { id, kind, repository, subject, reviewCommentId } = posting;
  return {
    adapter: "github",
    installation: String(installation),
    key: threadKeyOf({
      repositoryId: repository.id,
      number: subject.number,
      ...(reviewCommentId === undefined ? {} : { reviewCommentId }),
    }),
    place: repository.fullName,
    meaning: meaningOf(posting, installation),
    addressed: "mention",
    author: { subject: `github:${actor.id}`, displayName: actor.login },
    text: wordsOf(posting, addressee.name),
    context: contextOf(posting),
    subject: oneLine(subject.title, MAX_SUBJECT),
    messageRef: messageRefOf({ kind, id }),
    permalink: posting.permalink,
    provenance: provenanceOf(posting, { actor, installation }),
  };
}

/** The delivery id is not signed, the content is: a replayed body is the same message under whatever id. */
function meaningOf(posting: Posting, installation: number): string {
  return ["github", installation, posting.kind, posting.id, posting.action, contentHash(posting)].join(":");
}

function wordsOf({ title, body }: Posting, name: string): string {
  const words = title !== undefined && !hasMention(body, name) ? `${title}\n\n${body}` : body;
  return withoutMention(words, name);
}

/** What stands around the words. Of an issue that is itself the message, no more than its title. */
function contextOf({ subject, title, place }: Posting): string {
  const name = subject.kind === "issue" ? "Issue" : "Pull request";
  const heading = `${name} #${subject.number}: ${oneLine(subject.title, MAX_SUBJECT)}`;
  const code = place && `On ${place.path}${place.line ? `, line ${place.line}` : ""}:\n${place.diffHunk}`;
  const body = title === undefined ? subject.body : "";
  const pieces = [heading, visibleText(code ?? ""), visibleMarkdown(body).trim()];
  return bounded(pieces.filter((piece) => piece !== "").join("\n\n"));
}

function bounded(text: string): string {
  if (Buffer.byteLength(text) <= MAX_CONTEXT_BYTES) return text;
  const room = MAX_CONTEXT_BYTES - CUT.length;
  return `${Buffer.from(text)
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, "")}${CUT}`;
}

function provenanceOf(
  posting: Posting,
  { actor, installation }: { actor: Account; installation: number },
): InboundMessage["provenance"] {
  const { id, kind, action, repository, subject, commit } = posting;
  return {
    integration: "github",
    installation,
    repository: { id: repository.id, full_name: repository.fullName },
    actor: { id: actor.id, login: actor.login },
    message_ids: [id],
    content_hash: contentHash(posting),
    object: { kind, id, action, in: subject.kind, number: subject.number },
    ...(commit === undefined ? {} : { commit }),
  };
}

function ignored(reason: string): Translation {
  return { kind: "ignored", reason };
}
