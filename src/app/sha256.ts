import { createHash } from "node:crypto";
import type { Digest } from "../core/basics/digest.ts";

export const sha256: Digest = (content) => createHash("sha256").update(content).digest("hex");
