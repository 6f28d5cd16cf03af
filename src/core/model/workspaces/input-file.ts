export const INPUT_KINDS = ["attachment", "image"] as const;

export type InputKind = (typeof INPUT_KINDS)[number];

/** A file in the request of a run. */
export interface InputFile {
  readonly kind: InputKind;
  /** The name that the caller gave; untrusted. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly blobId: string;
}

/** A file of a follow-up. It has a place of its own in the workspace. */
export interface FollowUpFile extends InputFile {
  /** Relative to the workspace's directory. */
  readonly path: string;
  readonly sha256: string;
}

export interface RequestFile extends Pick<InputFile, "kind" | "fileName" | "mimeType"> {
  readonly bytes: Uint8Array;
}
