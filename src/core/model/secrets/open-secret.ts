import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import { type Secret, sealOwner } from "./secret.ts";

/** The value of a secret. Fails with `environment_setup_failed` when it was sealed with an unknown key. */
export function openSecret(box: Pick<SecretBox, "open">, secret: Secret): string {
  try {
    return box.open(secret.sealed, sealOwner(secret));
  } catch (cause) {
    throw new AppError("environment_setup_failed", `The secret ${secret.name} cannot be opened.`, {
      cause,
      remedy: "Set it anew: it was sealed with another secret key, or its row was changed.",
    });
  }
}
