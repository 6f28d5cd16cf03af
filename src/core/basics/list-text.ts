/** The first ones of `count` things in one line, and how many more there are. */
export function listText(first: readonly string[], count: number): string {
  return [...first, ...(count > first.length ? [`${count - first.length} more`] : [])].join(", ");
}
