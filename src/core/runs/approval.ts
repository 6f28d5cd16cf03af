import type { Digest } from "../basics/crypto.ts";
import type { PrincipalId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import type { RequiredApproval } from "../model/policies/evaluate-policies.ts";
import { detailsOf, type ExecutedConfig } from "../model/runs/executed-config.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Approval, ApprovalInput, Run, RunDefinition, StatusMessage } from "../model/runs/run.ts";
import { requestOf } from "../model/runs/skill-in-run.ts";
import type { FollowUpFile, InputFile } from "../model/workspaces/input-file.ts";
import type { BlobStore } from "../ports/blob-store.ts";

/** The authors of the inputs, what is executed, and the hash function. */
export interface ApprovalTools {
  readonly digest: Digest;
  /** The principals whose texts are to be approved. They do not approve them. */
  readonly authorIds: readonly PrincipalId[];
  /** What the run would execute. A new approval names it. */
  readonly executes?: ExecutedConfig;
}

/** A new approval that nobody has decided. */
export function newApproval(
  id: string,
  { policyId, reason }: RequiredApproval,
  inputs: readonly ApprovalInput[],
  { authorIds, digest, executes }: ApprovalTools,
): Approval {
  return { id, policyId, reason, ...hashed(inputs, digest, executes), authorIds: [...new Set(authorIds)] };
}

/** The hash covers every text, every name and content of a file, in their order, and all that is executed. */
export function hashed(
  inputs: readonly ApprovalInput[],
  digest: Digest,
  executes: ExecutedConfig | undefined,
): Pick<Approval, "executes" | "inputs" | "inputsHash"> {
  const contents = inputs.map(({ attachments, followUpId, text }) => [
    followUpId ?? null,
    text,
    attachments.map(({ name, sha256 }) => [name, sha256]),
  ]);
  if (executes === undefined) {
    return { inputs, inputsHash: digest(JSON.stringify(contents)) };
  }
  return { inputs, executes, inputsHash: digest(JSON.stringify([contents, detailsOf(executes)])) };
}

/** The texts that a new run gives to its agent, with the digests of its files. */
export async function readRequestInputs(
  run: RunDefinition,
  files: readonly InputFile[],
  blobs: Pick<BlobStore, "sha256">,
): Promise<readonly ApprovalInput[]> {
  const attachments: { name: string; sha256: string }[] = [];
  for (const { blobId, fileName } of files) {
    attachments.push({ name: fileName, sha256: await blobs.sha256(blobId) });
  }
  return requestInputs(run, attachments);
}

/** The request with its files, then the texts that surround it: the thread's text, the base prompt, the skills. */
export function requestInputs(
  run: RunDefinition,
  attachments: ApprovalInput["attachments"],
): readonly ApprovalInput[] {
  const { config, context, skillSnapshot, skillSnapshots = [] } = run;
  const skills = skillSnapshot === undefined ? skillSnapshots : [skillSnapshot, ...skillSnapshots];
  const schema = config.output_schema && JSON.stringify(config.output_schema);
  const others = [context, config.base_prompt, schema, ...skills.map(({ basePrompt }) => basePrompt)];
  const texts = [...new Set(others)].filter((text = "") => text !== "");
  return [{ text: requestOf(run), attachments }, ...texts.map((text = "") => ({ text, attachments: [] }))];
}

/** The text of a follow-up, with the text around it and its files. */
export function followUpInput({
  context,
  files = [],
  id,
  message,
}: Pick<FollowUp, "context" | "id" | "message"> & {
  readonly files?: readonly Omit<FollowUpFile, "path">[];
}): ApprovalInput {
  const text = context === undefined ? message : `${message}\n\n${context}`;
  return { followUpId: id, text, attachments: files.map(({ fileName: name, sha256 }) => ({ name, sha256 })) };
}

/** Who wrote the inputs of an approval. */
export interface InputAuthors {
  readonly authorIds: readonly PrincipalId[];
  /** Whether they are the request of the run, so that its creator, executor and requester count as authors too. */
  readonly isRequest: boolean;
}

/**
 * Why a principal may not approve inputs of this run. Nobody approves their own text, except an administrator. A
 * member in whose name another principal requested the run never approves anything of it.
 */
export function objectionTo(
  { administrator, id }: Pick<Viewer, "administrator" | "id">,
  { creatorId, executorId, requesterId }: Pick<Run, "creatorId" | "executorId" | "requesterId">,
  { authorIds, isRequest }: InputAuthors,
): string | undefined {
  if (requesterId !== undefined && creatorId === id) {
    return "The member in whose name a run was requested does not approve it.";
  }
  const authors = isRequest ? [creatorId, executorId, requesterId, ...authorIds] : authorIds;
  return !administrator && authors.includes(id)
    ? "Only administrators may approve their own words."
    : undefined;
}

/** Whether the run may not start or restart before it is approved. */
export function needsApproval({ approval }: Pick<Run, "approval">): boolean {
  return approval !== undefined && approval.approved !== true;
}

/** Whether the follow-up has an approval of its own that nobody has decided. */
export function isWaitingForApproval({ approval }: Pick<FollowUp, "approval">): boolean {
  return approval !== undefined && approval.approved === undefined;
}

/**
 * The follow-ups that an agent may get: those before the first that waits for approval. An answer to the agent's
 * question contains no text of a person, and is always among them.
 */
export function deliverable<T extends Pick<FollowUp, "approval" | "isAnswer">>(
  waiting: readonly T[],
): readonly T[] {
  const first = waiting.findIndex(isWaitingForApproval);
  return first === -1 ? waiting : waiting.filter(({ isAnswer }, index) => index < first || isAnswer === true);
}

/** The status message of a run that waits for approval. */
export function approvalMessage({ reason }: RequiredApproval): StatusMessage {
  return { message: `Waits for approval. ${reason}` };
}
