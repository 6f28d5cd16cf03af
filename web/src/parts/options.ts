/** What can be chosen, and how people read it. */
export interface Option {
  readonly value: string;
  readonly name: string;
}

/** The options, and after them the values that are none of them. */
export function withValues(options: readonly Option[], values: readonly string[]): readonly Option[] {
  const others = values.filter((value) => !options.some((option) => option.value === value));
  return [...options, ...others.map((value) => ({ value, name: value }))];
}
