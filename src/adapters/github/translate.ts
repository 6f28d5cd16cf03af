import type { EmitterWebhookEvent } from "@octokit/webhooks";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { RequestKind } from "../../core/model/policies/policy.ts";
import type {
  ButtonAction,
  Deletion,
  InboundMessage,
  InboxEvent,
  Translation,
} from "../../core/ports/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import { type MessageRef, messageRefOf, type ObjectKind, threadKeyOf } from "./addresses.ts";
import { tickedBox } from "./approval-box.ts";
import {
  type Account,
  type DeletedText,
  type IncomingMessage,
  readDeletion,
  readIncomingMessage,
  requireReadable,
} from "./incoming-message.ts";
import { hasMention, isCommand, withoutMention } from "./mention.ts";
import { provenanceOf } from "./provenance.ts";
import type { RepositoryNames } from "./repositories.ts";
import { asksForReview } from "./review/request.ts";
import { oneLine, shownText, visibleText } from "./shown-text.ts";

const MAX_CONTEXT_BYTES = 64 * 1024;
const MAX_SUBJECT = 256;
const CUT = "\n[cut]";
/** GitHub sends a review and its comments one after the other. */
const COLLECT_MS = 3_000;
/** The text of a review whose words all stand in its inline comments. */
const CHANGES_REQUESTED = "A review requests changes. Make the changes that its comments ask for.";
/** The text of a request that has no words. */
const REVIEW = "Review this pull request.";
const PARTS: ReadonlySet<ObjectKind> = new Set(["review", "review_comment"]);

/** The name by which users address the bot, and the App by which it writes. */
export interface Addressee {
  readonly name: string;
  /** The App's account, which opens the pull requests of runs. No other account can have a login with these brackets. */
  readonly login: string;
  readonly appId: number;
  /** The label that asks for work. */
  readonly label: string;
  /** Learns the name of the event's repository. */
  readonly names?: RepositoryNames;
}

/** Translates a stored event into what the user wants. Uses only the signed event and the identity of the bot. */
export function translate(event: InboxEvent, addressee: Addressee): Translation {
  const { deliveryId: id, name, body } = event;
  try {
    // GitHub signed the payload, so it has the shape of the types. An event that differs fails here.
    const received = { id, name, payload: JSON.parse(body) } as EmitterWebhookEvent;
    const deleted = readDeletion(received);
    if (deleted !== undefined) {
      requireReadable(deleted);
      return { kind: "deletion", deletion: deletionOf(deleted) };
    }
    const incoming = readIncomingMessage(received, event.receivedAt);
    if (incoming === undefined) {
      return ignored(`${name} is no event in which a user can address the bot.`);
    }
    requireReadable(incoming);
    learnName(incoming, { ...addressee, at: event.receivedAt });
    return translateMessage(incoming, addressee);
  } catch (cause) {
    throw new AppError("invalid_request", `GitHub's ${name} event could not be read.`, {
      cause,
      retryable: false,
    });
  }
}

/** No version of a text is later than its deletion: versions are times, and digits sort before letters. */
function deletionOf({ installationId, ...ref }: DeletedText): Deletion {
  const installation = String(installationId);
  const messageId = messageIdOf(installation, ref);
  return { adapter: "github", installation, messageId, messageRef: messageRefOf(ref), version: "deleted" };
}

function messageIdOf(installation: string, { id, kind }: MessageRef): string {
  return `github:${installation}/${messageRefOf({ id, kind })}`;
}

function learnName(
  { installationId, repository }: IncomingMessage,
  { at, names }: Pick<Addressee, "names"> & { readonly at: Date },
): void {
  const [owner = "", repo = ""] = repository.fullName.split("/");
  if (installationId === undefined) {
    return;
  }
  const { defaultBranch, id } = repository;
  const installation = String(installationId);
  names?.learn(
    defined({ id, installation, owner, repo, defaultBranch: defaultBranch ? defaultBranch : undefined }),
    at.getTime(),
  );
}

function translateMessage(incoming: IncomingMessage, addressee: Addressee): Translation {
  const isOurs = incoming.writer?.type === "Bot" && incoming.writer.login === addressee.login;
  const ticked = isOurs ? tickedBox(incoming) : undefined;
  if (ticked !== undefined) {
    return approvalOf(incoming, ticked, addressee);
  }
  const reason = reasonToIgnore(incoming, addressee);
  if (reason !== undefined) {
    return ignored(reason);
  }
  const { installationId: installation } = incoming;
  if (installation === undefined) {
    return ignored("It did not come from an installation of the App.");
  }
  const actor = actorOf(incoming);
  if (!actor) {
    return ignored("It was posted by a user other than its writer.");
  }
  return { kind: "message", message: messageOf(incoming, { actor, installation, addressee }) };
}

