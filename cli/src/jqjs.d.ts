/** The package has no types of its own. */
declare module "@michaelhomer/jqjs" {
  /** Compiles a jq expression to a function that yields its results. */
  export function compile(expression: string): (input: unknown) => Iterable<unknown>;
}
