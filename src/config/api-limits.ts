import type { z } from "zod";
import { KIBIBYTE, MEBIBYTE } from "../core/basics/byte-units.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { wholeNumber } from "./variable-types.ts";

/** Limits of the API. Each process counts for itself. */
export interface ApiLimitSettings {
  /** Requests per minute of one principal, or of one address without a valid key. 0: no limit. */
  readonly rateLimit: number;
  /** Event streams of one principal. 0: no limit. */
  readonly streamsPerPrincipal: number;
  readonly bodyBytes: number;
  readonly promptBytes: number;
  readonly titleLength: number;
  readonly basePromptBytes: number;
  readonly configBytes: number;
  readonly attachmentBytes: number;
  readonly attachmentsBytes: number;
}

/** Titles are indexed, and a row in a PostgreSQL index has at most 2,704 bytes. */
const TITLE_LENGTH_MAX = 600;

const kibibytes = wholeNumber(1, 16_384);

export const apiLimitVariables = {
  ERRAND_RATE_LIMIT: wholeNumber(0, 1_000_000).default(600),
  ERRAND_MAX_STREAMS: wholeNumber(0, 100_000).default(20),
  ERRAND_MAX_BODY_MIB: wholeNumber(1, 512).default(30),
  ERRAND_MAX_PROMPT_KIB: kibibytes.default(256),
  ERRAND_MAX_TITLE_LENGTH: wholeNumber(1, TITLE_LENGTH_MAX).default(300),
  ERRAND_MAX_BASE_PROMPT_KIB: kibibytes.default(64),
  ERRAND_MAX_CONFIG_KIB: kibibytes.default(256),
  ERRAND_MAX_ATTACHMENT_MIB: wholeNumber(1, 256).default(10),
  ERRAND_MAX_ATTACHMENTS_MIB: wholeNumber(1, 256).default(20),
};

export const apiLimitVariableDocs = {
  ERRAND_RATE_LIMIT: {
    group: "Limits",
    default: "600",
    description:
      "Requests per minute of one principal, or of one address without a valid key. `0` means no limit.",
  },
  ERRAND_MAX_STREAMS: {
    group: "Limits",
    default: "20",
    description: "Open event streams of one principal. `0` means no limit.",
  },
  ERRAND_MAX_BODY_MIB: { group: "Limits", default: "30", description: "The largest request body, in MiB." },
  ERRAND_MAX_PROMPT_KIB: {
    group: "Limits",
    default: "256",
    description: "The longest prompt or follow-up, in KiB.",
  },
  ERRAND_MAX_TITLE_LENGTH: {
    group: "Limits",
    default: "300",
    description: "The longest title of a run, in characters. At most 600.",
  },
  ERRAND_MAX_BASE_PROMPT_KIB: {
    group: "Limits",
    default: "64",
    description: "The longest base prompt of a run, schedule or routing rule, in KiB.",
  },
  ERRAND_MAX_CONFIG_KIB: {
    group: "Limits",
    default: "256",
    description:
      "The largest configuration of a run, schedule or routing rule without its base prompt, in KiB.",
  },
  ERRAND_MAX_ATTACHMENT_MIB: {
    group: "Limits",
    default: "10",
    description: "The largest attachment or image after decoding, in MiB.",
  },
  ERRAND_MAX_ATTACHMENTS_MIB: {
    group: "Limits",
    default: "20",
    description: "All attachments and images of one request after decoding, in MiB.",
  },
} satisfies Record<keyof typeof apiLimitVariables, VariableDoc>;

export function apiLimitsOf(values: z.infer<z.ZodObject<typeof apiLimitVariables>>): ApiLimitSettings {
  return {
    rateLimit: values.ERRAND_RATE_LIMIT,
    streamsPerPrincipal: values.ERRAND_MAX_STREAMS,
    bodyBytes: values.ERRAND_MAX_BODY_MIB * MEBIBYTE,
    promptBytes: values.ERRAND_MAX_PROMPT_KIB * KIBIBYTE,
    titleLength: values.ERRAND_MAX_TITLE_LENGTH,
    basePromptBytes: values.ERRAND_MAX_BASE_PROMPT_KIB * KIBIBYTE,
    configBytes: values.ERRAND_MAX_CONFIG_KIB * KIBIBYTE,
    attachmentBytes: values.ERRAND_MAX_ATTACHMENT_MIB * MEBIBYTE,
    attachmentsBytes: values.ERRAND_MAX_ATTACHMENTS_MIB * MEBIBYTE,
  };
}
