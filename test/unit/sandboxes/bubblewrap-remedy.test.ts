import { expect, test } from "vitest";
import { bubblewrapRemedy, type HostFacts } from "../../../src/sandboxes/bubblewrap/bubblewrap-remedy.ts";

const OPEN: HostFacts = {
  isContainer: false,
  restrictedByAppArmor: false,
  forbiddenByKernel: false,
  maxUserNamespaces: 15_000,
};
const REFUSED = "bwrap: setting up uid map: Permission denied";

test.each<[string, string, Partial<HostFacts>, RegExp]>([
  ["without bubblewrap", "spawn bwrap ENOENT", {}, /apt-get install bubblewrap/],
  ["with an old bubblewrap", "bwrap: Unknown option --disable-userns", {}, /0\.8 or newer/],
  ["without prlimit", "The sandbox's limits could not be set: spawn prlimit ENOENT", {}, /util-linux/],
  ["on Ubuntu 24.04", REFUSED, { restrictedByAppArmor: true }, /\/etc\/apparmor\.d\/bwrap.*reload apparmor/],
  ["in a container", REFUSED, { isContainer: true }, /worker-seccomp\.json.*systempaths=unconfined/],
  [
    "in a container on Ubuntu",
    REFUSED,
    { isContainer: true, restrictedByAppArmor: true },
    /On the host: AppArmor/,
  ],
  ["on a hardened Debian", REFUSED, { forbiddenByKernel: true }, /kernel\.unprivileged_userns_clone=1/],
  ["where no namespace is allowed", REFUSED, { maxUserNamespaces: 0 }, /user\.max_user_namespaces/],
  ["for an unknown reason", REFUSED, {}, /unprivileged user namespaces/],
])("the remedy %s names what to do", (_where, errorText, facts, remedy) => {
  expect(bubblewrapRemedy(errorText, { ...OPEN, ...facts })).toMatch(remedy);
});