/** The same box can be ticked again later, with the same text, so its time belongs to the key. */
function approvalOf(
  incoming: IncomingMessage,
  buttonAction: ButtonAction,
  addressee: Addressee,
): Translation {
  const { installationId: installation, sender: actor, updatedAt } = incoming;
  if (installation === undefined || actor === undefined) {
    return ignored("It did not come from an installation of the App.");
  }
  const { dedupeKey, revision: _none, ...message } = messageOf(incoming, { actor, installation, addressee });
  const pressed = { ...message, text: "", buttonAction, dedupeKey: `${dedupeKey}:${updatedAt}` };
  return { kind: "message", message: pressed };
}

/**
 * The author of an edit is the editor, that of a label or a review request the account that made it, otherwise the writer. The sender of a
 * transferred issue is neither.
 */
function actorOf({ action, writer, sender }: IncomingMessage): Account | undefined {
  if (action !== "created") {
    return sender;
  }
  return writer?.id === sender?.id ? sender : undefined;
}

function reasonToIgnore(incoming: IncomingMessage, addressee: Addressee): string | undefined {
  const { name, appId } = addressee;
  if (incoming.label !== undefined) {
    return reasonToIgnoreLabel(incoming, addressee);
  }
  if (incoming.action === "review_requested") {
    return reasonToIgnoreReviewer(incoming, addressee);
  }
  if (incoming.viaAppId === appId) {
    return "It was written by this App.";
  }
  if (incoming.writer?.type === "Bot" && incoming.sender?.type !== "Bot") {
    return "It is the text of a bot, edited by a user.";
  }
  const isAddressedHere = isAddressed(incoming, name) || requestsOurChanges(incoming, addressee);
  if (!isAddressedHere && !isOpenedByOthers(incoming, addressee)) {
    return `It does not mention @${name}.`;
  }
  if (incoming.before && wasAddressed(incoming, name) && !isTextEdited(incoming)) {
    return `It mentioned @${name} before this edit, and its text is the same.`;
  }
  return undefined;
}

/** Only an account can be asked for a review, so the bot is a user whose name the App answers to. */
function reasonToIgnoreReviewer(
  { reviewer, subject }: IncomingMessage,
  { name }: Addressee,
): string | undefined {
  if (reviewer?.toLowerCase() !== name.toLowerCase()) {
    return `The reviewer is not ${name}.`;
  }
  return subject.state === "closed" ? "It is closed." : undefined;
}

/** Policies decide whether it is reviewed. */
function isOpenedByOthers({ action, kind, writer }: IncomingMessage, { login }: Addressee): boolean {
  return (
    kind === "pull_request" && action === "created" && writer?.login.toLowerCase() !== login.toLowerCase()
  );
}

/** GitHub sends an event for each label of a new issue, beside that of its text. */
function reasonToIgnoreLabel(incoming: IncomingMessage, { label, name }: Addressee): string | undefined {
  if (incoming.label?.toLowerCase() !== label.toLowerCase()) {
    return `The label is not ${label}.`;
  }
  if (incoming.subject.state === "closed") {
    return "It is closed.";
  }
  return isAddressed(incoming, name)
    ? `Its text mentions @${name}, which asks for the work already.`
    : undefined;
}

function isAddressed({ title = "", body }: IncomingMessage, name: string): boolean {
  return hasMention(title, name) || hasMention(body, name);
}

/** A review of a pull request of this App asks for work also without a mention. */
function requestsOurChanges({ changesRequestedOf }: IncomingMessage, { login }: Addressee): boolean {
  return changesRequestedOf?.toLowerCase() === login.toLowerCase();
}

function wasAddressed(incoming: IncomingMessage, name: string): boolean {
  return isAddressed({ ...incoming, ...incoming.before }, name);
}

function isTextEdited({ before, ...now }: IncomingMessage): boolean {
  const { body = now.body, title = now.title } = before ?? {};
  return body !== now.body || title !== now.title;
}

