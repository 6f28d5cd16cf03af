/** The pictures that are stored, with the ending of their file names. Others, such as SVG, can contain programs. */
export const PICTURE_TYPES = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
} as const;
export type PictureType = keyof typeof PICTURE_TYPES;

/** The first bytes of each type. `null` stands for any byte. */
const SIGNATURES: readonly (readonly [PictureType, readonly (number | null)[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38, 0x37, 0x61]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
];

/** The type that the bytes have, whatever their sender says. Undefined: they are no picture that is stored. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | undefined {
  const isMatch = (signature: readonly (number | null)[]) =>
    signature.every((byte, index) => byte === null || byte === bytes[index]);
  return SIGNATURES.find(([, signature]) => isMatch(signature))?.[0];
}

/** A picture that a tool of an agent returned. */
export interface AgentPicture {
  readonly mimeType: PictureType;
  readonly bytes: Uint8Array;
  /** The title of the tool call. A model may have written it. */
  readonly description?: string;
}

export const PICTURE_BYTES_MAX = 5 * 2 ** 20;
