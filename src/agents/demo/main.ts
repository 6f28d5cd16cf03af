import { flushCompileCache } from "node:module";
import { homedir } from "node:os";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { createDemoAgent } from "./demo-agent.ts";

// It is for this program. What is started from here may be anything.
delete process.env.NODE_COMPILE_CACHE;
// What was compiled is stored now: an agent is killed, and does not come to its end.
flushCompileCache();
const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = createDemoAgent(homedir()).connect(ndJsonStream(output, input));
await connection.closed;
// A turn may still be running, and nobody is left to tell.
process.exit(0);
