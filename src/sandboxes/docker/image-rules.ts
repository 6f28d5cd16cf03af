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
