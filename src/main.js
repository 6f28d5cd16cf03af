import { enableCompileCache } from "node:module";
import { join } from "node:path";

/**
 * Compiling the sources is half of a start, so what was compiled is kept, beside the packages and not in a directory that
 * other users of the machine can write to. Where it cannot be kept, all is compiled each time.
 *
 * It is no TypeScript because it comes before what is kept: for it alone Node would load the program that takes types
 * away, which is as large as all else that an idle server needs.
 */
enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/errand"));
const { serve } = await import("./app/serve.ts");
await serve(process.env);
