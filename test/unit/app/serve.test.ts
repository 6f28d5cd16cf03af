import { expect, test } from "vitest";
import { keepTick } from "../../../src/app/serve.ts";

test("the object that Node creates for a call of process.nextTick is kept", async () => {
  const kept = await keepTick();

  expect(kept).toEqual(expect.objectContaining({ callback: expect.any(Function), args: undefined }));
});
