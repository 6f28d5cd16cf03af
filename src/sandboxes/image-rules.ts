import { GIBIBYTE } from "../core/basics/byte-units.ts";
import { DEFAULT_REGISTRY } from "../core/model/workspaces/image-name.ts";

/** The operator's rules for images that the daemon does not have. */
export interface ImageRules {
  /** Texts of `parseRegistry`. Images of other registries are not pulled. */
  readonly registries: readonly string[];
  /** The time after which a pull is given up. */
  readonly pullMs: number;
  /** The most disk space of an image. */
  readonly maxBytes: number;
  /** A pulled image is removed when it was not used for this long. */
  readonly unusedMs: number;
}

const MINUTE_MS = 60_000;

export const DEFAULT_IMAGE_RULES: ImageRules = {
  registries: [DEFAULT_REGISTRY],
  pullMs: 10 * MINUTE_MS,
  maxBytes: 20 * GIBIBYTE,
  unusedMs: 14 * 24 * 60 * MINUTE_MS,
};
