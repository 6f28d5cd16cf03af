import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import { parseS3Address, type S3Address } from "../object-storage/s3-address.ts";
import type { VariableDoc } from "./variable-doc.ts";

const s3Address = z.string().transform((text, context) => {
  try {
    return parseS3Address(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});

export const blobVariables = {
  ERRAND_BLOB_URL: s3Address.optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
};

export const blobVariableDocs = {
  ERRAND_BLOB_URL: {
    group: "Database",
    default: "(the database)",
    description:
      "Where new files of runs are stored: `s3://bucket/prefix?region=eu-central-1`, with `&endpoint=https://s3.example.com` if it is not Amazon S3. All processes need the same.",
  },
  AWS_ACCESS_KEY_ID: {
    group: "Database",
    default: "(none)",
    description:
      "The key for `ERRAND_BLOB_URL`. Without it, the files and roles are used that programs for Amazon S3 find.",
  },
  AWS_SECRET_ACCESS_KEY: {
    group: "Database",
    default: "(none)",
    description: "The secret of `AWS_ACCESS_KEY_ID`.",
    secret: true,
  },
  AWS_SESSION_TOKEN: {
    group: "Database",
    default: "(none)",
    description: "The session of `AWS_ACCESS_KEY_ID`, if it is a temporary key.",
    secret: true,
  },
} satisfies Record<keyof typeof blobVariables, VariableDoc>;

/** The object store of new blobs. */
export interface BlobConfig {
  readonly address: S3Address;
  /** Undefined: the files and roles that programs for Amazon S3 find. */
  readonly credentials: S3Credentials | undefined;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export function blobConfigOf(values: z.infer<z.ZodObject<typeof blobVariables>>): BlobConfig | undefined {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    ERRAND_BLOB_URL: address,
  } = values;
  const isComplete = accessKeyId !== undefined && secretAccessKey !== undefined;
  const credentials = isComplete ? defined({ accessKeyId, secretAccessKey, sessionToken }) : undefined;
  return address && { address, credentials };
}
