/** Above this number of pairs of lines, all old lines are shown as removed and all new lines as added. */
const PAIRS_MAX = 1_000_000;

/**
 * Returns the lines of a change with their signs: "+" added, "-" removed, " " unchanged (longest common subsequence).
 * @param {string | null} oldText null: the file is new.
 * @param {string} newText
 * @returns {{sign: "+" | "-" | " ", text: string}[]}
 */
export function lineDiff(oldText, newText) {
  const before = linesOf(oldText);
  const after = linesOf(newText);
  const head = commonLength(before, after, (lines, index) => lines[index]);
  const rest = [before.slice(head), after.slice(head)];
  const tail = commonLength(rest[0], rest[1], (lines, index) => lines.at(-1 - index));
  const middle = changed(withoutTail(rest[0], tail), withoutTail(rest[1], tail));
  return [
    ...signed(" ", before.slice(0, head)),
    ...middle,
    ...signed(" ", before.slice(before.length - tail)),
  ];
}

function linesOf(text) {
  if (text === null || text === "") {
    return [];
  }
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function commonLength(left, right, at) {
  const most = Math.min(left.length, right.length);
  let length = 0;
  while (length < most && at(left, length) === at(right, length)) {
    length += 1;
  }
  return length;
}

function withoutTail(lines, length) {
  return lines.slice(0, lines.length - length);
}

function signed(sign, lines) {
  return lines.map((text) => ({ sign, text }));
}

function changed(before, after) {
  if (before.length * after.length > PAIRS_MAX) {
    return [...signed("-", before), ...signed("+", after)];
  }
  const lengths = commonLengths(before, after);
  const lines = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const isKept = row < before.length && column < after.length && before[row] === after[column];
    const isRemoved =
      !isKept &&
      (column >= after.length ||
        (row < before.length && lengths[row + 1][column] >= lengths[row][column + 1]));
    lines.push({
      sign: isKept ? " " : isRemoved ? "-" : "+",
      text: isKept || isRemoved ? before[row] : after[column],
    });
    if (isKept || isRemoved) {
      row += 1;
    }
    if (isKept || !isRemoved) {
      column += 1;
    }
  }
  return lines;
}

/** lengths[row][column]: the length of the common subsequence of the remaining lines. */
function commonLengths(before, after) {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const same = before[row] === after[column];
      lengths[row][column] = same
        ? lengths[row + 1][column + 1] + 1
        : Math.max(lengths[row + 1][column], lengths[row][column + 1]);
    }
  }
  return lengths;
}
