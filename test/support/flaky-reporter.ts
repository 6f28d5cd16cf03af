import type { Reporter, TestCase } from "vitest/node";

/** Lists the tests that passed only when they were tried again, with their first error. Each of them is a fault to mend. */
export class FlakyReporter implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) {
      const error = test.result().errors?.[0]?.message ?? "";
      this.#flaky.push(`${test.module.relativeModuleId} > ${test.fullName}\n  ${error}`);
    }
  }

  onTestRunEnd(): void {
    if (this.#flaky.length > 0) {
      process.stderr.write(`Flaky tests, which passed at the second try:\n${this.#flaky.join("\n")}\n`);
    }
  }
}
