/** An exact version of a package, such as `1.2.3` or `1.2.3-beta.1`. */
export const VERSION = /^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** By the rules of semantic versions: negative if the first is older. */
export function compareVersions(first: string, second: string): number {
  const [a, b] = [partsOf(first), partsOf(second)];
  const byNumbers = compareLists(a.numbers, b.numbers);
  if (byNumbers !== 0 || a.labels.length === 0 || b.labels.length === 0) {
    // A version with labels is older than the one without.
    return byNumbers || Number(a.labels.length === 0) - Number(b.labels.length === 0);
  }
  return compareLists(a.labels, b.labels);
}

function partsOf(version: string) {
  const [core = ""] = version.split("+");
  const [numbers = "", ...labels] = core.split("-");
  const split = (text: string) => (text === "" ? [] : text.split("."));
  return { numbers: split(numbers), labels: split(labels.join("-")) };
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  const different = a.findIndex((part, index) => part !== b[index]);
  return different === -1 ? a.length - b.length : compareParts(a[different] ?? "", b[different]);
}

function compareParts(a: string, b: string | undefined): number {
  if (b === undefined) {
    return 1;
  }
  const [isNumber, isOtherNumber] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (isNumber && isOtherNumber) {
    return Number(a) - Number(b);
  }
  return isNumber === isOtherNumber ? (a < b ? -1 : 1) : Number(isOtherNumber) - Number(isNumber);
}
