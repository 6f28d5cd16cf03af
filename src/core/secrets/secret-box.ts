/** Keeps secrets unreadable at rest. */
export interface SecretBox {
  /** The sealed form of `text`, which opens for this `owner` alone. The same text looks different each time. */
  seal(text: string, owner: string): string;
  /** Throws when `sealed` was changed, belongs to another owner or was sealed with a key that is not known. */
  open(sealed: string, owner: string): string;
}
