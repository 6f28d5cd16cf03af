import { Transform, type TransformCallback } from "node:stream";
import { hostWords } from "../../core/model/repositories/host-words.ts";
import { FLUSH, PktLines, pktLine } from "./pkt-lines.ts";
import type { PushRequest } from "./push-commands.ts";

type Capabilities = PushRequest["capabilities"];

const SIDE_BAND = "side-band-64k";
const DATA_BAND = 1;
/** What the host says to the person at the terminal. */
const WORDS_BAND = 2;
const WORDS_BYTES_MAX = 8_192;

/** Calls for what the report says. */
export interface PushOutcome {
  readonly accepted: (ref: string) => void;
  /** With the host's words. Also called if it accepted other branches of the same push. */
  readonly refused: (words: string) => void;
}

/** Reads the result of a push from a git server's response while it passes. */
export class PushReport extends Transform {
  readonly #outcome: PushOutcome;
  readonly #isBanded: boolean;
  readonly #outer = new PktLines();
  readonly #inner = new PktLines();
  #isLost = false;
  #words = "";
  #unpackProblem: string | undefined;
  #refusal: string | undefined;

  constructor(capabilities: Capabilities, outcome: PushOutcome) {
    super();
    this.#outcome = outcome;
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

  override _flush(done: TransformCallback): void {
    const reason = this.#unpackProblem ?? this.#refusal;
    if (reason !== undefined) {
      this.#outcome.refused(hostWords(this.#words, reason));
    }
    done();
  }

  #read(chunk: Buffer): void {
    for (const bytes of this.#isBanded ? this.#dataIn(chunk) : [chunk]) {
      this.#readReport(bytes);
    }
  }

  #dataIn(chunk: Buffer): readonly Buffer[] {
    const lines = [...this.#outer.push(chunk)].filter((line) => line !== "flush");
    for (const line of lines) {
      if (line[0] === WORDS_BAND && this.#words.length < WORDS_BYTES_MAX) {
        this.#words += line.toString("utf8", 1);
      }
    }
    return lines.filter((line) => line[0] === DATA_BAND).map((line) => line.subarray(1));
  }

  /** If nothing could be unpacked, no branch was updated. */
  #readReport(bytes: Buffer): void {
    for (const line of this.#inner.push(bytes)) {
      const text = line.toString("utf8").trimEnd();
      const [, accepted] = /^ok (.+)$/.exec(text) ?? [];
      if (accepted !== undefined) {
        this.#outcome.accepted(accepted);
      }
      const [, problem] = /^unpack (?!ok$)(.+)$/.exec(text) ?? [];
      this.#unpackProblem ??= problem;
      const [, refusal] = /^ng \S+ (.+)$/.exec(text) ?? [];
      this.#refusal ??= refusal;
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
