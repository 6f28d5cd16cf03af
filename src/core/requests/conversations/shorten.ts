const TEXT_LENGTH_MAX = 16_000;

/** Shortens the input or output of a tool. The raw log has all of it. */
export function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    return shortText(value);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(shortened);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

function shortText(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) {
    return text;
  }
  const left = text.length - TEXT_LENGTH_MAX;
  return `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}… [${left} characters more in the transcript]`;
}
