import { flushCompileCache } from "node:module";
import { homedir } from "node:os";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { createDemoAgent } from "./demo-agent.ts";

// The variable is meant for this program only, not for programs that it starts.
delete process.env.NODE_COMPILE_CACHE;
// Stores the compiled code now, because an agent is killed and never reaches its end.
flushCompileCache();
const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = createDemoAgent(homedir()).connect(ndJsonStream(output, input));
await connection.closed;
// A turn may still be running, but its client has gone.
process.exit(0);
