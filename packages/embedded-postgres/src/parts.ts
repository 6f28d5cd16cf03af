/** Parts of the package for tests and benchmarks that run a server with other settings. */
export { type PostgresBinaries, prepareBinaries } from "./binaries.ts";
export { makePrivateDirectory, SUPERUSER } from "./cluster.ts";
export { stopLeftoverPostmaster } from "./leftover-postmaster.ts";
export { startPostmaster } from "./postmaster.ts";
export { spawnProgram } from "./programs.ts";
export { chooseServerAccount, identityOf, type ServerAccount } from "./server-account.ts";
export { ServerOutput } from "./server-output.ts";
export { SOCKET_PORT } from "./socket-directory.ts";
