/**
 * A start that failed for a reason the operator can change. The message is one line written for that person;
 * `serve.ts` prints it without a stack.
 */
export class StartError extends Error {
  override readonly name = "StartError";
}