function messageOf(
  incoming: IncomingMessage,
  { actor, installation, addressee }: { actor: Account; installation: number; addressee: Addressee },
): InboundMessage {
  const { action, id, kind, repository, subject, reviewCommentId, updatedAt } = incoming;
  // Within one second, an edit has the same time as the text that it replaces, and may arrive first.
  const version = updatedAt && action === "edited" ? `${updatedAt}+edited` : updatedAt;
  const messageId = messageIdOf(String(installation), { kind, id });
  return defined({
    adapter: "github",
    installation: String(installation),
    key: threadKeyOf({ repositoryId: repository.id, number: subject.number }),
    place: repository.fullName,
    dedupeKey: dedupeKeyOf(incoming, installation),
    addressed: "mention",
    requestKind: requestKindOf(incoming, addressee.name),
    asksForReview: subject.kind === "pull_request" ? asksForReviewOf(incoming, addressee.name) : undefined,
    author: defined({
      subject: `github:${actor.id}`,
      displayName: actor.login,
      isBot: actor.type === "Bot" ? true : undefined,
    }),
    text: textOf(incoming, addressee.name),
    context: contextOf(incoming),
    title: oneLine(subject.title, MAX_SUBJECT),
    messageRef: messageRefOf({ kind, id, root: reviewCommentId }),
    collectMs: action === "created" && PARTS.has(kind) ? COLLECT_MS : undefined,
    revision:
      version === undefined || action === "labeled" || action === "review_requested"
        ? undefined
        : { messageId, version, isEdit: action === "edited" },
    permalink: incoming.permalink,
    provenance: provenanceOf(incoming, { actor, installation }),
  });
}

function requestKindOf(incoming: IncomingMessage, name: string): RequestKind {
  if (incoming.label !== undefined) {
    return "label";
  }
  if (incoming.action === "review_requested") {
    return "review_requested";
  }
  if (!isAddressed(incoming, name)) {
    return incoming.kind === "pull_request" ? "pull_request_opened" : "changes_requested";
  }
  if (incoming.title !== undefined) {
    return "description";
  }
  if (incoming.kind === "review") {
    return "review";
  }
  return isCommand(incoming.body, name) ? "command" : "mention";
}

/** The content is signed and the delivery id is not. So a replayed body has the same key under any delivery id. */
function dedupeKeyOf(incoming: IncomingMessage, installation: number): string {
  const { action, id, kind, updatedAt = "" } = incoming;
  // The same label may be put again on the same text.
  const version = action === "labeled" || action === "review_requested" ? [updatedAt] : [];
  return ["github", installation, kind, id, action, ...version, contentHash(incoming)].join(":");
}

/** Without a mention, a pull request that was opened, or whose reviewer the bot is, can only be reviewed. */
function asksForReviewOf(incoming: IncomingMessage, name: string): boolean {
  return isReviewOnly(incoming, name) || asksForReview(textOf(incoming, name));
}

function isReviewOnly(incoming: IncomingMessage, name: string): boolean {
  const { action, kind, label } = incoming;
  const isOpened = kind === "pull_request" && label === undefined && !isAddressed(incoming, name);
  return action === "review_requested" || isOpened;
}

function textOf(incoming: IncomingMessage, name: string): string {
  if (isReviewOnly(incoming, name)) {
    return REVIEW;
  }
  const { changesRequestedOf, title, body } = incoming;
  const words = title !== undefined && !hasMention(body, name) ? `${title}\n\n${body}` : body;
  const text = withoutMention(words, name);
  return text === "" && changesRequestedOf !== undefined ? CHANGES_REQUESTED : text;
}

/** The text around the message. If the message is the issue itself, this is only the title. */
function contextOf({ codeLocation, subject, title }: IncomingMessage): string {
  const name = subject.kind === "issue" ? "Issue" : "Pull request";
  const heading = `${name} #${subject.number}: ${oneLine(subject.title, MAX_SUBJECT)}`;
  const code = codeLocation && quoted(codeLocation);
  const body = title === undefined ? subject.body : "";
  const labels = subject.labels.map((label) => oneLine(label, MAX_SUBJECT)).filter((label) => label !== "");
  const state = [
    ...(subject.state === undefined ? [] : [`State: ${subject.state}`]),
    ...(subject.type === undefined ? [] : [`Type: ${oneLine(subject.type, MAX_SUBJECT)}`]),
    ...(labels.length === 0 ? [] : [`Labels: ${labels.join(", ")}`]),
  ];
  const pieces = [[heading, ...state].join("\n"), visibleText(code ?? ""), shownText(body).trim()];
  return bounded(pieces.filter((piece) => piece !== "").join("\n\n"));
}

function quoted({ path, line, diffHunk }: NonNullable<IncomingMessage["codeLocation"]>): string {
  return `On ${path}${line ? `, line ${line}` : ""}:\n${diffHunk}`;
}

function bounded(text: string): string {
  if (Buffer.byteLength(text) <= MAX_CONTEXT_BYTES) {
    return text;
  }
  const room = MAX_CONTEXT_BYTES - CUT.length;
  return `${Buffer.from(text)
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, "")}${CUT}`;
}

function ignored(reason: string): Translation {
  return { kind: "ignored", reason };
}
