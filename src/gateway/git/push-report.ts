import { Transform, type TransformCallback } from "node:stream";
import { FLUSH, PktLines, pktLine } from "./pkt-lines.ts";
import type { PushRequest } from "./push-commands.ts";

type Capabilities = PushRequest["capabilities"];

const SIDE_BAND = "side-band-64k";
const DATA_BAND = 1;

/** Reads the result of a push from a git server's response while it passes. */
export class PushReport extends Transform {
  readonly #accepted: (ref: string) => void;
  readonly #isBanded: boolean;
  readonly #outer = new PktLines();
  readonly #inner = new PktLines();
  #isLost = false;

  constructor(capabilities: Capabilities, accepted: (ref: string) => void) {
    super();
    this.#accepted = accepted;
    this.#isBanded = capabilities.has(SIDE_BAND) || capabilities.has("side-band");
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      if (!this.#isLost) {
        this.#read(chunk);
      }
    } catch {
      // The client reports it as well; forwarding is not affected.
      this.#isLost = true;
    }
    done(null, chunk);
  }

  #read(chunk: Buffer): void {
    for (const bytes of this.#isBanded ? this.#dataIn(chunk) : [chunk]) {
      this.#readReport(bytes);
    }
  }

  #dataIn(chunk: Buffer): readonly Buffer[] {
    const lines = [...this.#outer.push(chunk)].filter((line) => line !== "flush");
    return lines.filter((line) => line[0] === DATA_BAND).map((line) => line.subarray(1));
  }

  /** If nothing could be unpacked, no branch was updated. */
  #readReport(bytes: Buffer): void {
    for (const line of this.#inner.push(bytes)) {
      const { ref } = /^ok (?<ref>[^\n]+)\n?$/.exec(line.toString("utf8"))?.groups ?? {};
      if (ref !== undefined) {
        this.#accepted(ref);
      }
    }
  }
}

/** Our own report in the format that the client asked for. Git shows its reason beside each branch. */
export function refusingReport({ capabilities, commands }: PushRequest, reason: string): Buffer {
  const lines = commands.map(({ ref }) => pktLine(`ng ${ref} ${reason}\n`));
  const report = Buffer.concat([pktLine("unpack ok\n"), ...lines, FLUSH]);
  if (!capabilities.has(SIDE_BAND)) {
    return report;
  }
  const banded: Buffer[] = [];
  for (let at = 0; at < report.length; at += BAND_BYTES) {
    banded.push(pktLine(Buffer.concat([Buffer.from([DATA_BAND]), report.subarray(at, at + BAND_BYTES)])));
  }
  return Buffer.concat([...banded, FLUSH]);
}

const BAND_BYTES = 60_000;
