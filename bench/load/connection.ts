import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";
const STATUS_START = "HTTP/1.1 ".length;
const STATUS_LENGTH = 3;
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

type OnAnswer = (connection: Connection, status: number, sinceMs: number) => void;

/**
 * One keep-alive connection with one request at a time. undici and autocannon need three times the processor time of
 * this class per request. On a machine shared with the server that is as much as the floors themselves take.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: OnAnswer;
  #received = "";
  #length: number | undefined;
  #status = 0;
  #sinceMs = 0;

  constructor(url: URL, onAnswer: OnAnswer, onLost: (error: Error) => void) {
    this.#onAnswer = onAnswer;
    this.#socket = connect(Number(url.port), url.hostname).setNoDelay(true).setEncoding("latin1");
    this.#socket.on("data", (bytes) => this.#take(bytes.toString()));
    this.#socket.on("error", onLost);
    this.#socket.on("end", () => onLost(new Error("The server closed a connection.")));
  }

  /** `sinceMs`: the time from which the latency counts. */
  send(request: string, sinceMs: number): void {
    this.#sinceMs = sinceMs;
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: string): void {
    this.#received += bytes;
    this.#length ??= this.#readHead();
    if (this.#length === undefined || this.#received.length < this.#length) {
      return;
    }
    this.#received = "";
    this.#length = undefined;
    this.#onAnswer(this, this.#status, this.#sinceMs);
  }

  /** The length of the whole answer, as soon as its head has arrived. */
  #readHead(): number | undefined {
    const end = this.#received.indexOf(HEAD_END);
    if (end === -1) {
      return undefined;
    }
    const head = this.#received.slice(0, end);
    this.#status = Number(head.slice(STATUS_START, STATUS_START + STATUS_LENGTH));
    const bodyLength = CONTENT_LENGTH.exec(head)?.[1];
    if (bodyLength === undefined) {
      throw new Error(`An answer without a length:\n${head}`);
    }
    return end + HEAD_END.length + Number(bodyLength);
  }
}
