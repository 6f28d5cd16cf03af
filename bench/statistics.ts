/** The value up to which at least this share of the sorted values lies. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [lower = Number.NaN, upper = Number.NaN] = [
    sorted[Math.ceil(middle) - 1],
    sorted[Math.floor(middle)],
  ];
  const median = (lower + upper) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** The ratios of values that were measured in the same round. */
export function ratioOf(ours: readonly number[], floor: readonly number[]): Spread {
  return spreadOf(ours.map((value, index) => value / (floor[index] ?? Number.NaN)));
}

/** By how much `y` grows with each unit of `x`, by the method of least squares. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = meanOf(points.map(({ x }) => x));
  const meanY = meanOf(points.map(({ y }) => y));
  let above = 0;
  let below = 0;
  for (const { x, y } of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return above / below;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
