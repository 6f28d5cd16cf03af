/** The sizes of a binary file in bytes. 0: the file does not exist on that side. */
export interface BinarySizes {
  readonly before: number;
  readonly after: number;
}

/** The base 85 of git, in the order of its values. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/**
 * Reads the sizes of both sides from the lines that follow `GIT binary patch`. The first part leads to the new content, the
 * second one back to the old content. A literal part names its size. A delta begins with both sizes. Undefined if
 * the patch was cut or holds no content.
 */
export async function binarySizes(lines: readonly string[]): Promise<BinarySizes | undefined> {
  const [forward, back] = partsOf(lines);
  if (forward?.method === "literal" && back?.method === "literal") {
    return { before: back.size, after: forward.size };
  }
  const delta = forward?.method === "delta" ? forward : back;
  if (delta?.method !== "delta") {
    return undefined;
  }
  const sizes = await deltaSizes(delta.data);
  return sizes && (delta === forward ? sizes : { before: sizes.after, after: sizes.before });
}

interface Part {
  readonly method: string;
  readonly size: number;
  readonly data: readonly string[];
}

function partsOf(lines: readonly string[]): readonly Part[] {
  const parts: (Part & { readonly data: string[] })[] = [];
  for (const line of lines) {
    const [, method, size] = /^(literal|delta) ([0-9]+)$/.exec(line) ?? [];
    if (method !== undefined) {
      parts.push({ method, size: Number(size), data: [] });
    } else if (line !== "") {
      parts.at(-1)?.data.push(line);
    }
  }
  return parts;
}

async function deltaSizes(data: readonly string[]): Promise<BinarySizes | undefined> {
  const packed = new Blob(data.map(bytesOf));
  const reader = packed.stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  try {
    const { value = new Uint8Array() } = await reader.read();
    const [before, next] = numberAt(value, 0);
    const [after] = numberAt(value, next);
    return { before, after };
  } catch {
    return undefined;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** A line begins with the number of its bytes as a letter. Each five digits are four bytes. */
function bytesOf(line: string): Uint8Array<ArrayBuffer> {
  const letter = line.charCodeAt(0);
  const length = letter >= 97 ? letter - 97 + 27 : letter - 65 + 1;
  const groups = line.slice(1).match(/.{5}/g) ?? [];
  const bytes = groups.flatMap((group) => {
    const value = [...group].reduce((sum, digit) => sum * 85 + DIGITS.indexOf(digit), 0);
    return [value >>> 24, value >>> 16, value >>> 8, value];
  });
  return Uint8Array.from(bytes).slice(0, length);
}

/** A number of a delta: seven bits a byte, the lowest first, and whether another byte follows. */
function numberAt(bytes: Uint8Array, start: number): readonly [number: number, next: number] {
  let number = 0;
  for (let index = start; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    number += (byte & 0x7f) * 2 ** (7 * (index - start));
    if (byte < 0x80) {
      return [number, index + 1];
    }
  }
  throw new Error("The delta ends in its sizes.");
}
