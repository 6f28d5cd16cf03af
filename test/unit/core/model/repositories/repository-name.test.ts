import { expect, test } from "vitest";
import { parseRepositoryName } from "../../../../../src/core/model/repositories/repository-name.ts";

test.each(["tools", "acme/tools/x", "acme/", "acme/..", "a b/c", "https://host/acme/tools"])(
  "the text %s is no repository name",
  (text) => {
    expect(parseRepositoryName(text)).toBeUndefined();
  },
);
