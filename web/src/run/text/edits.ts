/** What happens to a line, or a word, on the way from one text to the other. */
export interface Edit {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** Beyond this number of differences everything is removed and added: the exact answer is too expensive. */
const DIFFERENCES_MAX = 1_000;

/** The edits from one list to the other, as few as possible (the algorithm of Myers). */
export function editsOf(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
  }
  const kept = (texts: readonly string[]) => texts.map((text): Edit => ({ sign: " ", text }));
  return [
    ...kept(before.slice(0, head)),
    ...changed(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...kept(before.slice(before.length - tail)),
  ];
}

function changed(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const steps = search(before, after);
  if (steps === undefined) {
    return [
      ...before.map((text): Edit => ({ sign: "-", text })),
      ...after.map((text): Edit => ({ sign: "+", text })),
    ];
  }
  const edits: Edit[] = [];
  let [row, column] = [before.length, after.length];
  for (let depth = steps.length - 1; depth >= 0; depth -= 1) {
    const reached = steps[depth] ?? new Map<number, number>();
    const diagonal = row - column;
    const isDown =
      diagonal === -depth ||
      (diagonal !== depth && (reached.get(diagonal - 1) ?? -1) < (reached.get(diagonal + 1) ?? -1));
    const previous = isDown ? diagonal + 1 : diagonal - 1;
    const fromRow = depth === 0 ? 0 : (reached.get(previous) ?? 0);
    const fromColumn = fromRow - previous;
    while (row > Math.max(0, fromRow) && column > Math.max(0, fromColumn) && (depth > 0 || row > 0)) {
      row -= 1;
      column -= 1;
      edits.push({ sign: " ", text: before[row] ?? "" });
    }
    if (depth > 0 && isDown) {
      column -= 1;
      edits.push({ sign: "+", text: after[column] ?? "" });
    } else if (depth > 0) {
      row -= 1;
      edits.push({ sign: "-", text: before[row] ?? "" });
    }
  }
  return edits.reverse();
}

/** For each number of differences, how far each diagonal was reached before it; undefined: there are too many. */
function search(
  before: readonly string[],
  after: readonly string[],
): readonly ReadonlyMap<number, number>[] | undefined {
  const most = Math.min(before.length + after.length, DIFFERENCES_MAX);
  const reached = new Map<number, number>([[1, 0]]);
  const steps: Map<number, number>[] = [];
  for (let depth = 0; depth <= most; depth += 1) {
    steps.push(new Map(reached));
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      const isDown =
        diagonal === -depth ||
        (diagonal !== depth && (reached.get(diagonal - 1) ?? -1) < (reached.get(diagonal + 1) ?? -1));
      let row = isDown ? (reached.get(diagonal + 1) ?? 0) : (reached.get(diagonal - 1) ?? 0) + 1;
      while (row < before.length && row - diagonal < after.length && before[row] === after[row - diagonal]) {
        row += 1;
      }
      reached.set(diagonal, row);
      if (row >= before.length && row - diagonal >= after.length) {
        return steps;
      }
    }
  }
  return undefined;
}
